import ByteCoding

/// The environment variables that override a value of the configuration file.
package enum EnvironmentOverride: String, Sendable, CaseIterable {
    /// The address of the only public listener. Its other fields are those of the first public listener in the file.
    case listen = "LATCHKEY_LISTEN"
    /// The address of the only admin listener. Its other fields are those of the first admin listener in the file.
    case adminListen = "LATCHKEY_ADMIN_LISTEN"
    /// `logging.level`.
    case logLevel = "LATCHKEY_LOG_LEVEL"
    /// `storage.url`. A relative path in it is relative to the folder of the configuration file.
    case storageURL = "LATCHKEY_STORAGE_URL"
    /// `node`.
    case node = "LATCHKEY_NODE"
}

/// A warning about something that works but is perhaps not meant.
package enum ConfigurationWarning: Equatable, Sendable {
    /// A `LATCHKEY_…` variable that overrides nothing.
    case unknownVariable(name: String, nearest: String?)

    /// Variables of scripts and tests. The daemon does not use them, but they are not typing errors.
    private static let foreignVariables: Set<String> = [
        "LATCHKEY_VECTORS", "LATCHKEY_BENCHMARKS", "LATCHKEY_BIN", "LATCHKEY_SETUP", "LATCHKEY_URL", "LATCHKEY_TOKEN",
        "LATCHKEY_CONFIG",
    ]
    private static let foreignPrefixes = ["LATCHKEY_TEST_", "LATCHKEY_INTEROP_", "LATCHKEY_POSTGRESQL"]

    /// Returns a warning for each `LATCHKEY_…` variable that is not an override, not foreign and not named by the
    /// configuration. Sorted by name.
    static func warnings(about environment: [String: String], named: Set<String>) -> [ConfigurationWarning] {
        let overrides = EnvironmentOverride.allCases.map(\.rawValue)
        return environment.keys.sorted().filter { name in
            name.hasPrefix("LATCHKEY_") && !overrides.contains(name) && !foreignVariables.contains(name)
                && !named.contains(name) && !foreignPrefixes.contains { name.hasPrefix($0) }
        }.map { .unknownVariable(name: $0, nearest: NearestName.of($0, among: overrides)) }
    }
}

extension ConfigurationWarning: CustomStringConvertible {
    package var description: String {
        switch self {
        case .unknownVariable(let name, let nearest):
            "the environment variable \(name) overrides nothing" + (nearest.map { "; did you mean \($0)?" } ?? "")
        }
    }
}

extension [ConfigurationField] {
    /// The variables that fields name as sources of paths: `environment:VARIABLE`, alone or in a list.
    ///
    /// They are found in the noted values, so that a new field with a source cannot be forgotten.
    var environmentVariables: Set<String> {
        var variables: Set<String> = []
        for case .text(let text) in map(\.value) {
            for part in text.split(separator: "\"") {
                if let variable = String(part).suffix(after: "environment:") { variables.insert(variable) }
            }
        }
        return variables
    }
}
