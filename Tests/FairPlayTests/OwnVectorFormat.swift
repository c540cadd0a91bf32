import ByteCoding
import DeviceSimulation
import FairPlay
import KeyCrypto
import TestSupport
import Testing

/// A vector in `Tests/Vectors/answered`: an SPC, a CKC that answers it, and every secret and value in both.
///
/// Bytes are lower-case hexadecimal digits. A member is missing in the file if it is missing in the SPC or the license.
struct AnsweredVector: Codable, Sendable, NamedVector {
    /// How this vector differs from the others.
    let purpose: String
    let source: String
    let spc: String
    let ckc: String
    let secrets: VectorSecrets
    let expected: Expected

    /// The members of both in one object.
    struct Expected: Codable, Sendable {
        let request: ExpectedRequest
        let license: ExpectedLicense

        init(request: ExpectedRequest, license: ExpectedLicense) {
            self.request = request
            self.license = license
        }

        init(from decoder: any Decoder) throws {
            request = try ExpectedRequest(from: decoder)
            license = try ExpectedLicense(from: decoder)
        }

        func encode(to encoder: any Encoder) throws {
            try request.encode(to: encoder)
            try license.encode(to: encoder)
        }
    }

    var name = ""

    private enum CodingKeys: CodingKey {
        case purpose, source, spc, ckc, secrets, expected
    }
}

/// A vector in `Tests/Vectors/sync`: an SPC that reports a key, and gets data instead of a CKC.
struct SyncVector: Codable, Sendable, NamedVector {
    let purpose: String
    let source: String
    let spc: String
    let secrets: VectorSecrets
    let expected: Expected

    struct Expected: Codable, Sendable {
        let request: ExpectedRequest
        let sync: ExpectedSync

        init(request: ExpectedRequest, sync: ExpectedSync) {
            self.request = request
            self.sync = sync
        }

        private enum CodingKeys: CodingKey {
            case sync
        }

        init(from decoder: any Decoder) throws {
            request = try ExpectedRequest(from: decoder)
            sync = try decoder.container(keyedBy: CodingKeys.self).decode(ExpectedSync.self, forKey: .sync)
        }

        func encode(to encoder: any Encoder) throws {
            try request.encode(to: encoder)
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode(sync, forKey: .sync)
        }
    }

    var name = ""

    private enum CodingKeys: CodingKey {
        case purpose, source, spc, secrets, expected
    }
}

/// A vector in `Tests/Vectors/refused`: an SPC that must be refused.
struct RefusedVector: Codable, Sendable, NamedVector {
    let purpose: String
    let source: String
    let spc: String
    let expected: Answer

    /// The codes of the answers, a closed list. Each has one status.
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

    private enum CodingKeys: CodingKey {
        case purpose, source, spc, expected
    }
}

/// A vector with the name of its file.
protocol NamedVector: Decodable, CustomTestStringConvertible {
    /// The name of the file without its extension. It is not stored in the file.
    var name: String { get set }
}

extension NamedVector {
    var testDescription: String { name }
}

/// The secrets that the device kept.
struct VectorSecrets: Codable, Sendable {
    /// The key that encrypts the payload.
    let payloadKey: String
    /// The key that RSA wraps in version 3. In other versions, RSA wraps the payload key.
    var masterKey: String?
    /// SK 16, HU 20, R1 44, integrity 16.
    let sessionBlock: String
    let antiReplaySeed: String
    /// Whole blocks in the order of the return request, each once.
    let expectedEchoes: [String]

    init(_ request: DeviceRequest, using crypto: CryptoContext) throws {
        let secrets = request.secrets
        payloadKey = hex(try secrets.payloadKey(request.version, using: crypto).bytes.revealed())
        masterKey = request.version == .v3 ? hex(secrets.wrappedKey.bytes.revealed()) : nil
        sessionBlock = hex(secrets.sessionBlock.bytes.revealed())
        antiReplaySeed = hex(secrets.antiReplaySeed.bytes)
        expectedEchoes = secrets.expectedEchoes.map { hex($0) }
    }

    /// The secrets that open the answer to the expected request.
    func requestSecrets(_ expected: ExpectedRequest) throws -> RequestSecrets {
        try RequestSecrets(
            wrappedKey: SharedSecret(SecretBytes(copying: hex(masterKey ?? payloadKey))),
            sessionBlock: SharedSecret(SecretBytes(copying: hex(sessionBlock))),
            antiReplaySeed: try #require(Bytes16(hex(antiReplaySeed))),
            expectedEchoes: expectedEchoes.map { hex($0) }, abilities: expected.abilities)
    }
}

/// The report of a sync SPC.
struct ExpectedSync: Codable, Sendable, Equatable {
    let version: UInt32
    /// The value that the device sends: 0 for an expired key, 4294967295 for no end.
    let secondsToExpiry: UInt32
    /// Version 1.
    var contentID: String?
    /// Version 2.
    var challenge: String?
    var flags: String?
    var titleID: String?
    var streamIDs: [String]?

    init(_ report: SyncReport) {
        secondsToExpiry = report.remaining.wireValue
        switch report.subject {
        case .version1(let contentID):
            version = 1
            self.contentID = hex(contentID.bytes)
        case .version2(let details):
            version = 2
            challenge = hex(bigEndianBytes(details.challenge))
            flags = hex(bigEndianBytes(details.flags.rawValue))
            titleID = hex(details.titleID.bytes)
            streamIDs = details.streamIDs.map { hex($0.bytes) }
        }
    }
}
