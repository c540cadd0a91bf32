import Foundation
package import KeyCrypto

/// Keys and certificates that are made once for all tests of the configuration.
package struct ConfigurationMaterial {
    package static let shared: Result<ConfigurationMaterial, any Error> = Result { try ConfigurationMaterial() }

    package let key1024: RSAPrivateKey
    package let key2048: RSAPrivateKey
    package let otherKey1024: RSAPrivateKey
    package let tokenKey: ES256PrivateKey

    private init() throws {
        key1024 = try .generate(bits: 1024)
        key2048 = try .generate(bits: 2048)
        otherKey1024 = try .generate(bits: 1024)
        tokenKey = try .generate()
    }

    package static func certificate(for key: RSAPrivateKey) throws -> [UInt8] {
        try Certificate.makeDevelopment(for: key, commonName: "test", now: 1_700_000_000).der
    }
}

/// A folder for one test with a complete set of files. It is deleted with its last owner.
package final class ConfigurationFolder: Sendable {
    package let path: String

    package init() throws {
        let material = try ConfigurationMaterial.shared.get()
        path = NSTemporaryDirectory() + "latchkey-configuration-" + UUID().uuidString
        for folder in ["fairplay", "secrets"] {
            try FileManager.default.createDirectory(atPath: "\(path)/\(folder)", withIntermediateDirectories: true)
        }
        try write("fairplay/certificate-1024.der", ConfigurationMaterial.certificate(for: material.key1024))
        try write("fairplay/certificate-2048.der", ConfigurationMaterial.certificate(for: material.key2048))
        try write("fairplay/private-key-1024.pem", material.key1024.privatePEM().revealed())
        try write("fairplay/private-key-2048.pem", material.key2048.privatePEM().revealed())
        try write("fairplay/application-secret.hex", "101112131415161718191a1b1c1d1e1f\n")
        try write("secrets/key-encryption-key", String(repeating: "5a", count: 32) + "\n")
        try write("secrets/ledger-key", String(repeating: "6b", count: 32) + "\n")
        try write("secrets/pseudonym-key", String(repeating: "7c", count: 32) + "\n")
        try write("secrets/session-key", String(repeating: "8d", count: 32) + "\n")
        try write("secrets/token-signing-key.pem", material.tokenKey.privatePEM().revealed())
        try write("secrets/token-verification-key.pem", material.tokenKey.publicKey.publicPEM(), mode: 0o644)
        try write("secrets/admin-token", "0123456789abcdef0123456789abcdef\n")
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    package func write(_ name: String, _ bytes: [UInt8], mode: Int = 0o600) throws {
        let file = "\(path)/\(name)"
        try Data(bytes).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
    }

    package func write(_ name: String, _ text: String, mode: Int = 0o600) throws {
        try write(name, Array(text.utf8), mode: mode)
    }

    package func read(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)")))
    }
}

/// Texts of configurations. Each part is on its own line, so that a test can expect a line number.
package enum ConfigurationText {
    package static let credential = """
        name: "main", certificate1024: "fairplay/certificate-1024.der", privateKey1024: "fairplay/private-key-1024.pem", \
        certificate2048: "fairplay/certificate-2048.der", privateKey2048: "fairplay/private-key-2048.pem", \
        applicationSecret: "fairplay/application-secret.hex"
        """
    package static let key = #"kid: "k1", algorithm: "ES256", key: "secrets/token-verification-key.pem""#
    package static let issuer = #"issuer: "https://portal.example""#

    /// Returns a configuration. Line 2 has a credential, line 3 other fields of `fairplay`, line 4 an issuer, line 5
    /// other fields of `entitlement`, and line 6 the rest.
    package static func make(
        credential: String = credential, fairplay: String = "", issuer: String = issuer, key: String = key,
        entitlement: String = "", rest: String = ""
    ) -> String {
        """
        {
          fairplay: { credentials: [{ \(credential) }],
            \(fairplay) },
          entitlement: { issuers: [{ \(issuer), keys: [{ \(key) }] }],
            \(entitlement) },
          \(rest)
        }
        """
    }
}
