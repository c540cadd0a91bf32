import ByteCoding
import DeviceSimulation
import FairPlay
import Foundation
import KeyCrypto
import TestSupport
import Testing

/// Writes `Tests/Vectors` anew: credential, answered and refused vectors. Runs only where `LATCHKEY_WRITE_VECTORS` is set:
///
///     LATCHKEY_WRITE_VECTORS=1 swift test --filter OwnVectorGenerator
///
/// What is expected of a vector is what went into it, never what our own server made of it.
@Suite(
    .enabled(
        if: ProcessInfo.processInfo.environment["LATCHKEY_WRITE_VECTORS"] != nil,
        "set LATCHKEY_WRITE_VECTORS to write them anew"))
struct OwnVectorGenerator {
    private static let source =
        "Latchkey's simulated device: LATCHKEY_WRITE_VECTORS=1 swift test --filter OwnVectorGenerator"
    private static let creationDate: UInt32 = 1_767_225_600

    private let crypto: CryptoContext

    init() throws {
        crypto = try CryptoContext()
    }

    @Test func writesAllVectors() throws {
        try makeFolders()
        try writeCredential()
        for recipe in try AnsweredRecipe.all() { try write(recipe) }
        for recipe in RefusedRecipe.all { try write(recipe) }
    }

    private func makeFolders() throws {
        for name in ["credential", "answered", "refused"] {
            let folder = OwnVectors.folder.appending(path: name)
            if FileManager.default.fileExists(atPath: folder.path) { try FileManager.default.removeItem(at: folder) }
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        }
    }

    private func writeCredential() throws {
        for bits in [1024, 2048] {
            let key = try RSAPrivateKey.generate(bits: bits)
            let certificate = try Certificate.makeDevelopment(
                for: key, commonName: "Latchkey test vectors \(bits)", now: Int64(Self.creationDate))
            try write(certificate.der, to: "credential/certificate-\(bits).der")
            try write(key.privatePEM().revealed(), to: "credential/private-key-\(bits).pem")
        }
        let secret = hex(try crypto.randomBytes(count: 16))
        try write(Array("\(secret)\n".utf8), to: "credential/application-secret.hex")
    }

    private func device(_ version: SPCVersion) throws -> SimulatedDevice {
        SimulatedDevice(
            certificate: try OwnVectors.certificate(version),
            ladder: try ApplicationSecretKeyLadder(
                .applicationSecret, SecretBytes(copying: OwnVectors.applicationSecret())),
            using: crypto)
    }

    // MARK: Answered

    private func write(_ recipe: AnsweredRecipe) throws {
        var options = recipe.options
        options.transactionID = try crypto.randomBytes16().high
        options.deviceID = Array(try crypto.randomBytes(count: 20))
        if recipe.namesBundle { options.certificateHash = try bundleHash() }
        let request = try device(options.version).makeRequest(options)
        let key = try SecretBytes.random(count: 16)
        let iv = try crypto.randomBytes16()
        let server = try TestServer([OwnVectors.credential()])
        let ckc = try server.answer(
            server.open(request.message), contentKey: key.revealed(), iv: iv, terms: recipe.terms)
        let vector = AnsweredVector(
            purpose: recipe.purpose, source: Self.source, spc: hex(request.message), ckc: hex(ckc),
            secrets: .init(
                payloadKey: hex(request.secrets.payloadKey.revealed()),
                sessionBlock: hex(request.secrets.sessionBlock.revealed()),
                antiReplaySeed: hex(request.secrets.antiReplaySeed.bytes),
                expectedEchoes: request.secrets.expectedEchoes.map { hex($0) }),
            expected: try expectation(options, recipe.terms, key: key, iv: iv))
        try write(json: vector, to: "answered/\(recipe.name).json")
    }

    private func expectation(
        _ options: DeviceOptions, _ terms: LicenseTerms, key: borrowing SecretBytes, iv: Bytes16
    ) throws -> AnsweredVector.Expected {
        let optionalCount = [
            options.streamingIndicator != nil, options.playbackState != nil, options.capabilities != nil,
        ].count { $0 }
        return AnsweredVector.Expected(
            spcVersion: options.version.rawValue,
            certificateHash: hex(try options.certificateHash?.bytes ?? ownHash(options.version)),
            assetID: hex(options.assetID), deviceID: hex(options.deviceID ?? []),
            transactionID: hex(bigEndianBytes(options.transactionID ?? 0)),
            protocolVersionUsed: options.protocolVersionUsed,
            protocolVersionsSupported: options.protocolVersionsSupported,
            streamingIndicator: options.streamingIndicator.map { hex(bigEndianBytes($0)) },
            capabilities: options.capabilities.map { hex(bigEndianBytes($0.rawValue)) },
            playbackState: options.playbackState.map { state in
                .init(
                    createdAt: state.createdAt, state: "\(state.state)",
                    sessionID: hex(bigEndianBytes(state.sessionID)))
            },
            // The nine blocks that every SPC has, and what was chosen beside them.
            blockCount: 9 + optionalCount + options.otherBlocks.count + options.unknownBlockCount,
            contentKey: hex(key.revealed()), contentIV: hex(iv.bytes),
            leaseSeconds: terms.lease?.value, rentalSeconds: terms.rental?.value,
            hdcp: terms.hdcp.map { "\($0)" })
    }

    private func ownHash(_ version: SPCVersion) throws -> [UInt8] {
        let der = try OwnVectors.certificate(version).der
        return try crypto.sha1(der, in: 0..<der.count)
    }

    private func bundleHash() throws -> CertificateHash? {
        let bundle = try OwnVectors.certificate(.v1).der + OwnVectors.certificate(.v2).der
        return try CertificateHash(.sha1, of: bundle, using: crypto)
    }

    // MARK: Refused

    private func write(_ recipe: RefusedRecipe) throws {
        let options = DeviceOptions(version: recipe.version, assetID: Array("movie-1".utf8))
        let message =
            switch recipe.content {
            case .fault(let fault): try device(recipe.version).makeRequest(options, with: fault).message
            case .nothing: [UInt8]()
            case .certificate: try OwnVectors.certificate(recipe.version).der
            }
        let vector = RefusedVector(
            purpose: recipe.purpose, source: Self.source, spc: hex(message), expected: recipe.expected)
        try write(json: vector, to: "refused/\(recipe.name).json")
    }

    // MARK: Files

    private func write(_ bytes: [UInt8], to name: String) throws {
        try Data(bytes).write(to: OwnVectors.folder.appending(path: name))
    }

    private func write(json vector: some Encodable, to name: String) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        try write(Array(try encoder.encode(vector)) + [UInt8(ascii: "\n")], to: name)
    }
}
