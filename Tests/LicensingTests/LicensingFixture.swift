import ByteCoding
import ContentKeys
import DeviceSimulation
import Entitlements
import EventLoops
import FairPlay
import Foundation
import KeyCrypto
import Licensing
import Records
import Synchronization
import Telemetry
import TestSupport

/// A source with one content key.
struct OneKey: ContentKeySource {
    let record: ContentKeyRecord

    func record(for reference: AssetReference) async throws(StoreError) -> ContentKeyRecord? {
        let isNamed = reference.candidates.contains { $0.fits(record.attributes) }
        return isNamed ? record : nil
    }
}

/// A source that has several keys of one content, and never knows which one is meant.
struct SeveralKeysOfOneContent: ContentKeySource {
    let contentID: ContentID

    func record(for reference: AssetReference) async throws(StoreError) -> ContentKeyRecord? {
        throw .contentAmbiguous(contentID)
    }
}

/// A pipeline with its own loops, and with devices and tokens that match it.
final class LicensingFixture: Sendable {
    static let now: Int64 = 1_800_000_000
    static let key = [UInt8](0x20...0x2F)
    static let iv = [UInt8](0x40...0x4F)

    let group: EventLoopGroup
    let operations = RSAOperationCount()
    let shared: SharedLicensing
    let pipelines: LicensePipelines
    let credential: TestCredential
    private let signingKey: ES256PrivateKey
    private let current: Mutex<LicenseRules>

    /// With a `module`, that module opens the SK..R1 blocks of the credential. With a `source`, keys come from what it
    /// returns for the key of the fixture.
    init(
        loopCount: Int = 1, track: Track = .unlabelled, policy: LicensePolicy = LicensePolicy(),
        module: ((TestCredential) throws -> any LadderModule)? = nil,
        source: ((ContentKeyRecord) -> any ContentKeySource)? = nil, recorder: DecisionRecorder? = nil,
        refusals: ((LoopContext) -> RefusalRecorder)? = nil, knowsRevocations: Bool = true,
        sessions: SessionTokens? = nil, slots: (any PlaybackSlotStore)? = nil,
        clock: any MonotonicClock = SystemMonotonicClock(),
        trustedClock: TrustedClock? = nil, livePeriods: RecentLivePeriods? = nil,
        _ adjust: (inout ContentKeyAttributes) -> Void = { _ in }
    ) throws {
        group = try EventLoopGroup(count: loopCount, computing: true)
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
        current = Mutex(
            LicenseRules(
                fairplay: .init(credentials: try CredentialSet([served]), policy: policy),
                entitlement: .init(
                    tokens: VerifiedTokenCache(verifier: TokenVerifier(issuers: issuers, sessions: sessions)))))
        var shared = SharedLicensing(
            keys: RecentContentKeys(source: source?(record) ?? OneKey(record: record)), operations: operations,
            revocations: KnownRevocations(knowsRevocations ? RevocationView() : nil, clock: trustedClock),
            // Measured by the machine's clock: much time may pass between two requests of a test, for example with a
            // sanitizer.
            copyLife: .seconds(3600), clock: clock)
        shared.recorder = recorder
        shared.slots = slots
        shared.refusals = refusals?(group.loops[0])
        shared.pseudonyms = try SampleDecisions.pseudonyms()
        shared.challenges = ServerChallenges(
            store: MemoryCellStore(), pseudonyms: try SampleDecisions.pseudonyms())
        shared.trustedClock = trustedClock
        shared.livePeriods = livePeriods
        self.shared = shared
        pipelines = LicensePipelines(shared)
    }

    /// The rules in force.
    var rules: LicenseRules { current.withLock { $0 } }

    /// Puts changed rules in force, as a reload does. Verified tokens are forgotten.
    func reload(_ change: (inout ChangedRules) throws -> Void) rethrows {
        var changed = ChangedRules(rules)
        try change(&changed)
        current.withLock { [rules = changed.rules] in $0 = rules }
    }

    /// The rules that a test may change.
    struct ChangedRules {
        var credentials: CredentialSet
        var policy: LicensePolicy
        var servedVersions: Set<UInt32>
        var verifier: TokenVerifier
        var finder: TokenFinder
        var entitlementPolicy: EntitlementPolicy
        var callback: CallbackDecider?
        var rates: RequestRates
        var overload: OverloadLimits

        fileprivate init(_ rules: LicenseRules) {
            credentials = rules.fairplay.credentials
            policy = rules.fairplay.policy
            servedVersions = rules.fairplay.servedVersions
            verifier = rules.entitlement.tokens.verifier
            finder = rules.entitlement.finder
            entitlementPolicy = rules.entitlement.policy
            callback = rules.callback
            rates = rules.rates
            overload = rules.overload
        }

        fileprivate var rules: LicenseRules {
            LicenseRules(
                fairplay: .init(credentials: credentials, policy: policy, servedVersions: servedVersions),
                entitlement: .init(
                    tokens: VerifiedTokenCache(verifier: verifier), finder: finder, policy: entitlementPolicy),
                callback: callback, rates: rates, overload: overload)
        }
    }

    static func sessions(maximumLife: Int64 = SessionTokens.lifeDefault) throws -> SessionTokens {
        let key = try HMACSHA256Key(SecretBytes(copying: [UInt8](repeating: 0x5E, count: 32)))
        return try SessionTokens(key: key, maximumLife: maximumLife)
    }

    deinit {
        // The last reference may be released on the loop, and the loop cannot wait for itself.
        Thread.detachNewThread { [group] in group.stop(within: .seconds(10)) }
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

    /// Returns a token of the issuer "portal" with these members and the usual times.
    func token(claims: String) throws -> [UInt8] {
        let payload =
            #"{"iss":"portal","aud":"latchkey","iat":\#(Self.now),"exp":\#(Self.now + 3600),\#(claims)}"#
        return Array(try TokenMinter(keyID: "test", es256: signingKey).sign(Array(payload.utf8)).utf8)
    }

    private static func sealingKey() throws -> TokenSealingKey {
        TokenSealingKey(id: 7, key: try AES256GCMKey(SecretBytes(copying: [UInt8](repeating: 9, count: 32))))
    }

    /// Returns a sealed token, as it stands in a URL. It is valid for five minutes.
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

    /// Returns a request of a device that announces all that `adjust` sets.
    func deviceRequest(
        _ version: SPCVersion, _ adjust: (inout DeviceOptions) -> Void
    ) throws -> DeviceRequest {
        var options = DeviceOptions(version: version, assetID: Array("movie-1".utf8))
        options.playbackState = MediaPlaybackState(createdAt: 1, state: .readyToStart, sessionID: 2)
        adjust(&options)
        return try credential.makeDevice(version, using: CryptoContext()).makeRequest(options)
    }

    /// Returns the license for a request, or the error. A sync report counts as a failure of the test.
    func issue(
        _ message: [UInt8], token: [UInt8]?, for use: LicenseUse = .streaming, now: Int64 = now, loopIndex: Int = 0
    ) async -> Result<IssuedLicense, LicenseError> {
        await outcome(of: message, token: token, for: use, now: now, loopIndex: loopIndex).map { outcome in
            switch outcome {
            case .license(let license): license
            case .syncReport: preconditionFailure("an ordinary SPC contains no report")
            case .playbackEnded: preconditionFailure("the device did not say that it has stopped")
            }
        }
    }

    /// Sends a request through both stages on a loop, as an endpoint does.
    func outcome(
        of message: [UInt8], token: [UInt8]?, for use: LicenseUse = .streaming, now: Int64 = now, loopIndex: Int = 0
    ) async -> Result<LicenseOutcome, LicenseError> {
        await outcome(of: LicenseRequest(message: message, use: use), token: token, now: now, loopIndex: loopIndex)
    }

    func outcome(
        of request: LicenseRequest, token: [UInt8]?, header: String = "Authorization", now: Int64 = now,
        loopIndex: Int = 0
    ) async -> Result<LicenseOutcome, LicenseError> {
        await onLoop(loopIndex) { [pipelines, rules] loop async throws(LicenseError) in
            let pipeline = try pipelines.pipeline(on: loop)
            let admission = try pipeline.admissionControl.admit(
                request, presenting: Self.carriers(of: token, in: header), under: rules, now: now)
            return try await pipeline.answer(admission, now: now)
        }
    }

    /// Returns the head of a request, with a token in a header.
    static func carriers(of token: [UInt8]?, in header: String = "Authorization") -> TokenCarriers {
        let scheme = header == "Authorization" ? "Bearer " : ""
        return TokenCarriers { name in
            guard let token, name == header else { return [] }
            return [scheme + String(decoding: token, as: UTF8.self)]
        }
    }

    func claims(of token: [UInt8]?) async -> Result<Claims, LicenseError> {
        await holder(of: token).map(\.claims)
    }

    /// Returns the sender of a request that costs no RSA.
    func holder(
        of token: [UInt8]?, from origin: RequestOrigin = RequestOrigin()
    ) async -> Result<TokenHolder, LicenseError> {
        await sender(of: token, from: origin).map { sender in
            guard let holder = sender.holder else { preconditionFailure("the token is for the operator's service") }
            return holder
        }
    }

    func sender(
        of token: [UInt8]?, header: String = "Authorization", from origin: RequestOrigin = RequestOrigin()
    ) async -> Result<TokenSender, LicenseError> {
        await onLoop(0) { [pipelines, rules] loop async throws(LicenseError) in
            try pipelines.pipeline(on: loop).admissionControl.admitSender(
                presenting: Self.carriers(of: token, in: header), from: origin, under: rules, now: Self.now)
        }
    }

    func challenge(
        token: [UInt8]?, header: String = "Authorization", from origin: RequestOrigin = RequestOrigin()
    ) async -> Result<ServerChallenges.Issued, LicenseError> {
        await onLoop(0) { [pipelines, rules] loop async throws(LicenseError) in
            let pipeline = try pipelines.pipeline(on: loop)
            let sender = try pipeline.admissionControl.admitSender(
                presenting: Self.carriers(of: token, in: header), from: origin, under: rules, now: Self.now)
            return try await pipeline.issueChallenge(to: sender, now: Self.now)
        }
    }

    /// Returns the holder that the operator's service names for a token, if it is asked about a content.
    func holder(
        of token: [UInt8], header: String, asking content: CallbackQuestion.Content
    ) async -> Result<TokenHolder, LicenseError> {
        await onLoop(0) { [pipelines, rules] loop async throws(LicenseError) in
            let pipeline = try pipelines.pipeline(on: loop)
            let sender = try pipeline.admissionControl.admitSender(
                presenting: Self.carriers(of: token, in: header), from: RequestOrigin(), under: rules, now: Self.now)
            return try await pipeline.holder(sender, asking: content, now: Self.now)
        }
    }

    func onLoop<Value: Sendable>(
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
