import ByteCoding
import ContentKeys
package import Entitlements
package import EventLoops
package import FairPlay
package import KeyCrypto
import Records
import Synchronization

/// The way of a licence request, each stage giving what the next one needs (architecture, "The life of a request").
///
///     LicenseRequest -> Claims + SPCEnvelope -> SPC -> ContentKeyRecord -> Authorization -> LicenseTerms -> CKC
///
/// RSA is bought only by a verified token: `admit` needs no private key, and only what it admitted can be issued.
package final class LicenseIssuer: Sendable {
    private let credentials: CredentialSet
    let tokens: VerifiedTokenCache
    let keys: RecentContentKeys
    private let policy: LicensePolicy
    private let entitlementPolicy: Mutex<EntitlementPolicy>
    /// Nil until it is known for the first time: nobody gets anything before.
    private let revocations: Mutex<RevocationView?>
    let recorder: DecisionRecorder?
    let refusals: RefusalRecorder?
    private let history: (any LicenseHistory)?
    let callback: CallbackDecider?
    let challenges: ServerChallenges?
    private let servedVersions: Set<UInt32>
    private let operations: RSAOperationCount
    private let perLoop: LoopLocal<Result<LoopLicensing, CryptoError>>

    /// `servedVersions` are the FairPlay protocol versions; `operations` counts RSA private operations. Without a recorder no ledger is
    /// kept, and a token that demands to be counted is refused. Where `revocations` are not known yet, every token is refused. Without a
    /// history no renewal names the licence before it.
    package init(
        credentials: CredentialSet, tokens: VerifiedTokenCache, keys: RecentContentKeys,
        policy: LicensePolicy = LicensePolicy(), entitlementPolicy: EntitlementPolicy = EntitlementPolicy(),
        recorder: DecisionRecorder? = nil, refusals: RefusalRecorder? = nil,
        revocations: RevocationView? = RevocationView(),
        history: (any LicenseHistory)? = nil, callback: CallbackDecider? = nil,
        challenges: ServerChallenges? = nil, servedVersions: Set<UInt32>, operations: RSAOperationCount,
        overload: OverloadLimits = OverloadLimits(), overloadCounts: OverloadCounts = OverloadCounts()
    ) {
        self.credentials = credentials
        self.tokens = tokens
        self.keys = keys
        self.policy = policy
        self.entitlementPolicy = Mutex(entitlementPolicy)
        self.recorder = recorder
        self.refusals = refusals
        self.revocations = Mutex(revocations)
        self.history = history
        self.callback = callback
        self.challenges = challenges
        self.servedVersions = servedVersions
        self.operations = operations
        perLoop = LoopLocal { loop in
            Result { () throws(CryptoError) in
                try LoopLicensing(
                    servedVersions: servedVersions, operations: operations, overload: overload, counts: overloadCounts,
                    on: loop)
            }
        }
    }

    /// Explains requests by what is in force at this moment.
    package func explainer() -> LicenseExplainer {
        LicenseExplainer(
            credentials: credentials, verifier: tokens.currentVerifier, keys: keys, policy: policy,
            entitlementPolicy: entitlementPolicy.withLock { $0 },
            revocations: revocations.withLock { $0 } ?? RevocationView(), servedVersions: servedVersions,
            operations: operations)
    }

    var currentPolicy: EntitlementPolicy { entitlementPolicy.withLock { $0 } }

    /// Takes the profiles and the floor of a new configuration, for what is decided from now on.
    package func replaceEntitlementPolicy(with policy: EntitlementPolicy) {
        entitlementPolicy.withLock { $0 = policy }
    }

    /// Takes what is revoked from now on; what was verified before is verified anew.
    package func replaceRevocations(with view: RevocationView) {
        revocations.withLock { $0 = view }
        tokens.removeAll()
    }

    /// A request whose token has been verified and whose SPC names a credential; nothing has been decrypted.
    package struct Admission: Sendable {
        package let claims: Claims
        package let envelope: SPCEnvelope
        package let credentialKey: CredentialKey
        package let use: LicenseUse
        /// The SPC and the token as they came: a request that comes again is known by them.
        let message: [UInt8]
        let token: PresentedToken
        let origin: RequestOrigin
        let renewal: RenewalWish
        /// Whether the operator's service has decided about the token, which nobody here can read.
        var isDecidedByService = false

        /// Whether a playback that goes on asks, by its token or in its own words: it goes first in a crowd, and is granted nothing more.
        package var isRenewal: Bool { claims.renewal != nil || renewal.isRenewal }
    }

    /// The cheap part, done at once on the loop: the token first, then the container. `now` is in seconds since 1970.
    package func admit(
        _ request: LicenseRequest, now: Int64, on loop: LoopContext
    ) throws(LicenseError) -> Admission {
        let licensing = try licensing(on: loop)
        guard let token = request.token else { throw .tokenMissing }
        let claims = try verify(token, now: now, using: licensing.crypto)
        let (envelope, key) = try container(of: request.message)
        return Admission(
            claims: claims, envelope: envelope, credentialKey: key, use: request.use, message: request.message,
            token: token, origin: request.origin, renewal: request.renewal)
    }

    func container(of message: [UInt8]) throws(LicenseError) -> (SPCEnvelope, CredentialKey) {
        do throws(SPCError) {
            let envelope = try SPCEnvelope(parsing: message, served: credentials.servedVersions)
            return (envelope, try credentials.key(for: envelope))
        } catch {
            throw .spc(error)
        }
    }

    /// The claims of a token of which nothing is revoked.
    func verify(_ token: PresentedToken, now: Int64, using crypto: CryptoContext) throws(LicenseError) -> Claims {
        _ = try knownRevocations()
        let claims: Claims
        do throws(EntitlementError) {
            claims = try tokens.verify(token, now: now, crypto: crypto)
        } catch {
            throw .entitlement(error)
        }
        do throws(LicenseError) {
            try checkRevocations(of: claims, now: now)
            return claims
        } catch {
            refusals?.note(error, claims, now: now)
            throw error
        }
    }

    /// What the claims alone tell of revocations.
    func checkRevocations(of claims: Claims, now: Int64) throws(LicenseError) {
        let revocations = try knownRevocations()
        do throws(EntitlementError) {
            try revocations.check(claims, now: now)
        } catch {
            throw .entitlement(error)
        }
    }

    func knownRevocations() throws(LicenseError) -> RevocationView {
        guard let known = revocations.withLock({ $0 }) else { throw .store(.unavailable(.unreachable)) }
        return known
    }

    /// The dear part: opens the SPC and writes the licence, or takes the report that it carries. Stays on `loop`.
    package func issue(
        _ admission: Admission, now: Int64, on loop: LoopContext
    ) async throws(LicenseError) -> LicenseOutcome {
        let licensing = try licensing(on: loop)
        var asset: AssetReference?
        do throws(LicenseError) {
            let spc = try await Self.open(
                admission.envelope, with: admission.credentialKey, isUrgent: admission.isRenewal, licensing)
            asset = AssetReference(try Self.assetID(of: spc))
            return try await outcome(for: spc, admission, now: now, using: licensing.crypto, on: loop)
        } catch {
            refusals?.note(error, admission.claims, asset: asset, now: now)
            throw error
        }
    }

    func outcome(
        for spc: SPC, _ admission: Admission, now: Int64, using crypto: CryptoContext, on loop: LoopContext
    ) async throws(LicenseError) -> LicenseOutcome {
        if let report = spc.syncReport {
            return .syncReport(try await accept(report, in: spc, admission, now: now, using: crypto))
        }
        return .license(try await license(for: spc, admission, now: now, using: crypto, on: loop))
    }

    /// Finds the key, asks the gate, has the decision recorded, and writes the licence.
    ///
    /// The key is wrapped before the decision is recorded, because a module may fail at it, and nothing may be spent on a licence that
    /// never was.
    func license(
        for spc: SPC, _ admission: Admission, now: Int64, using crypto: CryptoContext, on loop: LoopContext
    ) async throws(LicenseError) -> IssuedLicense {
        let record = try await record(for: spc, claims: admission.claims)
        let request = DecidedRequest(
            admission: admission, spc: spc, device: spc.device, key: record.attributes,
            policy: currentPolicy, revocations: try knownRevocations())
        let id = try Self.newID(at: now, using: crypto)
        var granted = try grant(request, at: now, as: id, using: crypto)
        let contentKey = try await Self.wrap(record, for: spc, using: crypto)
        let deviceID = contentKey.deviceID
        if request.dependsOnDevice { granted = try grant(request, to: deviceID, at: now, as: id, using: crypto) }
        try checkSession(of: request, deviceID)
        let recorded = try await self.record(granted, of: request, deviceID, using: crypto, on: loop)
        return IssuedLicense(
            ckc: try Self.write(for: spc, contentKey: contentKey, terms: recorded.terms, using: crypto),
            id: recorded.id, times: recorded.times,
            sessionToken: try sessionToken(for: recorded, of: request, deviceID, using: crypto),
            isRepeated: recorded.id != granted.id,
            authorization: recorded.authorization, terms: recorded.terms, key: record.attributes, spc: spc,
            device: request.device, deviceID: contentKey.deviceID,
            credentialName: admission.credentialKey.credentialName)
    }

    /// What the gate and the device's abilities come to at an instant: the same for the same arguments.
    ///
    /// As long as HU is not known, because only the opened SK..R1 block shows it, the device counts as the one that the token names.
    private func grant(
        _ request: DecidedRequest, to deviceID: DeviceID? = nil, at now: Int64, as id: LicenseID,
        using crypto: CryptoContext
    ) throws(LicenseError) -> GrantedLicense {
        let authorization = try Self.authorize(request.gateRequest(to: deviceID, at: now))
        let terms = try terms(for: authorization, key: request.key, device: request.device, using: crypto)
        return GrantedLicense(id: id, authorization: authorization, terms: terms, issuedAt: now)
    }

    private static func newID(at now: Int64, using crypto: CryptoContext) throws(LicenseError) -> LicenseID {
        do throws(CryptoError) {
            return LicenseID(milliseconds: UInt64(max(0, now)) * 1000, random: try crypto.randomBytes16())
        } catch {
            throw .internalFailure(error)
        }
    }

    /// Returns what may be answered: this licence once it is recorded, or the one that the same request was given before.
    private func record(
        _ license: GrantedLicense, of request: DecidedRequest, _ deviceID: DeviceID, using crypto: CryptoContext,
        on loop: LoopContext
    ) async throws(LicenseError) -> GrantedLicense {
        guard let recorder else {
            guard license.authorization.obligations.isEmpty else { throw .store(.unavailable(.notWritable)) }
            return license
        }
        var decision = try recorder.decision(on: license, of: request, deviceID, using: crypto)
        if decision.entry.previous == nil {
            decision.entry.previous = await previousLicense(of: request, decision.entry, on: loop)
        }
        let outcome: DecisionOutcome
        do throws(StoreError) {
            outcome = try await recorder.record(decision)
        } catch {
            throw .store(error)
        }
        switch outcome {
        case .recorded: return license
        case .denied(let denial): throw .denied(denial)
        case .repeated(let bytes):
            guard let answer = RecordedAnswer(bytes) else { throw .store(.recordMalformed) }
            // The SPC does not say what it was for: a second use is another licence.
            guard answer.use == request.admission.use else { throw .denied(.replayed) }
            // The device counts from when it gets the answer, so the terms are those of now.
            return license.renamed(answer.license)
        }
    }

    /// The licence that this one follows, where that must be looked up: for a key that a device keeps, and where the app names one.
    private func previousLicense(
        of request: DecidedRequest, _ entry: LedgerEntry, on loop: LoopContext
    ) async -> LicenseID? {
        let wish = request.admission.renewal
        guard let history, wish.isRenewal, request.admission.use == .offline, let device = entry.device else {
            return nil
        }
        return await history.previousLicense(
            like: PreviousLicense(
                device: device, keyID: request.key.keyID, subject: entry.subject, named: wish.previous),
            on: loop)
    }

    func licensing(on loop: LoopContext) throws(LicenseError) -> LoopLicensing {
        switch loop.value(of: perLoop) {
        case .success(let licensing): return licensing
        case .failure(let error): throw .internalFailure(error)
        }
    }

    static func open(
        _ envelope: SPCEnvelope, with key: CredentialKey, isUrgent: Bool, _ licensing: LoopLicensing
    ) async throws(LicenseError) -> SPC {
        let job = try unwrapJob(for: envelope, with: key, licensing)
        guard await licensing.unwraps.unwrap(job, isUrgent: isUrgent, limits: licensing.overload) else {
            throw .overloaded
        }
        do throws(SPCError) {
            return try licensing.opener.open(
                envelope, with: key, unwrapped: job, servedVersions: licensing.servedVersions)
        } catch {
            throw .spc(error)
        }
    }

    private static func unwrapJob(
        for envelope: SPCEnvelope, with key: CredentialKey, _ licensing: LoopLicensing
    ) throws(LicenseError) -> RSAUnwrapJob {
        do throws(SPCError) {
            return try licensing.opener.unwrapJob(for: envelope, with: key)
        } catch {
            throw .spc(error)
        }
    }

    /// The key that the token brings along, or the one that the SPC's asset id names. What a sender without rights to an unknown asset hears
    /// is what a known asset would give.
    func record(for spc: SPC, claims: Claims) async throws(LicenseError) -> ContentKeyRecord {
        try await Self.record(for: spc, claims: claims, in: keys)
    }

    /// Without claims nobody has vouched for the sender, who hears of no asset whether it is known.
    static func record(
        for spc: SPC, claims: Claims?, in keys: RecentContentKeys
    ) async throws(LicenseError) -> ContentKeyRecord {
        if let claims, let key = claims.embeddedKey { return try ContentKeyRecord(key, of: claims) }
        let assetID = try Self.assetID(of: spc)
        let record: ContentKeyRecord?
        do throws(StoreError) {
            record =
                if let claims {
                    try await keys.record(for: assetID, orNamedBy: claims)
                } else {
                    try await keys.record(for: assetID)
                }
        } catch {
            if case .contentAmbiguous = error { throw Self.missing(AssetReference(assetID), claims) }
            throw .store(error)
        }
        guard let record else { throw Self.missing(AssetReference(assetID), claims) }
        return record
    }

    static func assetID(of spc: SPC) throws(LicenseError) -> AssetID {
        do throws(IdentifierError) {
            return try AssetID(bytes: Array(spc.assetID))
        } catch {
            // An SPC with an asset id of another size was rejected before.
            throw .spc(.rejected(.wrongSize(tag: TLLVTag.assetID, size: spc.assetID.count)))
        }
    }

    private static func missing(_ reference: AssetReference, _ claims: Claims?) -> LicenseError {
        guard let claims else { return .contentUnknown }
        let isNamed = reference.candidates.contains { candidate in
            switch candidate {
            case .alias: false
            case .keyID(let keyID): Gate.namesAsset(claims, contentID: nil, keyID: keyID)
            case .contentID(let contentID): Gate.namesAsset(claims, contentID: contentID.text, keyID: nil)
            }
        }
        return isNamed ? .keyNotFound : .contentUnknown
    }

    private static func authorize(_ request: GateRequest) throws(LicenseError) -> Authorization {
        do throws(EntitlementError) {
            return try Gate.authorize(request)
        } catch {
            throw .entitlement(error)
        }
    }

    private func terms(
        for authorization: Authorization, key: ContentKeyAttributes, device: DeviceFacts, using crypto: CryptoContext
    ) throws(LicenseError) -> LicenseTerms {
        let titleID = try Self.titleID(of: key, for: authorization.limits, using: crypto)
        do throws(LicenseTermsError) {
            return try LicenseTerms(authorization, key: key, titleID: titleID, device: device, policy: policy)
        } catch {
            throw .terms(error)
        }
    }

    /// Only a device that keeps the key hears the title's id, which costs a digest.
    private static func titleID(
        of key: ContentKeyAttributes, for limits: LicenseLimits, using crypto: CryptoContext
    ) throws(LicenseError) -> Bytes16? {
        guard case .offline = limits else { return nil }
        do throws(CryptoError) {
            return try key.titleID(using: crypto)
        } catch {
            throw .internalFailure(error)
        }
    }

    /// Waits where an external module wraps the key.
    private static func wrap(
        _ record: ContentKeyRecord, for spc: SPC, using crypto: CryptoContext
    ) async throws(LicenseError) -> WrappedContentKey {
        do throws(LadderError) {
            return try await spc.wrap(
                record.key.bytes, iv: record.iv, for: ContentKeyUse(record.attributes), using: crypto)
        } catch {
            throw LicenseError(error)
        }
    }

    private static func write(
        for spc: SPC, contentKey: WrappedContentKey, terms: LicenseTerms, using crypto: CryptoContext
    ) throws(LicenseError) -> [UInt8] {
        do throws(CryptoError) {
            return try CKCWriter.write(for: spc, contentKey: contentKey, terms: terms, using: crypto)
        } catch {
            throw .internalFailure(error)
        }
    }
}
