/// Why a command line means nothing; never holds the value of an option, which may be a secret.
package struct UsageError: Error, Equatable, Sendable {
    /// The program and the commands that were recognised, `latchkey keys import`.
    package let path: String
    package let problem: UsageProblem

    package init(path: String, _ problem: UsageProblem) {
        self.path = path
        self.problem = problem
    }
}

/// What is wrong with a command line.
package enum UsageProblem: Error, Equatable, Sendable {
    /// The program or a group of commands was named alone.
    case commandMissing
    case unknownCommand(String, nearest: String?)
    case unknownOption(String, nearest: String?)
    /// The option, with its placeholder, is the last word, or an option follows it.
    case valueMissing(String)
    /// A flag has `=` and a value.
    case valueUnexpected(String)
    /// A flag has another word behind `=` than the one that it knows; as help shows the flag.
    case valueUnknown(String)
    case givenTwice(String)
    case optionMissing(String)
    case operandMissing(String)
    /// There are more words than the command takes; counted from 1 without options.
    case unexpectedArgument(position: Int)
    /// Two options want to read standard input.
    case inputTakenTwice(String, String)
}

extension UsageProblem: CustomStringConvertible {
    package var description: String {
        switch self {
        case .commandMissing: "a command is missing"
        case .unknownCommand(let name, let nearest): "unknown command \(name)" + Self.proposal(nearest)
        case .unknownOption(let name, let nearest): "unknown option \(name)" + Self.proposal(nearest)
        case .valueMissing(let option):
            "the value of \(option) is missing (one that begins with two hyphens is written behind \"=\")"
        case .valueUnexpected(let option): "\(option) takes no value"
        case .valueUnknown(let option): "there is \(option), and no other value"
        case .givenTwice(let option): "\(option) is given twice"
        case .optionMissing(let option): "\(option) is missing"
        case .operandMissing(let placeholder): "\(placeholder) is missing"
        case .unexpectedArgument(let position):
            "argument \(position) is one too many; do all options have their two hyphens?"
        case .inputTakenTwice(let first, let second):
            "\(first) and \(second) cannot both read standard input; use @FILE for one of them"
        }
    }

    private static func proposal(_ nearest: String?) -> String {
        nearest.map { "; did you mean \($0)?" } ?? ""
    }
}
