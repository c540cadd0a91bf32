/// Runs the command that a command line names, and returns the exit status.
package struct CommandRunner: Sendable {
    private let root: Command
    private let context: CommandContext

    package init(_ root: Command, context: CommandContext = CommandContext()) {
        self.root = root
        self.context = context
    }

    /// `words` are the command line without the program's name. Errors are reported on standard error.
    package func run(_ words: [String]) async -> ExitStatus {
        let invocation: Invocation
        do throws(UsageError) {
            invocation = try ArgumentParser(root, environment: context.environment).parse(words)
        } catch {
            explain(error.problem.description, misuseOf: error.path)
            return .usage
        }
        switch invocation {
        case .text(let text): return show(text)
        case .run(let path, let action, let arguments): return await run(path, action, arguments)
        }
    }

    private func run(_ path: String, _ action: Command.Action, _ arguments: Arguments) async -> ExitStatus {
        do throws(CommandError) {
            try await action(arguments, context)
            return .success
        } catch {
            switch error {
            case .usage(let message):
                explain(message, misuseOf: path)
                return .usage
            case .failed(let message):
                context.note("\(root.name): \(message)")
                return .failure
            case .misconfigured(let message):
                for line in message.split(separator: "\n") { context.note("\(root.name): \(line)") }
                return .configuration
            case .told(let status): return status
            }
        }
    }

    private func show(_ text: String) -> ExitStatus {
        do throws(CommandError) {
            try context.print(String(text.dropLast(text.hasSuffix("\n") ? 1 : 0)))
            return .success
        } catch {
            return .failure
        }
    }

    private func explain(_ message: String, misuseOf path: String) {
        context.note("\(path): \(message)\nRun \"\(path) --help\" for its arguments and for examples.")
    }
}
