/// What a program prints of itself in place of its work.
enum ProgramText: Equatable, Sendable {
    case version
    /// The manual page, in roff.
    case manual
    case completions(CompletionShell)

    static let options: [CommandOption] = [.version, .manual, .completions]

    /// Reads the words behind the name of a program; nil if the first of them asks for something else.
    init?(_ words: ArraySlice<String>) throws(UsageProblem) {
        guard let word = words.first else { return nil }
        switch word {
        case CommandOption.version.name: self = .version
        case CommandOption.manual.name: self = .manual
        case CommandOption.completions.name:
            guard let shell = words.dropFirst().first else { throw .valueMissing(CommandOption.completions.usage) }
            self = .completions(try Self.shell(shell))
        default:
            let prefix = CommandOption.completions.name + "="
            guard word.hasPrefix(prefix) else { return nil }
            self = .completions(try Self.shell(String(word.dropFirst(prefix.count))))
        }
    }

    private static func shell(_ name: String) throws(UsageProblem) -> CompletionShell {
        guard let shell = CompletionShell(rawValue: name) else { throw .valueUnknown("--completions bash|zsh|fish") }
        return shell
    }

    func text(of root: Command, version: String) -> String {
        switch self {
        case .version: version + "\n"
        case .manual: CommandManual(root, version: version).text
        case .completions(let shell): CommandCompletions(root).script(for: shell)
        }
    }
}

/// The shells that can be told how command lines go on.
enum CompletionShell: String, CaseIterable, Sendable {
    case bash
    case zsh
    case fish
}

extension CommandOption {
    static let version = CommandOption("--version", .flag, help: "print the version")
    static let manual = CommandOption("--man", .flag, help: "print the manual page, for man -l")
    static let completions = CommandOption(
        "--completions", .value("SHELL"), help: "print what completes command lines in bash, zsh or fish")
}
