import ByteCoding
package import DeviceSimulation
package import FairPlay
import Foundation
package import KeyCrypto
import Synchronization

/// A folder as `latchkey init` makes it, with functions that run its tools. Its daemon logs at debug level.
///
/// All folders of a process have the same FairPlay certificates and the same TLS certificate, because making RSA keys
/// takes most of the time of `latchkey init`. Everything else that is secret is a folder's own.
package final class DevelopmentFolder: Sendable {
    package let files: TemporaryDirectory
    /// The content keys and tokens that were made with this folder.
    private let keys = Mutex<[String]>([])
    private let tokens = Mutex<[String]>([])

    package init() throws {
        files = try TemporaryDirectory()
        try writeOriginals()
        try writeOwnSecrets()
        try configure(replacing: #"level: "info""#, with: #"level: "debug""#)
    }

    deinit {
        KeptForSearch.keep(secretsOf: files)
        KeptForSearch.keep(keys.withLock(\.self), kind: "key")
        KeptForSearch.keep(tokens.withLock(\.self), kind: "token")
    }

    private static let folders = ["fairplay", "secrets", "tls"]

    private struct Original {
        let name: String
        let contents: [UInt8]
        let mode: Int
    }

    /// What `latchkey init` has made for this process.
    private static let originals = Result {
        let made = try TemporaryDirectory()
        try run(["init", made.path])
        let names = try folders.flatMap { folder in try made.names(in: folder).map { "\(folder)/\($0)" } }
        return try (["latchkey.json5"] + names).map {
            Original(name: $0, contents: try made.read($0), mode: try made.mode($0))
        }
    }

    private func writeOriginals() throws {
        for folder in Self.folders {
            try FileManager.default.createDirectory(
                atPath: files.path(folder), withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
        }
        for original in try Self.originals.get() {
            let isWritten = FileManager.default.createFile(
                atPath: files.path(original.name), contents: Data(original.contents),
                attributes: [.posixPermissions: original.mode])
            guard isWritten else { throw DevelopmentFolderError(command: "write", original.name) }
        }
    }

    private func writeOwnSecrets() throws {
        let secrets = try files.names(in: "secrets").map { "secrets/\($0)" }
        for name in secrets + ["fairplay/application-secret.hex"] where !name.hasSuffix(".pem") {
            let size = name.hasSuffix(".hex") ? 16 : 32
            let secret = try RandomBytes.generate(count: size)
            let isText = ["admin-token", "packager"].contains { name.hasSuffix($0) }
            try files.write("\(isText ? Base64URL.encode(secret) : hex(secret))\n".utf8, to: name)
        }
        let key = try ES256PrivateKey.generate()
        try files.write(key.privatePEM().revealed(), to: "secrets/token-signing-key.pem")
        try files.write(key.publicKey.publicPEM(), to: "secrets/token-verification-key.pem")
    }

    package var configuration: String { files.path("latchkey.json5") }

    /// Returns a file's text without the line feed at its end.
    package func text(_ name: String) throws -> String {
        String(decoding: try files.read(name), as: UTF8.self).trimmingCharacters(in: .newlines)
    }

    /// Replaces a part of the configuration. Throws if the configuration lacks the old text.
    package func configure(replacing old: String, with new: String) throws {
        let text = String(decoding: try files.read("latchkey.json5"), as: UTF8.self)
        guard text.contains(old) else {
            throw DevelopmentFolderError(command: "configure", "the configuration has no \(old)")
        }
        try files.write(text.replacingOccurrences(of: old, with: new).utf8, to: "latchkey.json5")
    }

    package func adminToken() throws -> String { try text("secrets/admin-token") }

    package func applicationSecret() throws -> [UInt8] { hex(try text("fairplay/application-secret.hex")) }

    package func signingKey() throws -> ES256PrivateKey {
        try ES256PrivateKey(parsing: files.read("secrets/token-signing-key.pem"))
    }

    /// Stores a content key with `latchkey keys import`.
    package func importKey(content: String, key: [UInt8], iv: [UInt8]) throws {
        keys.withLock { $0 += [hex(key), hex(iv)] }
        try Self.run([
            "keys", "import", "--config", configuration, "--content", content, "--key", hex(key), "--iv", hex(iv),
        ])
    }

    /// Returns a token from `latchkey token mint`.
    package func mint(content: String, _ more: [String] = []) throws -> String {
        let token = try Self.run(["token", "mint", "--config", configuration, "--content", content] + more)
            .trimmingCharacters(in: .newlines)
        tokens.withLock { $0.append(token) }
        return token
    }

    /// Returns a device with the folder's certificate and application secret.
    package func makeDevice(_ version: SPCVersion, using crypto: CryptoContext) throws -> SimulatedDevice {
        let bits = version == .v1 ? 1024 : 2048
        return SimulatedDevice(
            certificate: try Certificate(parsing: files.read("fairplay/certificate-\(bits).der")),
            ladder: try ApplicationSecretKeyLadder(
                .applicationSecret, SecretBytes(copying: applicationSecret())),
            using: crypto)
    }

    /// Runs `latchkey` and returns its standard output.
    @discardableResult
    private static func run(_ arguments: [String]) throws -> String {
        let process = try ChildProcess(program: BuiltProgram.path("latchkey"), arguments: arguments)
        guard process.waitForExit() == 0 else {
            throw DevelopmentFolderError(command: arguments.prefix(2).joined(separator: " "), process.messages.text)
        }
        return process.output.text
    }
}

package struct DevelopmentFolderError: Error {
    package let command: String
    package let messages: String

    init(command: String, _ messages: String) {
        self.command = command
        self.messages = messages
    }
}
