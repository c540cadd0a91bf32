import ByteCoding
import Entitlements
import KeyCrypto
import ServiceConfiguration

/// A file of the set-up, before it is written.
struct SetupFile: Sendable {
    /// The path relative to the folder of the set-up; the file may be in one folder below it.
    let path: String
    let contents: [UInt8]
    let isSecret: Bool
}

/// Makes new credentials and secrets for development: everything that a daemon needs to serve on this machine.
///
/// The certificates are marked as development material, which the daemon refuses on listeners that other machines can
/// reach.
enum DevelopmentSetup {
    /// The folders of the set-up.
    static let folders = ["fairplay", "secrets", "tls"]
    static let configurationName = "latchkey.json5"

    /// Returns all files. Throws if OpenSSL cannot make random bytes or keys. `now` is in seconds since 1970.
    static func make(now: Int64) throws(CryptoError) -> [SetupFile] {
        try fairPlayFiles(now: now) + secretFiles() + tlsFiles(now: now)
            + [
                SetupFile(
                    path: configurationName, contents: Array(DevelopmentConfiguration.text.utf8), isSecret: false)
            ]
    }

    private static func fairPlayFiles(now: Int64) throws(CryptoError) -> [SetupFile] {
        var files: [SetupFile] = []
        var bundle: [UInt8] = []
        for bits in [1024, 2048] {
            let key = try RSAPrivateKey.generate(bits: bits)
            let certificate = try Certificate.makeDevelopment(
                for: key, commonName: "Latchkey development \(bits)", now: now)
            bundle += certificate.der
            files.append(file("fairplay/certificate-\(bits).der", certificate.der))
            files.append(secret("fairplay/private-key-\(bits).pem", try key.privatePEM().revealed()))
        }
        files.append(file("fairplay/bundle.bin", bundle))
        files.append(try .randomDigits("fairplay/application-secret.hex", count: 16))
        return files
    }

    private static func secretFiles() throws(CryptoError) -> [SetupFile] {
        let signingKey = try ES256PrivateKey.generate()
        return [
            try .randomDigits("secrets/key-encryption-key", count: AES256GCMKey.keySize),
            try .randomDigits("secrets/ledger-key", count: Configuration.Ledger.keySize),
            try .randomDigits("secrets/pseudonym-key", count: Configuration.Ledger.keySize),
            try .randomDigits("secrets/session-key", count: SessionTokens.secretSize),
            secret("secrets/token-signing-key.pem", try signingKey.privatePEM().revealed()),
            file("secrets/token-verification-key.pem", try signingKey.publicKey.publicPEM()),
            try .randomText("secrets/admin-token"),
            try .randomText("secrets/packager"),
        ]
    }

    private static func tlsFiles(now: Int64) throws(CryptoError) -> [SetupFile] {
        let key = try ES256PrivateKey.generate()
        return [
            file("tls/certificate.pem", try key.makeLocalTLSCertificate(now: now)),
            secret("tls/private-key.pem", try key.privatePEM().revealed()),
        ]
    }

    private static func file(_ path: String, _ contents: [UInt8]) -> SetupFile {
        SetupFile(path: path, contents: contents, isSecret: false)
    }

    private static func secret(_ path: String, _ contents: [UInt8]) -> SetupFile {
        SetupFile(path: path, contents: contents, isSecret: true)
    }
}

extension SetupFile {
    /// A random secret of so many bytes as a line of hexadecimal digits.
    static func randomDigits(_ path: String, count: Int) throws(CryptoError) -> SetupFile {
        let digits = Hexadecimal.encode(try SecretBytes.random(count: count).revealed()) + "\n"
        return SetupFile(path: path, contents: Array(digits.utf8), isSecret: true)
    }

    /// A random secret of 32 bytes as a line of base64url, for requests.
    static func randomText(_ path: String) throws(CryptoError) -> SetupFile {
        let text = Base64URL.encode(try SecretBytes.random(count: 32).revealed()) + "\n"
        return SetupFile(path: path, contents: Array(text.utf8), isSecret: true)
    }
}
