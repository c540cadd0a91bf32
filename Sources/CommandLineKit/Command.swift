import Glibc

/// A command of a program: an action, or a group of further commands.
///
/// Commands are values, so that the parser, the help texts and the tests use the same tree.
package struct Command: Sendable {
    package typealias Action = @Sendable (Arguments, CommandContext) async throws(CommandError) -> Void

    package enum Content: Sendable {
        case group([Command])
        case action(operands: [CommandOperand], options: [CommandOption], run: Action)
    }

    /// The word before the name of a command whose help is wanted.
    static let helpWord = "help"

    /// The word on the command line.
    package let name: String
    /// One line, for lists.
    package let summary: String
    /// Whole sentences for the command's own help; empty if the summary is enough.
    package let details: String
    /// Command lines that can be copied, with the program's name; at least one.
    package let examples: [String]
    package let content: Content

    package init(
        _ name: String, summary: String, details: String = "", examples: [String], operands: [CommandOperand] = [],
        options: [CommandOption] = [], run: @escaping Action
    ) {
        precondition(!examples.isEmpty, "every help text has an example")
        self.name = name
        self.summary = summary
        self.details = details
        self.examples = examples
        content = .action(operands: operands, options: options, run: run)
    }

    /// A group of commands.
    package init(_ name: String, summary: String, details: String = "", examples: [String], commands: [Command]) {
        precondition(!examples.isEmpty, "every help text has an example")
        self.name = name
        self.summary = summary
        self.details = details
        self.examples = examples
        content = .group(commands)
    }
}

/// A word of a command line that has no option name before it.
package struct CommandOperand: Equatable, Sendable {
    /// The operand's name for help and messages, in capitals.
    package let placeholder: String
    /// What the operand is, in one line.
    package let help: String
    /// Whether it may be left out. Only operands after all required ones may.
    package let isOptional: Bool
    /// Whether it may be given more than once. Only the last operand of a command may.
    package let repeats: Bool

    package init(_ placeholder: String, help: String, isOptional: Bool = false, repeats: Bool = false) {
        self.placeholder = placeholder
        self.help = help
        self.isOptional = isOptional
        self.repeats = repeats
    }

    /// The operand as help shows it.
    var usage: String {
        let words = repeats ? "\(placeholder) ..." : placeholder
        return isOptional ? "[\(words)]" : words
    }
}

/// An option of a command, `--name` or `--name VALUE`.
package struct CommandOption: Equatable, Sendable {
    package enum Form: Equatable, Sendable {
        case flag
        /// A flag that may be followed by `=` and this word, which extends its effect.
        case flagOrWord(String)
        /// An option with a value. The text is the placeholder of the value, in capitals.
        case value(String)
        /// The same, but the value may also be `@FILE`, or `-` for standard input.
        case secret(String)
    }

    /// The name, with its two hyphens.
    package let name: String
    package let form: Form
    /// What the option does, in one line.
    package let help: String
    package let isRequired: Bool
    /// Whether it may be given more than once.
    package let repeats: Bool
    /// The environment variable that gives the value if the command line does not.
    package let variable: String?

    /// The variable of `--config` in every command that needs the configuration.
    package static let configurationVariable = "LATCHKEY_CONFIG"

    /// A required `--config` has a variable. An optional one has it only if `takesVariable` says so, because some
    /// commands do another thing with a configuration.
    package init(
        _ name: String, _ form: Form, help: String, isRequired: Bool = false, repeats: Bool = false,
        takesVariable: Bool = false
    ) {
        precondition(name.hasPrefix("--"), "options have long names")
        variable = takesVariable || isRequired && name == "--config" ? Self.configurationVariable : nil
        self.name = name
        self.form = form
        self.help = help
        self.isRequired = isRequired
        self.repeats = repeats
    }

    /// The option as help and messages show it, such as `--name VALUE`.
    package var usage: String {
        switch form {
        case .flag: name
        case .flagOrWord(let word): "\(name)[=\(word)]"
        case .value(let placeholder): "\(name) \(placeholder)"
        case .secret(let placeholder): "\(name) \(placeholder)|@FILE|-"
        }
    }
}

extension CommandOption {
    /// The option that every command with a result has.
    package static let json = CommandOption("--json", .flag, help: "print one JSON object")
    /// The option of commands that only need to know which daemon it is about.
    package static let config = CommandOption(
        "--config", .value("FILE"), help: "the daemon's configuration", isRequired: true)
}

/// Why a command failed although its command line was parsed.
///
/// The texts are for a person at a terminal: they say what was wrong and what to do, and contain no secrets.
package enum CommandError: Error, Equatable, Sendable {
    /// The arguments do not fit together, or an option does not accept its value: exit status 2.
    case usage(String)
    /// The work failed: exit status 1.
    case failed(String)
    /// The daemon's configuration cannot be used, as each line of the text says: exit status 78. Another try changes
    /// nothing.
    case misconfigured(String)
    /// The command has told the failure itself, so that only its exit status is left.
    case told(ExitStatus)

    /// The message; empty if the command has told the failure itself.
    package var text: String {
        switch self {
        case .usage(let text), .failed(let text), .misconfigured(let text): text
        case .told: ""
        }
    }
}

/// The exit statuses of both programs.
package enum ExitStatus: Int32, Sendable {
    case success = 0
    case failure = 1
    case usage = 2
    /// `EX_CONFIG` of sysexits.h, which service managers can tell from a failure that may pass.
    case configuration = 78

    /// Ends this process without the exit handlers of libraries, which free what other threads may still use: that of
    /// OpenSSL has crashed a program whose threads were ending.
    package func endProcess() -> Never {
        fflush(nil)
        _exit(rawValue)
    }
}
