import FairPlay
import Foundation
import KeyCrypto
import TestSupport

/// The folder `Tests/Vectors`.
enum OwnVectors {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Vectors")

    static func answered() throws -> [AnsweredVector] { try read("answered") }

    static func sync() throws -> [SyncVector] { try read("sync") }

    static func refused() throws -> [RefusedVector] { try read("refused") }

    static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appending(path: name)))
    }

    static func applicationSecret() throws -> [UInt8] {
        hex(
            String(decoding: try bytes("credential/application-secret.hex"), as: UTF8.self).trimmingCharacters(
                in: .newlines))
    }

    /// The certificate for which devices of a version wrap their keys.
    static func certificate(_ version: SPCVersion) throws -> Certificate {
        try certificate(bits: version == .v1 ? 1024 : 2048)
    }

    /// The credential for which all vectors are made.
    static func credential() throws -> Credential {
        func pair(_ bits: Int) throws -> Credential.KeyPair {
            try Credential.KeyPair(
                certificate: certificate(bits: bits),
                privateKey: RSAPrivateKey(parsing: bytes("credential/private-key-\(bits).pem")))
        }
        return try Credential(
            name: "own vectors", pair1024: pair(1024), pair2048: pair(2048),
            ladder: .applicationSecret(
                ApplicationSecretKeyLadder(.applicationSecret, SecretBytes(copying: applicationSecret()))),
            servesVersion3: true)
    }

    private static func certificate(bits: Int) throws -> Certificate {
        try Certificate(parsing: bytes("credential/certificate-\(bits).der"))
    }

    private static func read<Vector: NamedVector>(_ name: String) throws -> [Vector] {
        let path = folder.appending(path: name)
        let files = try FileManager.default.contentsOfDirectory(atPath: path.path)
        return try files.filter { $0.hasSuffix(".json") }.sorted().map { file in
            var vector = try JSONDecoder().decode(Vector.self, from: Data(contentsOf: path.appending(path: file)))
            vector.name = String(file.dropLast(".json".count))
            return vector
        }
    }
}
