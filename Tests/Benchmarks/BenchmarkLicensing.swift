import ByteCoding
import ContentKeys
import DeviceSimulation
import Entitlements
import FairPlay
import KeyCrypto
import Licensing
import StorageSQLite
import TestSupport

/// A server's material and requests for it: distinct SPCs, several tokens, a real database.
struct BenchmarkLicensing {
    static let now: Int64 = 1_800_000_000
    /// The number of SPCs that are sent in turn. It is so large that no SPC is repeated while its session key is
    /// cached, because a repeated SPC costs no RSA operation.
    static let distinctRequestCount = 5_000
    static let contentKey = [UInt8](0x20...0x2F)
    static let contentIV = [UInt8](0x40...0x4F)

    let pipelines: LicensePipelines
    let shared: SharedLicensing
    let accelerator: CryptoAccelerator?
    let rules: LicenseRules
    let store: SQLiteKeyStore
    let tokens: [[UInt8]]
    let requests: [SPCVersion: [DeviceRequest]]

    /// `accelerator` computes RSA in the place of OpenSSL.
    init(databasePath: String, requestCount: Int, accelerator: CryptoAccelerator? = nil) async throws {
        let credential = try TestCredential.shared.get()
        let signingKey = try ES256PrivateKey.generate()
        let verificationKey = VerificationKey(id: "benchmark", es256: signingKey.publicKey)
        let issuers = try IssuerSet([Issuer(name: "portal", audience: "latchkey", keys: [verificationKey])])
        store = try await Self.makeStore(at: databasePath)
        rules = LicenseRules(
            fairplay: .init(credentials: try CredentialSet([credential.credential])),
            entitlement: .init(tokens: VerifiedTokenCache(verifier: TokenVerifier(issuers: issuers))))
        var shared = SharedLicensing(
            keys: RecentContentKeys(source: store), operations: RSAOperationCount(),
            revocations: KnownRevocations(RevocationView()))
        shared.accelerator = accelerator
        self.accelerator = accelerator
        self.shared = shared
        pipelines = LicensePipelines(shared)
        let minter = TokenMinter(keyID: "benchmark", es256: signingKey)
        tokens = try (0..<16).map { index in
            let contents = TokenContents(
                issuer: "portal", audience: "latchkey", subject: "viewer-\(index)", issuedAt: Self.now,
                expiresAt: Self.now + 3600, rights: [Right(.content("movie-1"), lease: 300)])
            return Array(try minter.mint(contents).utf8)
        }
        var requests: [SPCVersion: [DeviceRequest]] = [:]
        for version in [SPCVersion.v1, .v2] {
            requests[version] = try Self.makeRequests(version, for: credential, count: requestCount)
        }
        self.requests = requests
    }

    private static func makeStore(at path: String) async throws -> SQLiteKeyStore {
        let sealing = KeySealing(keyEncryptionKey: try AES256GCMKey(SecretBytes.random(count: 32)), version: 1)
        let store = try SQLiteKeyStore.open(path: path, keyRing: KeyRing(sealing), maximumReaders: 2)
        let attributes = ContentKeyAttributes(
            keyID: try KeyID(parsing: "00112233-4455-6677-8899-aabbccddeeff"), contentID: try ContentID("movie-1"),
            createdAt: 0)
        _ = try await store.insert(
            ContentKeyRecord(
                attributes: attributes, key: ContentKey(SecretBytes(copying: contentKey)),
                iv: Bytes16(contentIV, at: 0)))
        return store
    }

    private static let echoedTags: [UInt64] = (1...5).map { 0xABCD_0000_0000_0000 + $0 }

    static func deviceOptions(_ version: SPCVersion) -> DeviceOptions {
        var options = DeviceOptions(version: version, assetID: Array("movie-1".utf8))
        options.playbackState = MediaPlaybackState(createdAt: 1_700_000_000, state: .readyToStart, sessionID: 7)
        // The numbers of blocks and echoes are those of the first public vector: 17 unknown blocks and 7 echoes.
        options.unknownBlockCount = 12
        options.otherBlocks = echoedTags.map { DeviceBlock($0, [UInt8](repeating: 1, count: 20)) }
        options.returnRequest = [TLLVTag.assetID, TLLVTag.transactionID] + echoedTags
        return options
    }

    private static func makeRequests(
        _ version: SPCVersion, for credential: TestCredential, count: Int
    ) throws -> [DeviceRequest] {
        let device = try credential.makeDevice(version, using: CryptoContext())
        let options = deviceOptions(version)
        return try (0..<count).map { _ in try device.makeRequest(options) }
    }

    /// Opens an answer as the device does. Throws if the license is wrong.
    static func check(_ ckc: [UInt8], for request: DeviceRequest, using crypto: CryptoContext) throws {
        let license = try CKCOpener(secrets: request.secrets, using: crypto).open(ckc)
        guard license.contentKey.bytes.revealed() == contentKey, license.contentIV.bytes == contentIV else {
            throw BenchmarkError("a license has a wrong key, so the figures would mean nothing")
        }
    }
}
