import ByteCoding
import DeviceSimulation
import FairPlay
import Foundation
import KeyCrypto
import TestSupport
import Testing

/// Writes `Tests/Vectors` again: credential, answered, sync and refused vectors. Runs only if
/// `LATCHKEY_WRITE_VECTORS` is set:
///
///     LATCHKEY_WRITE_VECTORS=1 swift test --filter OwnVectorGenerator
///
/// The expected values of a vector are the inputs of the recipe, never what the server read.
@Suite(
    .enabled(
        if: ProcessInfo.processInfo.environment["LATCHKEY_WRITE_VECTORS"] != nil,
        "set LATCHKEY_WRITE_VECTORS to write them again"))
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
        for recipe in SyncRecipe.all { try write(recipe) }
        for recipe in RefusedRecipe.all { try write(recipe) }
    }

    private func makeFolders() throws {
        for name in ["credential", "answered", "sync", "refused"] {
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
        let options = try complete(recipe.options, naming: recipe.subject)
        let request = try device(options.version).makeRequest(options)
        let key = Array(try crypto.randomBytes(count: 16))
        let iv = try crypto.randomBytes16()
        let server = try TestServer([OwnVectors.credential()])
        let ckc = try server.answer(server.open(request.message), contentKey: key, iv: iv, terms: recipe.terms)
        let vector = AnsweredVector(
            purpose: recipe.purpose, source: Self.source, spc: hex(request.message), ckc: hex(ckc),
            secrets: try VectorSecrets(request, using: crypto),
            expected: .init(
                request: try expectation(options),
                license: ExpectedLicense(contentKey: key, contentIV: iv, terms: recipe.terms)))
        try write(json: vector, to: "answered/\(recipe.name).json")
    }

    private func write(_ recipe: SyncRecipe) throws {
        var options = DeviceOptions(version: recipe.version, assetID: Array("movie-1".utf8))
        options.sync = .report(recipe.report)
        options = try complete(options, naming: nil)
        let request = try device(options.version).makeRequest(options)
        let vector = SyncVector(
            purpose: recipe.purpose, source: Self.source, spc: hex(request.message),
            secrets: try VectorSecrets(request, using: crypto),
            expected: .init(request: try expectation(options), sync: ExpectedSync(recipe.report)))
        try write(json: vector, to: "sync/\(recipe.name).json")
    }

    /// The options with fixed values for everything that would be random.
    private func complete(
        _ options: DeviceOptions, naming subject: CredentialKey.Subject?
    ) throws -> DeviceOptions {
        var options = options
        options.transactionID = try crypto.randomBytes16().high
        options.deviceID = DeviceID(Array(try crypto.randomBytes(count: 20)))
        if options.streamingIndicator == .local {
            options.streamingIndicator = .value(try crypto.randomBytes16().high)
        }
        if let subject { options.certificateHash = try hash(of: subject, options.version) }
        return options
    }

    private func expectation(_ options: DeviceOptions) throws -> ExpectedRequest {
        let ownSubject: CredentialKey.Subject = options.version == .v1 ? .certificate1024 : .certificate2048
        let hash = try options.certificateHash ?? hash(of: ownSubject, options.version)
        return ExpectedRequest(options, certificateHash: hash.bytes)
    }

    private func hash(of subject: CredentialKey.Subject, _ version: SPCVersion) throws -> CertificateHash {
        let (small, large) = try (OwnVectors.certificate(.v1).der, OwnVectors.certificate(.v2).der)
        let bytes =
            switch subject {
            case .certificate1024: small
            case .certificate2048: large
            case .bundle: small + large
            }
        return try CertificateHash(version.certificateHash, of: bytes, using: crypto)
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
