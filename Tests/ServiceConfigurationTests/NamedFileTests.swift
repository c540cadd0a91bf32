import Foundation
import KeyCrypto
import TestSupport
import Testing

@testable import ServiceConfiguration

@Suite struct NamedFileTests {
    private let folder: ConfigurationFolder

    init() throws {
        folder = try ConfigurationFolder()
    }

    private func file(_ text: String) throws -> ConfigurationFile {
        try ConfigurationFile(parsing: Array(text.utf8), path: "\(folder.path)/latchkey.json5", environment: [:])
    }

    private static let text = ConfigurationText.make(
        entitlement: """
            sessions: { key: "secrets/session-key", retiredKeys: ["secrets/ledger-key", "secrets/pseudonym-key"] },
            """,
        rest: """
            keys: { keyEncryptionKey: "secrets/key-encryption-key" },
            ledger: { key: "secrets/ledger-key", pseudonymKey: "secrets/pseudonym-key" },
            """)

    @Test func areAllThatTheConfigurationReads() throws {
        let files = LoadedConfiguration.namedFiles(of: try file(Self.text), environment: [:])
        let secrets = Set(files.filter(\.isSecret).map(\.field))
        #expect(
            secrets == [
                "fairplay.credentials[0].privateKey1024", "fairplay.credentials[0].privateKey2048",
                "fairplay.credentials[0].applicationSecret", "keys.keyEncryptionKey", "ledger.key",
                "ledger.pseudonymKey", "entitlement.sessions.key", "entitlement.sessions.retiredKeys",
            ])
        #expect(
            Set(files.filter { !$0.isSecret }.map(\.field)) == [
                "fairplay.credentials[0].certificate1024", "fairplay.credentials[0].certificate2048",
                "entitlement.issuers[0].keys[0].key",
            ])
        let retired = files.filter { $0.field == "entitlement.sessions.retiredKeys" }
        #expect(retired.map(\.ordinal) == [0, 1])
        for named in files { #expect(try named.read(environment: [:]).count > 0) }
    }

    @Test func areNamedEvenIfTheyAreMissing() throws {
        let all = LoadedConfiguration.namedFiles(of: try file(Self.text), environment: [:]).map(\.field)
        try FileManager.default.removeItem(atPath: "\(folder.path)/secrets")
        try FileManager.default.removeItem(atPath: "\(folder.path)/fairplay")
        let file = try file(Self.text)
        let missing = LoadedConfiguration.namedFiles(of: file, environment: [:])
        #expect(missing.map(\.field).contains("keys.keyEncryptionKey"))
        for named in missing {
            #expect(throws: FileError.self) { try named.read(environment: [:]).count }
        }
        // What stands in for them leads to those that they hide.
        var substitutes: [String: [SharedSecret]] = [:]
        let complete = try ConfigurationFolder()
        let other = try ConfigurationFile(
            parsing: Array(Self.text.utf8), path: "\(complete.path)/latchkey.json5", environment: [:])
        for named in LoadedConfiguration.namedFiles(of: other, environment: [:]) {
            substitutes[named.field, default: []].append(SharedSecret(try named.read(environment: [:])))
        }
        let found = LoadedConfiguration.namedFiles(of: file, environment: [:], substitutes: substitutes)
        #expect(Set(found.map(\.field)) == Set(all))
        var loader = ConfigurationLoader(file, environment: [:], substitutes: substitutes)
        #expect(loader.ledgerKeys() != nil && loader.keyEncryptionKey() != nil && loader.error == nil)
    }

    @Test func areNeverReplacedIfTheyAreThere() throws {
        let substitute = SharedSecret(SecretBytes(copying: Array("no key at all".utf8)))
        let substitutes = ["ledger.key": [substitute], "keys.keyEncryptionKey": [substitute]]
        var loader = ConfigurationLoader(try file(Self.text), environment: [:], substitutes: substitutes)
        #expect(loader.ledgerKeys() != nil && loader.error == nil)
        // A file that cannot be used is not absent.
        try folder.write("secrets/key-encryption-key", "too wide", mode: 0o644)
        #expect(loader.keyEncryptionKey() == nil && loader.error != nil)
    }
}
