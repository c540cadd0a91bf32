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
        files.append(secret("fairplay/application-secret.hex", try randomDigits(count: 16)))
        return files
    }

    private static func secretFiles() throws(CryptoError) -> [SetupFile] {
        let signingKey = try ES256PrivateKey.generate()
        return [
            secret("secrets/key-encryption-key", try randomDigits(count: AES256GCMKey.keySize)),
            secret("secrets/ledger-key", try randomDigits(count: Configuration.Ledger.keySize)),
            secret("secrets/pseudonym-key", try randomDigits(count: Configuration.Ledger.keySize)),
            secret("secrets/session-key", try randomDigits(count: SessionTokens.secretSize)),
            secret("secrets/token-signing-key.pem", try signingKey.privatePEM().revealed()),
            file("secrets/token-verification-key.pem", try signingKey.publicKey.publicPEM()),
            secret("secrets/admin-token", try randomText()),
            secret("secrets/packager", try randomText()),
        ]
    }

    private static func tlsFiles(now: Int64) throws(CryptoError) -> [SetupFile] {
        let key = try ES256PrivateKey.generate()
        return [
            file("tls/certificate.pem", try key.makeLocalTLSCertificate(now: now)),
            secret("tls/private-key.pem", try key.privatePEM().revealed()),
        ]
    }

    /// A random secret as a line of hexadecimal digits.
    private static func randomDigits(count: Int) throws(CryptoError) -> [UInt8] {
        Array((Hexadecimal.encode(try SecretBytes.random(count: count).revealed()) + "\n").utf8)
    }

    /// A random secret of 32 bytes as a line of base64url, which clients send in requests.
    private static func randomText() throws(CryptoError) -> [UInt8] {
        Array((Base64URL.encode(try SecretBytes.random(count: 32).revealed()) + "\n").utf8)
    }

    private static func file(_ path: String, _ contents: [UInt8]) -> SetupFile {
        SetupFile(path: path, contents: contents, isSecret: false)
    }

    private static func secret(_ path: String, _ contents: [UInt8]) -> SetupFile {
        SetupFile(path: path, contents: contents, isSecret: true)
    }
}
