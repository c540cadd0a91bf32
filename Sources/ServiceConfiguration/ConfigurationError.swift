package import ByteCoding

/// Why a configuration is not used: nothing of it is, and every problem that was found is listed.
package enum ConfigurationError: Error, Equatable, Sendable {
    /// The file cannot be read.
    case unreadable(path: String, FileError)
    /// The file is not JSON5; the error names line and column.
    case malformed(path: String, JSONError)
    /// The file can be read, and these are all the problems in it, or in what it names; at least one, in the order of
    /// the file.
    case invalid(path: String, [ConfigurationProblem])

    /// All problems; empty if the file itself is one.
    package var problems: [ConfigurationProblem] {
        switch self {
        case .unreadable, .malformed: []
        case .invalid(_, let problems): problems
        }
    }
}

extension ConfigurationError: CustomStringConvertible {
    /// One line for each problem, with file, line and column; no part of a value or a secret.
    package var description: String {
        switch self {
        case .unreadable(let path, let error): "\(path): \(error)"
        case .malformed(let path, let error): "\(path): \(error)"
        case .invalid(let path, let problems): problems.map { $0.line(inFile: path) }.joined(separator: "\n")
        }
    }
}

/// One thing that is wrong, and where.
package struct ConfigurationProblem: Equatable, Sendable {
    /// The way to the value, `fairplay.credentials[0].name`; for a value from the environment, the variable's name.
    package let path: String
    /// The place of the value, or of the object that lacks it; nil for a value that the file does not have.
    package let position: TextPosition?
    package let fault: ConfigurationFault

    /// `latchkey.json5, line 3, column 5: node: …`
    func line(inFile file: String) -> String {
        let place = position.map { "\(file), \($0)" } ?? file
        return "\(place): \(path): \(fault)"
    }
}

extension [ConfigurationProblem] {
    /// The problems as the file has them; behind them those that have no place in it, as they were found.
    var inOrderOfFile: [ConfigurationProblem] {
        enumerated().sorted { left, right in
            (left.element.position?.byteOffset ?? .max, left.offset)
                < (right.element.position?.byteOffset ?? .max, right.offset)
        }.map(\.element)
    }
}
