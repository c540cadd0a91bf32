/// What a program prints of itself in place of its work.
enum ProgramText: Equatable, Sendable {
    case version
    /// The manual page, in roff.
    case manual
    /// A script for bash.
    case completions

    static let options: [CommandOption] = [.version, .manual, .completions]

    /// Reads the words behind the name of a program; nil if the first of them asks for something else.
    init?(_ words: ArraySlice<String>) {
        guard let word = words.first else { return nil }
        switch word {
        case CommandOption.version.name: self = .version
        case CommandOption.manual.name: self = .manual
        case CommandOption.completions.name: self = .completions
        default: return nil
        }
    }

    func text(of root: Command, version: String) -> String {
        switch self {
        case .version: version + "\n"
        case .manual: CommandManual(root, version: version).text
        case .completions: CommandCompletions(root).script
        }
    }
}

extension CommandOption {
    static let version = CommandOption("--version", .flag, help: "print the version")
    static let manual = CommandOption("--man", .flag, help: "print the manual page, for man -l")
    static let completions = CommandOption("--completions", .flag, help: "print what completes command lines in bash")
}
