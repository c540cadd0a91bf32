import ByteCoding
import KeyCrypto

/// A configuration file that has been read: its values, and what is worth a word to the operator.
package struct ConfigurationFile: Sendable {
    /// The most bytes that the file may have.
    package static let sizeMaximum = 1 << 20

    /// Where the file lies, as it was named.
    package let path: String
    package let configuration: Configuration
    /// What works, and may not be what was meant.
    package let warnings: [ConfigurationWarning]

    /// Every field of this configuration, with its value in force.
    package let fields: [ConfigurationField]
    /// The places of all values by their paths, for problems that show later.
    let positions: [String: TextPosition]

    /// Reads and checks the file at `path`, with values that the environment overrides.
    ///
    /// Reads no other file. Throws every case of `ConfigurationError`, `invalid` with all problems at once.
    package init(path: String, environment: [String: String]) throws(ConfigurationError) {
        let bytes: [UInt8]
        bytes = try wrap(
            { (error: FileError) in ConfigurationError.unreadable(path: path, error) },
            try FileReading.read(path, sizeMaximum: Self.sizeMaximum, permissions: .any).revealed())
        try self.init(parsing: bytes, path: path, environment: environment)
    }

    /// Checks a text as if it lay at `path`: relative paths in it are relative to that file's folder.
    ///
    /// Throws `malformed`, and `invalid` with all problems at once.
    package init(parsing bytes: [UInt8], path: String, environment: [String: String]) throws(ConfigurationError) {
        let root: JSONNode
        root = try wrap(
            { (error: JSONError) in ConfigurationError.malformed(path: path, error) },
            try JSONReader.parse(bytes, dialect: .json5, limits: JSONLimits(sizeMaximum: Self.sizeMaximum)))
        let reading = ConfigurationReading(
            root, directory: FilePath.directory(of: path), environment: environment)
        let configuration = reading.read(Configuration.init(reading:))
        guard let configuration, reading.problems.isEmpty else {
            throw .invalid(path: path, reading.problems.inOrderOfFile)
        }
        self.path = path
        self.configuration = configuration
        warnings = ConfigurationWarning.warnings(about: environment, named: configuration.environmentVariables)
        fields = reading.fields
        positions = reading.positions
    }
}
