import ByteCoding
import FairPlay
import Foundation
import KeyCrypto
import TestSupport
import Testing

/// A vector in `Tests/Vectors/answered`: an SPC, a CKC that answers it, and every secret and value in both.
///
/// Bytes are lower-case hexadecimal digits; what is absent from an SPC or a licence is absent from the file.
struct AnsweredVector: Codable, Sendable, CustomTestStringConvertible {
    /// How this vector differs from the others.
    let purpose: String
    let source: String
    let spc: String
    let ckc: String
    let secrets: Secrets
    let expected: Expected

    /// What the device kept.
    struct Secrets: Codable, Sendable {
        let payloadKey: String
        /// SK 16, HU 20, R1 44, integrity 16.
        let sessionBlock: String
        let antiReplaySeed: String
        /// Whole blocks in the order of the return request, each once.
        let expectedEchoes: [String]
    }

    struct Expected: Codable, Sendable {
        let spcVersion: UInt32
        let certificateHash: String
        let assetID: String
        let deviceID: String
        let transactionID: String
        let protocolVersionUsed: UInt32
        let protocolVersionsSupported: [UInt32]
        var streamingIndicator: String?
        var capabilities: String?
        var playbackState: PlaybackState?
        let blockCount: Int
        let contentKey: String
        let contentIV: String
        var leaseSeconds: UInt32?
        var rentalSeconds: UInt32?
        /// The level's name: `none`, `type0`, `type1`.
        var hdcp: String?
    }

    struct PlaybackState: Codable, Sendable {
        let createdAt: UInt32
        let state: String
        let sessionID: String
    }

    /// The name of the file, without its extension; not part of it.
    var name = ""

    var testDescription: String { name }

    private enum CodingKeys: CodingKey {
        case purpose, source, spc, ckc, secrets, expected
    }
}

/// A vector in `Tests/Vectors/refused`: an SPC that must not be answered.
struct RefusedVector: Codable, Sendable, CustomTestStringConvertible {
    let purpose: String
    let source: String
    let spc: String
    let expected: Answer

    /// The codes of the answers, by the status that each has: a closed list.
    enum Answer: String, Codable, Sendable, CaseIterable {
        case empty = "body_empty"
        case isCertificate = "spc_is_certificate"
        case versionUnsupported = "spc_version_unsupported"
        case malformed = "spc_malformed"
        case certificateUnknown = "spc_certificate_unknown"
        case rejected = "spc_rejected"

        init?(_ error: SPCError) {
            switch error {
            case .empty: self = .empty
            case .isCertificate: self = .isCertificate
            case .unsupportedVersion: self = .versionUnsupported
            case .malformed: self = .malformed
            case .unknownCertificate: self = .certificateUnknown
            case .rejected: self = .rejected
            case .internalFailure: return nil
            }
        }
    }

    var name = ""

    var testDescription: String { name }

    private enum CodingKeys: CodingKey {
        case purpose, source, spc, expected
    }
}

/// The folder `Tests/Vectors`.
enum OwnVectors {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Vectors")

    static func answered() throws -> [AnsweredVector] {
        try read("answered") { (vector: AnsweredVector, name) in
            var vector = vector
            vector.name = name
            return vector
        }
    }

    static func refused() throws -> [RefusedVector] {
        try read("refused") { (vector: RefusedVector, name) in
            var vector = vector
            vector.name = name
            return vector
        }
    }

    static func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appending(path: name)))
    }

    static func applicationSecret() throws -> [UInt8] {
        hex(
            String(decoding: try bytes("credential/application-secret.hex"), as: UTF8.self).trimmingCharacters(
                in: .newlines))
    }

    static func certificate(_ version: SPCVersion) throws -> Certificate {
        try Certificate(parsing: bytes("credential/certificate-\(version == .v1 ? 1024 : 2048).der"))
    }

    /// The credential that all vectors are made for.
    static func credential() throws -> Credential {
        func pair(_ version: SPCVersion) throws -> Credential.KeyPair {
            let name = "credential/private-key-\(version == .v1 ? 1024 : 2048).pem"
            return try Credential.KeyPair(
                certificate: certificate(version), privateKey: RSAPrivateKey(parsing: bytes(name)))
        }
        return try Credential(
            name: "own vectors", pair1024: pair(.v1), pair2048: pair(.v2),
            ladder: .applicationSecret(
                ApplicationSecretKeyLadder(.applicationSecret, SecretBytes(copying: applicationSecret()))))
    }

    private static func read<Vector: Decodable>(
        _ name: String, _ finish: (Vector, String) -> Vector
    ) throws -> [Vector] {
        let path = folder.appending(path: name)
        let files = try FileManager.default.contentsOfDirectory(atPath: path.path)
        return try files.filter { $0.hasSuffix(".json") }.sorted().map { file in
            let vector = try JSONDecoder().decode(Vector.self, from: Data(contentsOf: path.appending(path: file)))
            return finish(vector, String(file.dropLast(".json".count)))
        }
    }
}
