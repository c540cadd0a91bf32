import Foundation
import TestSupport
import Testing

@testable import ServiceConfiguration

/// Secrets that need no field if they are in their places.
@Suite struct SecretPlacesTests {
    private let folder: ConfigurationFolder

    init() throws {
        folder = try ConfigurationFolder()
        try FileManager.default.removeItem(atPath: place("session-key"))
    }

    private func place(_ name: String) -> String { "\(folder.path)/secrets/\(name)" }

    private func configuration(_ text: String) throws -> Configuration {
        try folder.load(text).configuration
    }

    @Test func aSecretInItsPlaceNeedsNoField() throws {
        let before = try configuration(ConfigurationText.make())
        #expect(before.entitlement.sessions == nil && before.keys.masterSecret == nil)

        try folder.write("secrets/session-key", String(repeating: "ab", count: 32))
        try folder.write("secrets/master-secret", String(repeating: "cd", count: 32))
        let after = try folder.load(ConfigurationText.make())
        #expect(after.configuration.entitlement.sessions?.key == .file(path: place("session-key")))
        #expect(after.configuration.keys.masterSecret == .file(path: place("master-secret")))
        #expect(after.sessions != nil)
        let fields = try ConfigurationFile(
            parsing: Array(ConfigurationText.make().utf8), path: "\(folder.path)/latchkey.json5", environment: [:]
        ).fields
        #expect(fields.filter { $0.path == "keys.masterSecret" }.map(\.origin) == [.standard])
    }

    /// A wrong file in the place is a mistake, and not the same as none.
    @Test func aBrokenSecretInItsPlaceIsRefused() throws {
        try folder.write("secrets/session-key", "short")
        #expect(throws: ConfigurationError.self) { try configuration(ConfigurationText.make()) }
    }
}
