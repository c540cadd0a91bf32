import TestSupport

@testable import ServiceConfiguration

extension ConfigurationFolder {
    /// What the configuration with this text gives, as if it lay in the folder.
    func load(_ text: String, environment: [String: String] = [:]) throws -> LoadedConfiguration {
        let file = try ConfigurationFile(
            parsing: Array(text.utf8), path: "\(path)/latchkey.json5", environment: environment)
        return try .load(file, environment: environment)
    }

    /// The problems that loading it gives.
    func problems(_ text: String, environment: [String: String] = [:]) -> [ConfigurationProblem] {
        do {
            _ = try load(text, environment: environment)
            return []
        } catch let error as ConfigurationError {
            return error.problems
        } catch {
            return []
        }
    }
}

extension ConfigurationText {
    /// Its configuration, as if it lay at `/etc/latchkey/latchkey.json5`.
    static func parse(_ text: String, environment: [String: String] = [:]) throws(ConfigurationError)
        -> ConfigurationFile
    {
        try ConfigurationFile(
            parsing: Array(text.utf8), path: "/etc/latchkey/latchkey.json5", environment: environment)
    }

    /// The problems of the text alone.
    static func problems(_ text: String, environment: [String: String] = [:]) -> [ConfigurationProblem] {
        do throws(ConfigurationError) {
            _ = try parse(text, environment: environment)
            return []
        } catch {
            return error.problems
        }
    }
}
