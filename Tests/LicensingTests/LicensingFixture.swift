import ByteCoding
import ContentKeys
import DeviceSimulation
import Entitlements
import EventLoops
import FairPlay
import KeyCrypto
import Licensing
import Synchronization
import Telemetry
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

    /// With a `module` the credential's SK..R1 blocks are opened there.
    init(
        loopCount: Int = 1, track: Track = .unlabelled, policy: LicensePolicy = LicensePolicy(),
        module: ((TestCredential) throws -> any LadderModule)? = nil, recorder: DecisionRecorder? = nil,
        refusals: ((LoopContext) -> RefusalRecorder)? = nil, knowsRevocations: Bool = true,
        sessions: SessionTokens? = nil,
        _ adjust: (inout ContentKeyAttributes) -> Void = { _ in }
    ) throws {
        group = try EventLoopGroup(count: loopCount)
        credential = try TestCredential.shared.get()
        signingKey = try ES256PrivateKey.generate()
        let keys = [VerificationKey(id: "test", es256: signingKey.publicKey)]
        let issuers = try IssuerSet([
            Issuer(name: "portal", audience: "latchkey", keys: keys),
            Issuer(
                name: "customers", audience: "latchkey", dialect: .expressPlay, keys: [],
                sealingKeys: [try Self.sealingKey()]),
        ])
        var attributes = ContentKeyAttributes(
            keyID: try KeyID(parsing: "00112233-4455-6677-8899-aabbccddeeff"), contentID: try ContentID("movie-1"),
            track: track, createdAt: 0)
        adjust(&attributes)
        let record = try ContentKeyRecord(
            attributes: attributes, key: ContentKey(SecretBytes(copying: Self.key)), iv: Bytes16(Self.iv, at: 0))
        var served = credential.credential
        if let module { served = served.climbing(.module(try module(credential))) }
        issuer = LicenseIssuer(
            credentials: try CredentialSet([served]),
            tokens: VerifiedTokenCache(verifier: TokenVerifier(issuers: issuers, sessions: sessions)),
            keys: RecentContentKeys(source: OneKey(record: record)), policy: policy,
            recorder: recorder, refusals: refusals?(group.loops[0]),
            revocations: knowsRevocations ? RevocationView() : nil,
            challenges: ServerChallenges(
                store: MemoryChallengeStore(), pseudonyms: try MemoryChallengeStore.pseudonyms()), servedVersions: [1],
            operations: operations)
    }

    static func sessions(maximumLife: Int64 = SessionTokens.lifeDefault) throws -> SessionTokens {
        let key = try HMACSHA256Key(SecretBytes(copying: [UInt8](repeating: 0x5E, count: 32)))
        return try SessionTokens(key: key, maximumLife: maximumLife)
    }

    deinit {
        group.stop(within: .seconds(10))
    }

    func token(
        _ rights: [Right] = [Right(.content("movie-1"))], keyID: String = "test", expiresIn life: Int64 = 300,
        subject: String? = nil, tokenID: String? = nil
    ) throws -> [UInt8] {
        let contents = TokenContents(
            issuer: "portal", audience: "latchkey", subject: subject, tokenID: tokenID, issuedAt: Self.now,
            expiresAt: Self.now + life, rights: rights)
        return Array(try TokenMinter(keyID: keyID, es256: signingKey).mint(contents).utf8)
    }

    private static func sealingKey() throws -> TokenSealingKey {
        TokenSealingKey(id: 7, key: try AES256GCMKey(SecretBytes(copying: [UInt8](repeating: 9, count: 32))))
    }

    /// A sealed token, as it stands in a URL, that is good for five minutes.
    func sealed(
        tokenID: Bytes16 = Bytes16(high: 1, low: 2), _ adjust: (inout SealedTokenContents) throws -> Void
    ) throws -> [UInt8] {
        var contents = SealedTokenContents(tokenID: tokenID, issuedAt: Self.now, expiresAt: Self.now + 300)
        try adjust(&contents)
        return Array(try TokenSealer(Self.sealingKey()).seal(contents).utf8)
    }

    func deviceRequest(
        _ version: SPCVersion, assetID: String = "movie-1", hasState: Bool = true
    ) throws -> DeviceRequest {
        let crypto = try CryptoContext()
        var options = DeviceOptions(version: version, assetID: Array(assetID.utf8))
        if hasState { options.playbackState = MediaPlaybackState(createdAt: 1, state: .readyToStart, sessionID: 2) }
        return try credential.makeDevice(version, using: crypto).makeRequest(options)
    }

    /// A request of a device that says all that `adjust` sets.
    func deviceRequest(
        _ version: SPCVersion, _ adjust: (inout DeviceOptions) -> Void
    ) throws -> DeviceRequest {
        var options = DeviceOptions(version: version, assetID: Array("movie-1".utf8))
        options.playbackState = MediaPlaybackState(createdAt: 1, state: .readyToStart, sessionID: 2)
        adjust(&options)
        return try credential.makeDevice(version, using: CryptoContext()).makeRequest(options)
    }

    /// The licence for a request, or why there is none; a sync report counts as a failure of the test.
    func issue(
        _ message: [UInt8], token: [UInt8]?, for use: LicenseUse = .streaming, now: Int64 = now, loopIndex: Int = 0
    ) async -> Result<IssuedLicense, LicenseError> {
        await outcome(of: message, token: token, for: use, now: now, loopIndex: loopIndex).map { outcome in
            switch outcome {
            case .license(let license): license
            case .syncReport: preconditionFailure("an ordinary SPC carries no report")
            }
        }
    }

    /// Sends a request through both stages on a loop, as an endpoint does.
    func outcome(
        of message: [UInt8], token: [UInt8]?, for use: LicenseUse = .streaming, now: Int64 = now, loopIndex: Int = 0
    ) async -> Result<LicenseOutcome, LicenseError> {
        let presented = token.map { PresentedToken(source: .bearer, tokens: [$0]) }
        let request = LicenseRequest(message: message, token: presented, use: use)
        return await onLoop(loopIndex) { [issuer] loop async throws(LicenseError) in
            let admission = try issuer.admit(request, now: now, on: loop)
            return try await issuer.issue(admission, now: now, on: loop)
        }
    }

    func claims(of token: [UInt8]?) async -> Result<Claims, LicenseError> {
        await onLoop(0) { [issuer] loop async throws(LicenseError) in
            try issuer.holder(
                of: token.map { PresentedToken(source: .bearer, tokens: [$0]) }, now: Self.now, on: loop)
        }
    }

    func challenge(token: [UInt8]?) async -> Result<ServerChallenges.Issued, LicenseError> {
        await onLoop(0) { [issuer] loop async throws(LicenseError) in
            let claims = try issuer.holder(
                of: token.map { PresentedToken(source: .bearer, tokens: [$0]) }, now: Self.now, on: loop)
            return try await issuer.issueChallenge(to: claims, now: Self.now, on: loop)
        }
    }

    private func onLoop<Value: Sendable>(
        _ index: Int, _ work: @escaping @Sendable (LoopContext) async throws(LicenseError) -> Value
    ) async -> Result<Value, LicenseError> {
        let loop = group.loops[index]
        return await withCheckedContinuation { continuation in
            loop.spawn {
                do throws(LicenseError) {
                    continuation.resume(returning: .success(try await work(loop)))
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
    }
}
