import ByteCoding
package import ContentKeys
package import Entitlements
import EventLoops
import FairPlay
import KeyCrypto
import Records
package import Telemetry

/// Runs license requests through their stages on one loop (architecture, "The life of a request").
///
/// Each stage returns what the next one needs:
///
///     LicenseRequest -> Admission -> SPC -> ContentKeyRecord -> Authorization -> LicenseTerms -> CKC
///
/// An RSA operation is spent only for an `Admission`. An admission needs no private key, but a verified token, with one
/// exception: a token that only the operator's service can read. The service must be told the content and the device,
/// and both stand inside the SPC. `AdmissionControl` limits what that costs. Once the service has decided, the request
/// goes on as with any claims:
///
///     LicenseRequest -> Admission -> SPC -> ContentKeyRecord -> [the service] -> Claims -> Authorization -> …
///
/// Belongs to its loop, like the contexts in it: only the loop's thread uses them, so they need no lock. The
/// RSA backend alone also runs on the thread beside the loop (`UnwrapQueue`).
package final class LicensePipeline: @unchecked Sendable {
    // Safe to send: only calls and tasks of its loop use it.
    package let admissionControl: AdmissionControl
    private let crypto: CryptoContext
    private let opener: SPCOpener
    private let unwraps: UnwrapQueue
    private let recentUnwraps: RecentUnwraps
    private let keys: RecentContentKeys
    private let periods: ServedPeriods
    private let revocations: KnownRevocations
    private let refusals: RefusalRecorder?
    private let pseudonyms: Pseudonymizer?
    private let issuer: LicenseIssuer
    private let syncReports: SyncReports
    private let loop: LoopContext

    init(_ shared: SharedLicensing, on loop: LoopContext) throws(CryptoError) {
        crypto = try CryptoContext()
        opener = try SPCOpener(using: crypto)
        unwraps = UnwrapQueue(
            unwrapper: shared.makeUnwrapper(), counts: shared.overload, times: shared.unwrapTimes, on: loop)
        admissionControl = AdmissionControl(shared, using: crypto, on: loop)
        recentUnwraps = shared.recentUnwraps
        issuer = LicenseIssuer(shared, using: crypto, on: loop)
        syncReports = SyncReports(shared, using: crypto)
        keys = shared.keys
        periods = shared.periods
        revocations = shared.revocations
        refusals = shared.refusals
        pseudonyms = shared.pseudonyms
        self.loop = loop
    }

    /// The expensive part: waits for a turn, opens the SPC, and writes the license, or takes the report that the SPC
    /// carries. Stays on the loop. `now` is in seconds since 1970.
    package func answer(_ admission: Admission, now: Int64) async throws(LicenseError) -> LicenseOutcome {
        try await admissionControl.waitForTurn(of: admission)
        return try await answerInTurn(admission, now: now)
    }

    /// Does the same for a request whose turn has come.
    func answerInTurn(_ admission: Admission, now: Int64) async throws(LicenseError) -> LicenseOutcome {
        switch admission.standing {
        case .verified(let held): return try await answer(admission, by: held, now: now)
        case .undecided(let callback): return try await answer(admission, asking: callback, now: now)
        }
    }

    /// Issues a challenge to the sender of a token, so that a sync report can prove that it is fresh. Waits for a turn.
    /// Stays on the loop.
    package func issueChallenge(
        to sender: TokenSender, now: Int64
    ) async throws(LicenseError) -> ServerChallenges.Issued {
        // A token that may open no content gets no challenge, because all its reports are refused.
        if let holder = sender.holder, !holder.claims.mayOpenAnything { throw .entitlement(.contentNotCovered) }
        try await admissionControl.waitForTurn(of: sender)
        return try await syncReports.issueChallenge(to: sender.party, now: now)
    }

    /// Asks the operator's service about a sender's token and a content, and returns the sender with the claims that
    /// the service allows.
    ///
    /// Stays on the loop. Throws `entitlementDenied` and `entitlementUnavailable`.
    package func holder(
        _ sender: TokenSender, asking content: CallbackQuestion.Content, trace: TraceContext? = nil, now: Int64
    ) async throws(LicenseError) -> TokenHolder {
        guard case .undecided(let callback) = sender.standing else { throw .tokenMissing }
        var question = CallbackQuestion(
            messageID: try messageID(), token: try CallbackDecider.single(sender.token), content: content,
            use: .streaming)
        question.address = sender.origin.address
        question.trace = trace
        let claims = try await callback.decide(
            question, tokens: sender.rules.entitlement.tokens, wallTime: now, using: crypto, on: loop
        ).claims
        try revocations.check(claims, now: now)
        return TokenHolder(claims: claims, origin: sender.origin, rules: sender.rules)
    }

    private func answer(
        _ admission: Admission, by held: HeldClaims, now: Int64
    ) async throws(LicenseError) -> LicenseOutcome {
        var spc: SPC?
        do throws(LicenseError) {
            let opened = try await open(admission)
            spc = opened.spc
            return try await outcome(of: admission, opened, held, now: now)
        } catch {
            note(error, of: admission, held.claims, spc, now: now)
            throw error
        }
    }

    private func answer(
        _ admission: Admission, asking callback: CallbackDecider, now: Int64
    ) async throws(LicenseError) -> LicenseOutcome {
        let opened = try await open(admission)
        let spc = opened.spc
        // If the service refuses, nothing else is noted.
        admission.note(DeviceSummary(spc.device))
        let decision = try await decide(admission, spc, callback, now: now)
        do throws(LicenseError) {
            try admissionControl.count(
                decision.claims, of: admission.token, isRenewal: false, admission.rules)
            try revocations.check(decision.claims, now: now)
            let outcome = try await outcome(of: admission, opened, HeldClaims(decision.claims), now: now)
            if case .license(let license) = outcome { callback.noteIssued(decision, lease: license.terms.lease?.value) }
            return outcome
        } catch {
            note(error, of: admission, decision.claims, spc, now: now)
            throw error
        }
    }

    /// Notes whose request was refused and what it asked for, and gives it a row.
    private func note(
        _ error: LicenseError, of admission: Admission, _ claims: Claims, _ spc: SPC?, now: Int64
    ) {
        let asset = (try? spc?.identifiedAsset).map { keys.reference(to: $0) }
        var found = RefusalFacts()
        found.add(claims, pseudonyms)
        if !error.isRejection {
            if let asset { found.add(asset) }
            if let spc { admission.note(DeviceSummary(spc.device)) }
        }
        found.add(CheckedValues(error, from: admission.request.origin, nil, under: admission.rules))
        admission.note(found)
        refusals?.note(
            error, claims, admission.refusalFacts, asset: asset, from: admission.refusedDevice, now: now,
            request: admission.request.id)
    }

    private func outcome(
        of admission: Admission, _ opened: OpenedSPC, _ held: HeldClaims, now: Int64
    ) async throws(LicenseError) -> LicenseOutcome {
        let spc = opened.spc
        let record = try await keys.record(for: spc, claims: held)
        for hint in admission.request.assetHints
        where !hint.agrees(with: record.attributes, try spc.identifiedAsset, keys.forms) {
            throw .hintMismatch(hint.place)
        }
        var request = OpenedRequest(
            admission: admission, claims: held, spc: spc, key: record.attributes,
            revocations: try revocations.known(), digest: opened.digest)
        do throws(LicenseError) {
            if let report = spc.syncReport {
                return .syncReport(try await syncReports.accept(report, in: request, now: now))
            }
            try await periods.check(record.attributes, for: held, now: now)
            return try await issuer.issue(record, to: &request, now: now)
        } catch {
            if !error.isRejection {
                var found = RefusalFacts()
                found.add(record.attributes)
                found.add(CheckedValues(error, in: request, now: now))
                admission.note(found)
            }
            throw error
        }
    }

    private struct OpenedSPC {
        let spc: SPC
        /// SHA-256 of the message.
        let digest: Pseudonym
    }

    /// Opens the SPC. A copy of an SPC that was opened lately or is being opened costs no RSA operation.
    private func open(_ admission: Admission) async throws(LicenseError) -> OpenedSPC {
        let digest = try wrap(
            LicenseError.internalFailure, try Pseudonym(digesting: admission.request.message, using: crypto))
        switch await recentUnwraps.begin(digest, at: loop.now) {
        case .known(let job): return OpenedSPC(spc: try open(admission, unwrapped: job), digest: digest)
        case .failed: throw .overloaded
        case .isNew: break
        }
        let job: RSAUnwrapJob
        do throws(LicenseError) {
            job = try await unwrap(admission)
        } catch {
            _ = recentUnwraps.end(digest, at: loop.now, with: nil)
            throw error
        }
        if recentUnwraps.end(digest, at: loop.now, with: job) { sweepLater() }
        return OpenedSPC(spc: try open(admission, unwrapped: job), digest: digest)
    }

    private func unwrap(_ admission: Admission) async throws(LicenseError) -> RSAUnwrapJob {
        let job = try unwrapJob(for: admission)
        let isSettled = await unwraps.unwrap(job, isUrgent: admission.isRenewal, limits: admission.rules.overload)
        guard isSettled else { throw .overloaded }
        return job
    }

    private func sweepLater() { Self.sweep(recentUnwraps, after: recentUnwraps.life, on: loop) }

    private static func sweep(_ recent: RecentUnwraps, after delay: Duration, on loop: LoopContext) {
        _ = loop.schedule(after: delay) {
            if recent.sweep(at: loop.now) { sweep(recent, after: delay, on: loop) }
        }
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
    ///
    /// It is asked about an asset without a key too. So the sender gets the same refusal for every asset that the
    /// service refuses, whether the asset has a key or not.
    private func decide(
        _ admission: Admission, _ spc: SPC, _ callback: CallbackDecider, now: Int64
    ) async throws(LicenseError) -> CallbackDecider.Decision {
        let content = try await content(of: try spc.identifiedAsset)
        let question = try question(of: admission, about: spc, content)
        return try await callback.decide(
            question, tokens: admission.rules.entitlement.tokens, wallTime: now, using: crypto, on: loop)
    }

    /// The content that the operator's service is asked about for an asset. Throws `store` and `keyStore`.
    package func content(of assetID: AssetID) async throws(LicenseError) -> CallbackQuestion.Content {
        do throws(LicenseError) {
            return CallbackQuestion.Content(try await keys.record(ofAsset: assetID, claims: nil).attributes)
        } catch {
            switch error {
            case .contentUnknown, .schemeNotPlayed: break
            default: throw error
            }
            return CallbackQuestion.Content(
                unknown: keys.reference(to: assetID),
                digest: try wrap(LicenseError.internalFailure, try crypto.sha256(assetID.bytes)))
        }
    }

    private func messageID() throws(LicenseError) -> KeyID {
        KeyID(words: try wrap(LicenseError.internalFailure, try crypto.randomBytes16()))
    }

    private func question(
        of admission: Admission, about spc: SPC, _ content: CallbackQuestion.Content
    ) throws(LicenseError) -> CallbackQuestion {
        let playback = spc.device.playbackState
        var question = CallbackQuestion(
            messageID: try messageID(), token: try CallbackDecider.single(admission.token), content: content,
            use: admission.request.use ?? .streaming)
        question.device = spc.sessionKeys.flatMap { DeviceIdentifier($0.deviceID.bytes) }
        question.session = playback?.sessionID
        question.address = admission.request.origin.address
        question.trace = admission.request.trace
        question.isRenewal = admission.request.renewal.isRenewal || playback?.state == .leaseExpiring
        return question
    }
}

extension LicenseError {
    /// Whether an SPC was rejected. Its log line has the same facts for every cause, because it must take the same
    /// time.
    fileprivate var isRejection: Bool {
        if case .spc(.rejected) = self { return true }
        return false
    }
}

extension CallbackQuestion.Content {
    package init(_ key: ContentKeyAttributes) {
        self.init(contentID: key.contentID.text, keyID: key.keyID, track: key.trackLabel?.text)
    }

    /// Describes an asset without a key: by its content id or key id, or else by `digest`, the SHA-256 of the asset id.
    package init(unknown asset: AssetReference, digest: [UInt8]) {
        var (contentID, keyID): (String?, KeyID?)
        for candidate in asset.candidates {
            switch candidate {
            case .alias: break
            case .contentID, .track: contentID = contentID ?? candidate.contentID?.text
            case .keyID(let id): keyID = keyID ?? id
            }
        }
        self.init(
            contentID: contentID ?? keyID?.description ?? Hexadecimal.encode(digest),
            keyID: keyID ?? KeyID(words: Bytes16(digest, at: 0)))
    }
}
