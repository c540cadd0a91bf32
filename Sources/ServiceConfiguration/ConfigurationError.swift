package import ByteCoding

/// Why a configuration is not used. A faulty configuration is refused as a whole, with a list of all problems.
package enum ConfigurationError: Error, Equatable, Sendable {
    /// The file cannot be read.
    case unreadable(path: String, FileError)
    /// The file is not JSON5; the error names line and column. `name` is that of a member that stands there twice.
    case malformed(path: String, JSONError, name: String? = nil)
    /// The file can be read, but it or the files that it names have these problems: at least one, in the order of the
    /// file.
    case invalid(path: String, [ConfigurationProblem])

    /// All problems; empty if the file cannot be read or parsed.
    package var problems: [ConfigurationProblem] {
        switch self {
        case .unreadable, .malformed: []
        case .invalid(_, let problems): problems
        }
    }
}

extension ConfigurationError: CustomStringConvertible {
    /// One line for each problem, with file, line and column. It has no part of a value or a secret.
    package var description: String {
        switch self {
        case .unreadable(let path, let error): "\(path): \(error)"
        case .malformed(let path, .tooLarge(let size, let maximum), _):
            "\(path): \(JSONError.tooLarge(size: size, maximum: maximum))"
        case .malformed(let path, let error, let name):
            "\(path), \(error)" + (name.map { ": \(VisibleText.shown($0))" } ?? "")
        case .invalid(let path, let problems): problems.map { $0.line(inFile: path) }.joined(separator: "\n")
        }
    }
}

/// A fault of a configuration, and its place.
package struct ConfigurationProblem: Equatable, Sendable {
    /// The path of the value, such as `fairplay.credentials[0].name`; for a value from the environment, the variable's
    /// name.
    package let path: String
    /// The position of the value, or of the object that lacks it; nil for a value that is not in the file.
    package let position: TextPosition?
    package let fault: ConfigurationFault
    /// What the file is or holds instead, in words; nil if it is not known. It has no part of the contents.
    package var found: String?

    /// `latchkey.json5, line 3, column 5: node: …`
    func line(inFile file: String) -> String {
        let place = position.map { "\(file), \($0)" } ?? file
        return "\(place): \(path): \(fault)" + (found.map { "; \($0)" } ?? "")
    }
}

extension [ConfigurationProblem] {
    /// The problems in the order of the file, followed by problems without a position, in the order in which they were
    /// found.
    var inOrderOfFile: [ConfigurationProblem] {
        enumerated().sorted { left, right in
            (left.element.position?.byteOffset ?? .max, left.offset)
                < (right.element.position?.byteOffset ?? .max, right.offset)
        }.map(\.element)
    }
}
