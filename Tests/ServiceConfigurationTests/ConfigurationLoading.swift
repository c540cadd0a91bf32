import TestSupport

@testable import ServiceConfiguration

extension ConfigurationFolder {
    /// Loads the configuration with this text, as if its file were in the folder.
    func load(_ text: String, environment: [String: String] = [:]) throws -> LoadedConfiguration {
        let file = try ConfigurationFile(
            parsing: Array(text.utf8), path: "\(path)/latchkey.json5", environment: environment)
        return try .load(file, environment: environment)
    }

    /// Returns the problems of loading this text.
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
    /// Parses the text, as if its file were `/etc/latchkey/latchkey.json5`.
    static func parse(_ text: String, environment: [String: String] = [:]) throws(ConfigurationError)
        -> ConfigurationFile
    {
        try ConfigurationFile(
            parsing: Array(text.utf8), path: "/etc/latchkey/latchkey.json5", environment: environment)
    }

    /// Returns the problems of the text, without those of other files.
    static func problems(_ text: String, environment: [String: String] = [:]) -> [ConfigurationProblem] {
        do throws(ConfigurationError) {
            _ = try parse(text, environment: environment)
            return []
        } catch {
            return error.problems
        }
    }
}
