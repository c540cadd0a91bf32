import ByteCoding
import ContentKeys
import Entitlements
import EventLoops
import FairPlay
import KeyCrypto

/// The way of a licence request on one loop, each stage giving what the next one needs (architecture, "The life of a request").
///
///     LicenseRequest -> Admission -> SPC -> ContentKeyRecord -> Authorization -> LicenseTerms -> CKC
///
/// RSA is bought only by an `Admission`. Admission needs no private key, and a verified token, with one exception: if only the operator's
/// service can read the token, it is told which content and device it decides on, and both stand inside the SPC. `AdmissionControl` bounds
/// what that costs. Once the service has decided, the rest of the way is that of any claims:
///
///     LicenseRequest -> Admission -> SPC -> ContentKeyRecord -> [the service] -> Claims -> Authorization -> …
///
/// Belongs to its loop, like the contexts in it, which one thread uses at a time without a lock.
package final class LicensePipeline {
    package let admissionControl: AdmissionControl
    private let crypto: CryptoContext
    private let opener: SPCOpener
    private let unwraps: UnwrapQueue
    private let keys: RecentContentKeys
    private let revocations: KnownRevocations
    private let refusals: RefusalRecorder?
    private let issuer: LicenseIssuer
    private let syncReports: SyncReports
    private let loop: LoopContext

    init(_ shared: SharedLicensing, on loop: LoopContext) throws(CryptoError) {
        crypto = try CryptoContext()
        opener = try SPCOpener(using: crypto)
        unwraps = UnwrapQueue(
            unwrapper: OpenSSLRSAUnwrapper(counting: shared.operations), counts: shared.overload, on: loop)
        admissionControl = AdmissionControl(shared, using: crypto, on: loop)
        issuer = LicenseIssuer(shared, using: crypto, on: loop)
        syncReports = SyncReports(shared, using: crypto)
        keys = shared.keys
        revocations = shared.revocations
        refusals = shared.refusals
        self.loop = loop
    }

    /// The expensive part: waits for a turn, opens the SPC, and writes the licence, or takes the report that the SPC carries. Stays on the
    /// loop. `now` is in seconds since 1970.
    package func answer(_ admission: Admission, now: Int64) async throws(LicenseError) -> LicenseOutcome {
        try await admissionControl.waitForTurn(of: admission)
        switch admission.standing {
        case .verified(let claims): return try await answer(admission, by: claims, now: now)
        case .undecided(let callback): return try await answer(admission, asking: callback, now: now)
        }
    }

    /// A number for the holder of a token, by which a sync report shows that it is fresh. Waits for a turn. Stays on the loop.
    package func issueChallenge(
        to holder: TokenHolder, now: Int64
    ) async throws(LicenseError) -> ServerChallenges.Issued {
        // A report about a content outside the issuer's scope is refused: it needs no challenge.
        guard holder.claims.mayOpenAnything else { throw .entitlement(.contentNotCovered) }
        try await admissionControl.waitForTurn(of: holder)
        return try await syncReports.issueChallenge(to: holder.claims, now: now)
    }

    private func answer(
        _ admission: Admission, by claims: Claims, now: Int64
    ) async throws(LicenseError) -> LicenseOutcome {
        var asset: AssetReference?
        do throws(LicenseError) {
            let spc = try await open(admission)
            asset = AssetReference(try spc.identifiedAsset)
            return try await outcome(of: admission, spc, claims, now: now)
        } catch {
            refusals?.note(error, claims, asset: asset, now: now, request: admission.request.id)
            throw error
        }
    }

    private func answer(
        _ admission: Admission, asking callback: CallbackDecider, now: Int64
    ) async throws(LicenseError) -> LicenseOutcome {
        let spc = try await open(admission)
        let decision = try await decide(admission, spc, callback, now: now)
        do throws(LicenseError) {
            try revocations.check(decision.claims, now: now)
            let outcome = try await outcome(of: admission, spc, decision.claims, now: now)
            if case .license(let license) = outcome { callback.noteIssued(decision, lease: license.terms.lease?.value) }
            return outcome
        } catch {
            refusals?.note(
                error, decision.claims, asset: AssetReference(try spc.identifiedAsset), now: now,
                request: admission.request.id)
            throw error
        }
    }

    private func outcome(
        of admission: Admission, _ spc: SPC, _ claims: Claims, now: Int64
    ) async throws(LicenseError) -> LicenseOutcome {
        let record = try await keys.record(for: spc, claims: claims)
        let request = OpenedRequest(
            admission: admission, claims: claims, spc: spc, key: record.attributes,
            revocations: try revocations.known())
        if let report = spc.syncReport {
            return .syncReport(try await syncReports.accept(report, in: request, now: now))
        }
        return .license(try await issuer.issue(record, to: request, now: now))
    }

    private func open(_ admission: Admission) async throws(LicenseError) -> SPC {
        let job = try unwrapJob(for: admission)
        let isSettled = await unwraps.unwrap(job, isUrgent: admission.isRenewal, limits: admission.rules.overload)
        guard isSettled else { throw .overloaded }
        return try open(admission, unwrapped: job)
    }

    private func unwrapJob(for admission: Admission) throws(LicenseError) -> RSAUnwrapJob {
        try wrap(
            LicenseError.spc, try opener.unwrapJob(for: admission.envelope, with: admission.credentialKey))
    }

    private func open(_ admission: Admission, unwrapped job: RSAUnwrapJob) throws(LicenseError) -> SPC {
        try wrap(
            LicenseError.spc,
            try opener.open(
                admission.envelope, with: admission.credentialKey, unwrapped: job,
                servedVersions: admission.rules.fairplay.servedVersions))
    }

    /// Asks the operator's service, which is told the content and the device.
    private func decide(
        _ admission: Admission, _ spc: SPC, _ callback: CallbackDecider, now: Int64
    ) async throws(LicenseError) -> CallbackDecider.Decision {
        let record = try await keys.record(for: spc, claims: nil)
        let question = try admission.question(about: spc, record.attributes, using: crypto)
        return try await callback.decide(
            question, tokens: admission.rules.entitlement.tokens, wallTime: now, using: crypto, on: loop)
    }
}

extension Admission {
    fileprivate func question(
        about spc: SPC, _ key: ContentKeyAttributes, using crypto: CryptoContext
    ) throws(LicenseError) -> CallbackQuestion {
        let playback = spc.device.playbackState
        let id = try wrap(LicenseError.internalFailure, try crypto.randomBytes16())
        var question = CallbackQuestion(
            messageID: KeyID(words: id), token: try CallbackDecider.single(token), content: RequestedContent(key),
            use: request.use ?? .streaming)
        question.device = spc.sessionKeys.flatMap { DeviceIdentifier($0.deviceID.bytes) }
        question.session = playback?.sessionID
        question.address = request.origin.address
        question.isRenewal = request.renewal.isRenewal || playback?.state == .leaseExpiring
        return question
    }
}
