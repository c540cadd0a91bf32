import ByteCoding
import ContentKeys
import DeviceSimulation
import Entitlements
import EventLoops
import FairPlay
import KeyCrypto
import Licensing
import Synchronization
import TestSupport

/// One content key, and nothing else.
struct OneKey: ContentKeySource {
    let record: ContentKeyRecord

    func record(for reference: AssetReference) async throws(StoreError) -> ContentKeyRecord? {
        let isNamed = reference.candidates.contains { candidate in
            switch candidate {
            case .alias: false
            case .keyID(let keyID): keyID == record.keyID
            case .contentID(let contentID): contentID == record.contentID
            }
        }
        return isNamed ? record : nil
    }
}

/// A pipeline on loops of its own, with devices and tokens that fit it.
final class LicensingFixture: Sendable {
    static let now: Int64 = 1_800_000_000
    static let key = [UInt8](0x20...0x2F)
    static let iv = [UInt8](0x40...0x4F)

    let group: EventLoopGroup
    let operations = RSAOperationCount()
    let issuer: LicenseIssuer
    let credential: TestCredential
    private let signingKey: ES256PrivateKey

    init(loopCount: Int = 1) throws {
        group = try EventLoopGroup(count: loopCount)
        credential = try TestCredential.shared.get()
        signingKey = try ES256PrivateKey.generate()
        let keys = [VerificationKey(id: "test", es256: signingKey.publicKey)]
        let issuers = try IssuerSet([Issuer(name: "portal", audience: "latchkey", keys: keys)])
        let attributes = ContentKeyAttributes(
            keyID: try KeyID(parsing: "00112233-4455-6677-8899-aabbccddeeff"), contentID: try ContentID("movie-1"),
            createdAt: 0)
        let record = try ContentKeyRecord(
            attributes: attributes, key: ContentKey(SecretBytes(copying: Self.key)), iv: Bytes16(Self.iv, at: 0))
        issuer = LicenseIssuer(
            credentials: try CredentialSet([credential.credential]),
            tokens: VerifiedTokenCache(verifier: TokenVerifier(issuers: issuers)),
            keys: RecentContentKeys(source: OneKey(record: record)),
            servedVersions: [1], operations: operations)
    }

    deinit {
        group.stop(within: .seconds(10))
    }

    func token(
        _ rights: [Right] = [Right(.content("movie-1"))], keyID: String = "test", expiresIn life: Int64 = 300
    ) throws -> [UInt8] {
        let contents = TokenContents(
            issuer: "portal", audience: "latchkey", issuedAt: Self.now, expiresAt: Self.now + life, rights: rights)
        return Array(try TokenMinter(keyID: keyID, es256: signingKey).mint(contents).utf8)
    }

    func deviceRequest(
        _ version: SPCVersion, assetID: String = "movie-1", hasState: Bool = true
    ) throws -> DeviceRequest {
        let crypto = try CryptoContext()
        var options = DeviceOptions(version: version, assetID: Array(assetID.utf8))
        if hasState { options.playbackState = MediaPlaybackState(createdAt: 1, state: .readyToStart, sessionID: 2) }
        return try credential.makeDevice(version, using: crypto).makeRequest(options)
    }

    /// Sends a request through both stages on a loop, as an endpoint does.
    func issue(_ message: [UInt8], token: [UInt8]?, loopIndex: Int = 0) async -> Result<IssuedLicense, LicenseError> {
        let loop = group.loops[loopIndex]
        let issuer = issuer
        return await withCheckedContinuation { continuation in
            loop.spawn {
                do throws(LicenseError) {
                    let request = LicenseRequest(message: message, token: token)
                    let admission = try issuer.admit(request, now: Self.now, on: loop)
                    let license = try await issuer.issue(admission, now: Self.now, on: loop)
                    continuation.resume(returning: .success(license))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
    }
}
