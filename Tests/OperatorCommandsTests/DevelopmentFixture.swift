import ByteCoding
import CommandLineKit
import FairPlay
import Foundation
import KeyCrypto
import TestSupport
import Testing

@testable import CommandSupport
@testable import OperatorCommands
@testable import SetupCommands

/// A set-up like that of `latchkey init`, and a server with its credential.
struct DevelopmentFixture {
    /// The files are made once, because making RSA keys takes time.
    private static let files = Result { try DevelopmentSetup.make(now: 1_700_000_000) }

    let folder: TemporaryDirectory

    init() throws {
        folder = try TemporaryDirectory()
        let files = try Self.files.get()
        try SetupFolder.withFolder(folder.path) { folder throws(CommandError) in
            try folder.write(files, folders: DevelopmentSetup.folders)
            try folder.place()
        }
    }

    var configuration: String { folder.path("latchkey.json5") }

    func fairPlay(_ name: String) -> String { folder.path("fairplay/\(name)") }

    /// The arguments that every device command needs.
    func deviceArguments(certificate: String = "bundle.bin") -> [String] {
        [
            "--certificate", fairPlay(certificate), "--application-secret", fairPlay("application-secret.hex"),
            "--asset-id", "movie-1",
        ]
    }

    /// Answers an SPC as the daemon would.
    func answer(
        _ spc: [UInt8], contentKey: [UInt8], iv: Bytes16, terms: LicenseTerms = LicenseTerms()
    ) throws -> [UInt8] {
        let server = try TestServer([credential()])
        return try server.answer(server.open(spc), contentKey: contentKey, iv: iv, terms: terms)
    }

    private func credential() throws -> Credential {
        func pair(_ bits: Int) throws -> Credential.KeyPair {
            try Credential.KeyPair(
                certificate: Certificate(parsing: folder.read("fairplay/certificate-\(bits).der")),
                privateKey: RSAPrivateKey(parsing: folder.read("fairplay/private-key-\(bits).pem")))
        }
        let digits = Array(try folder.read("fairplay/application-secret.hex").prefix(32))
        return try Credential(
            name: "development", pair1024: pair(1024), pair2048: pair(2048),
            ladder: .applicationSecret(
                ApplicationSecretKeyLadder(.applicationSecret, SecretBytes(copying: Hexadecimal.decode(digits)))),
            servesVersion3: true)
    }
}
