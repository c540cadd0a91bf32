import ByteCoding
import KeyCrypto

/// A configuration file that has been read: its values, and the warnings about it.
package struct ConfigurationFile: Sendable {
    /// The size limit of the file, in bytes.
    package static let sizeMaximum = 1 << 20

    /// The path of the file, as it was given.
    package let path: String
    package let configuration: Configuration
    /// Warnings about values that work but are perhaps not meant.
    package let warnings: [ConfigurationWarning]

    /// Every field of this configuration, with its value in force.
    package let fields: [ConfigurationField]
    /// The positions of all values by their paths, for problems that are found later.
    let positions: [String: TextPosition]

    /// Reads and checks the file at `path`. Variables in `environment` override some values.
    ///
    /// Reads no other file. Throws every case of `ConfigurationError`; `invalid` has all problems.
    package init(path: String, environment: [String: String]) throws(ConfigurationError) {
        let bytes: [UInt8]
        bytes = try wrap(
            { (error: FileError) in ConfigurationError.unreadable(path: path, error) },
            try FileReading.read(path, sizeMaximum: Self.sizeMaximum, permissions: .any).revealed())
        try self.init(parsing: bytes, path: path, environment: environment)
    }

    /// Checks a text as if it were the file at `path`: relative paths in it are relative to that file's folder.
    ///
    /// Throws `malformed`, and `invalid` with all problems.
    package init(parsing bytes: [UInt8], path: String, environment: [String: String]) throws(ConfigurationError) {
        let root: JSONNode
        root = try wrap(
            { (error: JSONError) in
                ConfigurationError.malformed(path: path, error, name: Self.repeatedName(error, in: bytes))
            },
            try JSONReader.parse(bytes, dialect: .json5, limits: JSONLimits(sizeMaximum: Self.sizeMaximum)))
        let reading = ConfigurationReading(
            root, directory: FilePath.directory(of: FilePath.absolute(path)), environment: environment)
        let configuration = reading.read(Configuration.init(reading:))
        guard let configuration, reading.problems.isEmpty else {
            throw .invalid(path: path, reading.problems.inOrderOfFile)
        }
        self.path = path
        self.configuration = configuration
        warnings = ConfigurationWarning.warnings(about: environment, named: reading.fields.environmentVariables)
        fields = reading.fields
        positions = reading.positions
    }
}

extension ConfigurationFile {
    private static let shownNameSizeMaximum = 64

    /// The name that an object has twice, as it is written; nil for other errors.
    private static func repeatedName(_ error: JSONError, in bytes: [UInt8]) -> String? {
        guard case .duplicateMember(let position, _) = error, position.byteOffset < bytes.count else { return nil }
        let rest = bytes[position.byteOffset...].prefix(shownNameSizeMaximum)
        let quotes = [UInt8(ascii: "\""), UInt8(ascii: "'")]
        let name =
            if let quote = rest.first, quotes.contains(quote) {
                rest.dropFirst().prefix { $0 != quote }
            } else {
                rest.prefix { $0 > 0x20 && $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "/") }
            }
        return String(decoding: name, as: UTF8.self)
    }

    /// The configuration in force, in the syntax of the file: with the values of the file and of the environment, and
    /// with each default in a comment. Reading this text gives the same configuration.
    ///
    /// Files are named by their resolved paths. Their contents are never shown.
    package var printed: String { Self.text(of: fields) }

    static func text(of fields: [ConfigurationField]) -> String {
        let lines = ConfigurationPrinter.lines(of: fields[...], depth: 1)
        return """
            // The configuration in force. A comment shows a default, or a field that is not set.
            // "restart" marks what takes effect when latchkeyd starts again; SIGHUP puts everything else in force.
            {
            \(lines.joined(separator: "\n"))
            }
            """
    }
}

/// Writes fields as JSON5, one on each line.
private enum ConfigurationPrinter {
    /// The lines of fields that begin with the same `depth - 1` steps.
    static func lines(of fields: ArraySlice<ConfigurationField>, depth: Int) -> [String] {
        var order: [ConfigurationField.Step] = []
        var groups: [ConfigurationField.Step: [ConfigurationField]] = [:]
        for field in fields where field.place.count >= depth {
            let step = field.place[depth - 1]
            if groups[step] == nil { order.append(step) }
            groups[step, default: []].append(field)
        }
        return order.flatMap { step in
            lines(of: step, groups[step, default: []], depth: depth)
        }
    }

    /// The lines of one step: one line for a field with a value, and a block for a step with further fields.
    private static func lines(
        of step: ConfigurationField.Step, _ fields: [ConfigurationField], depth: Int
    ) -> [String] {
        let margin = String(repeating: "  ", count: depth)
        let name = name(of: step)
        let own = fields.last { $0.place.count == depth }
        let inner = fields.filter { $0.place.count > depth }
        guard inner.isEmpty else {
            let isList = inner.contains { $0.place[depth].isIndex }
            return [margin + name + (isList ? "[" : "{")] + lines(of: inner[...], depth: depth + 1)
                + [margin + (isList ? "]," : "},")]
        }
        guard let own else { return [] }
        let mark = own.effect == .restart ? "  // restart" : ""
        switch own.value {
        case .absent: return [margin + "// " + name + "not set; " + own.expected + (mark.isEmpty ? "" : ", restart")]
        case .section: return [margin + name + "{ }," + mark]
        case .sections: return [margin + name + "[]," + mark]
        case .text(let text):
            switch own.origin {
            case .standard: return [margin + "// " + name + text + "," + mark]
            case .file: return [margin + name + text + "," + mark]
            case .environment: return [margin + name + text + ",  // environment" + mark]
            }
        }
    }

    /// The name with a colon after it; empty for an element of a list. A name is quoted if JSON5 needs that.
    private static func name(of step: ConfigurationField.Step) -> String {
        switch step {
        case .index: ""
        case .name(let name):
            written(name) + ": "
        }
    }

    private static func written(_ name: String) -> String {
        let isPlain =
            name.first?.isLetter == true && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "_") }
        return isPlain ? name : JSONNode.quoted(name)
    }
}

extension ConfigurationField.Step {
    fileprivate var isIndex: Bool {
        switch self {
        case .index: true
        case .name: false
        }
    }
}
