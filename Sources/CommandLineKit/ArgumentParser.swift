import ByteCoding

/// What to do for a command line.
package enum Invocation: Sendable {
    /// Print this text, for `--help` or `--version`.
    case text(String)
    /// Run a command; `path` is the program's name and the names of the commands that lead to this one.
    case run(path: String, Command.Action, Arguments)
}

/// Finds the command that a command line names and checks its arguments.
///
/// Options and operands may come in any order. The value of an option is the next word, or follows `=` in the same
/// word; a value that begins with two hyphens must follow `=`. Words after `--` are not options. With `--help` or `-h`,
/// the rest of the command line is ignored and not checked.
package struct ArgumentParser {
    private let root: Command
    private let version: String
    private let environment: [String: String]

    package init(
        _ root: Command, version: String = LatchkeyVersion.current, environment: [String: String] = [:]
    ) {
        self.root = root
        self.version = version
        self.environment = environment
    }

    /// `words` are the command line without the program's name.
    package func parse(_ words: [String]) throws(UsageError) -> Invocation {
        var path = [root]
        var rest = words[...]
        // `help keys create` is `keys create --help`.
        if rest.first == Command.helpWord, case .group = root.content { rest = rest.dropFirst() + ["--help"] }
        while case .group(let commands) = (path.last ?? root).content {
            let location = path.map(\.name).joined(separator: " ")
            guard let word = rest.popFirst() else { throw UsageError(path: location, .commandMissing) }
            if Self.asksForHelp(word) { return .text(CommandHelp(path).text) }
            if path.count == 1, let text = programText([word] + rest) { return .text(text) }
            guard let command = commands.first(where: { $0.name == word }) else {
                throw UsageError(path: location, Self.stranger(word, among: commands))
            }
            path.append(command)
        }
        return try parse(rest, of: path)
    }

    /// What the program prints of itself, if the words ask for that.
    private func programText(_ words: ArraySlice<String>) -> String? {
        ProgramText(words)?.text(of: root, version: version)
    }

    private func parse(_ words: ArraySlice<String>, of path: [Command]) throws(UsageError) -> Invocation {
        guard let command = path.last, case .action(let operands, let options, let run) = command.content else {
            preconditionFailure("the path ends with a command that is not a group")
        }
        let optionWords = words.prefix { $0 != "--" }
        if optionWords.contains(where: Self.asksForHelp) { return .text(CommandHelp(path).text) }
        // A program without commands has these among its options.
        if path.count == 1 {
            if optionWords.contains(CommandOption.version.name) { return .text(version + "\n") }
            if let text = programText(optionWords) { return .text(text) }
        }
        let location = path.map(\.name).joined(separator: " ")
        do throws(UsageProblem) {
            var reading = ArgumentReading(operands: operands, options: options)
            try reading.read(words)
            reading.read(environment)
            return .run(path: location, run, try reading.finish())
        } catch {
            throw UsageError(path: location, error)
        }
    }

    private static func asksForHelp(_ word: String) -> Bool {
        word == "--help" || word == "-h"
    }

    private static func stranger(_ word: String, among commands: [Command]) -> UsageProblem {
        if word.hasPrefix("-") { return .unknownOption(ArgumentReading.name(of: word), nearest: nil) }
        let names = commands.map(\.name) + [Command.helpWord]
        return .unknownCommand(word, nearest: NearestName.of(word, among: names))
    }
}

/// Reads the words after a command's name, once.
private struct ArgumentReading {
    let operands: [CommandOperand]
    let options: [CommandOption]
    private var arguments = Arguments()

    init(operands: [CommandOperand], options: [CommandOption]) {
        self.operands = operands
        self.options = options
    }

    mutating func read(_ words: ArraySlice<String>) throws(UsageProblem) {
        var rest = words
        while let word = rest.popFirst() {
            if word == "--" {
                for operand in rest { try append(operand: operand) }
                return
            }
            // A single hyphen is a value: it stands for standard input.
            if word.hasPrefix("-"), word != "-" {
                try read(option: word, &rest)
            } else {
                try append(operand: word)
            }
        }
    }

    /// Reads the options that the environment gives and the command line does not.
    mutating func read(_ environment: [String: String]) {
        for option in options where !arguments.isSet(option) {
            guard let value = option.variable.flatMap({ environment[$0] }), !value.isEmpty else { continue }
            arguments.append(value, to: option)
        }
    }

    func finish() throws(UsageProblem) -> Arguments {
        for option in options where option.isRequired && !arguments.isSet(option) {
            throw .optionMissing(option.usage, variable: option.variable)
        }
        if arguments.operands.count < operands.count(where: { !$0.isOptional }) {
            throw .operandMissing(operands[arguments.operands.count].placeholder)
        }
        let readers = options.filter { option in
            guard case .secret = option.form else { return false }
            return arguments.values(option).contains("-")
        }
        if readers.count > 1 { throw .inputTakenTwice(readers[0].name, readers[1].name) }
        return arguments
    }

    /// The part of a word before `=`, so that no message contains a value.
    static func name(of word: String) -> String {
        String(word.prefix { $0 != "=" })
    }

    private mutating func append(operand: String) throws(UsageProblem) {
        guard arguments.operands.count < operands.count || operands.last?.repeats == true else {
            let missing = options.first { $0.isRequired && !arguments.isSet($0) }
            throw .unexpectedArgument(position: arguments.operands.count + 1, missing: missing?.usage)
        }
        arguments.operands.append(operand)
    }

    private mutating func read(option word: String, _ rest: inout ArraySlice<String>) throws(UsageProblem) {
        let name = Self.name(of: word)
        guard let option = options.first(where: { $0.name == name }) else {
            let names = options.map(\.name) + ["--help"]
            throw .unknownOption(name, nearest: NearestName.of(name, among: names))
        }
        guard option.repeats || !arguments.isSet(option) else { throw .givenTwice(name) }
        let attached = word.count > name.count ? String(word.dropFirst(name.count + 1)) : nil
        switch option.form {
        case .flag:
            guard attached == nil else { throw .valueUnexpected(name) }
            arguments.append("", to: option)
        case .flagOrWord(let word):
            guard attached == nil || attached == word else { throw .valueUnknown(option.usage) }
            arguments.append(attached ?? "", to: option)
        case .value, .secret:
            let value = if let attached { attached } else { try Self.value(of: option, &rest) }
            arguments.append(value, to: option)
        }
    }

    private static func value(
        of option: CommandOption, _ rest: inout ArraySlice<String>
    ) throws(UsageProblem) -> String {
        guard let value = rest.popFirst(), !value.hasPrefix("--") else { throw .valueMissing(option.usage) }
        return value
    }
}

/// Why a command line was not understood. It never contains the value of an option, which may be a secret.
package struct UsageError: Error, Equatable, Sendable {
    /// The program and the commands that were recognised, such as `latchkey keys import`.
    package let path: String
    package let problem: UsageProblem

    package init(path: String, _ problem: UsageProblem) {
        self.path = path
        self.problem = problem
    }
}

/// What is wrong with a command line.
package enum UsageProblem: Error, Equatable, Sendable {
    /// The command line ends with the program or a group of commands.
    case commandMissing
    case unknownCommand(String, nearest: String?)
    case unknownOption(String, nearest: String?)
    /// The option, with its placeholder, is the last word, or an option follows it.
    case valueMissing(String)
    /// A flag has `=` and a value.
    case valueUnexpected(String)
    /// A flag is followed by `=` and a word other than the one that it allows. Holds the flag as the help shows it.
    case valueUnknown(String)
    case givenTwice(String)
    /// The command requires the option, which its variable may give in place of the command line.
    case optionMissing(String, variable: String? = nil)
    case operandMissing(String)
    /// The command takes fewer operands. `position` counts operands from 1, without options. `missing` is a required
    /// option that does not stand before it.
    case unexpectedArgument(position: Int, missing: String? = nil)
    /// Two options both ask for standard input.
    case inputTakenTwice(String, String)
}

extension UsageProblem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .commandMissing: "a command is missing"
        case .unknownCommand(let name, let nearest): "unknown command \(name)" + Self.proposal(nearest)
        case .unknownOption(let name, let nearest): "unknown option \(name)" + Self.proposal(nearest)
        case .valueMissing(let option):
            "the value of \(option) is missing (write a value that begins with two hyphens after \"=\")"
        case .valueUnexpected(let option): "\(option) takes no value"
        case .valueUnknown(let option): "the value is unknown; use \(option)"
        case .givenTwice(let option): "\(option) is given twice"
        case .optionMissing(let option, let variable):
            "\(option) is missing" + (variable.map { "; give it, or set the environment variable \($0)" } ?? "")
        case .operandMissing(let placeholder): "\(placeholder) is missing"
        case .unexpectedArgument(let position, let missing?):
            "argument \(position) is not expected; if it is meant for \(missing), write the option before it"
        case .unexpectedArgument(let position, nil):
            "argument \(position) is not expected; does every option begin with two hyphens?"
        case .inputTakenTwice(let first, let second):
            "\(first) and \(second) cannot both read standard input; use @FILE for one of them"
        }
    }

    private static func proposal(_ nearest: String?) -> String {
        nearest.map { "; did you mean \($0)?" } ?? ""
    }
}
