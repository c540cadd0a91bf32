import ByteCoding
package import ContentKeys
package import Entitlements
import FairPlay
import KeyCrypto
package import Records
import Synchronization

/// Records decisions as the ledger's mode demands (architecture, "The ledger").
package final class DecisionRecorder: Sendable {
    package enum Mode: String, Sendable, CaseIterable {
        /// A license is given only if its ledger entry was written.
        case required
        /// If nothing can be recorded, a license that spends nothing or that a session token renews is given all the
        /// same. Such licenses are counted.
        case bestEffort = "best-effort"
    }

    /// 90 days.
    package static let deviceLifeDefault: Int64 = 90 * 86_400
    /// Longer than a player repeats a request whose answer it has not got.
    package static let retryWindowDefault: Int64 = 120

    package let pseudonyms: Pseudonymizer
    /// How long the same request with the same token gets the same answer, in seconds.
    package let retryWindow: Int64
    /// How long a subject's device keeps its place after its last license, in seconds.
    package let deviceLife: Int64
    let store: any DecisionStore
    private let accounts: (any AccountStore)?
    private let mode: Mode
    private let unrecorded = Atomic<UInt64>(0)
    private let recent = RecentDecisions()

    /// - Parameter accounts: Where rentals are read. If it is nil, a rental is unknown until a decision finds it.
    package init(
        store: any DecisionStore, pseudonyms: Pseudonymizer, mode: Mode = .required,
        retryWindow: Int64 = DecisionRecorder.retryWindowDefault,
        deviceLife: Int64 = DecisionRecorder.deviceLifeDefault, accounts: (any AccountStore)? = nil
    ) {
        self.store = store
        self.accounts = accounts
        self.pseudonyms = pseudonyms
        self.mode = mode
        self.retryWindow = retryWindow
        self.deviceLife = deviceLife
    }

    /// What is remembered of the rental of a content by the token's subject; nil if nothing is.
    package func rental(
        of claims: Claims, _ content: ContentID, now: Int64
    ) async throws(StoreError) -> RentalStanding.Memory? {
        guard let accounts, let subject = claims.subject else { return nil }
        let name: Pseudonym
        do throws(CryptoError) {
            name = try pseudonyms.rental(issuer: claims.issuer, subject: subject, content: content.text)
        } catch {
            throw .cryptographyFailed
        }
        return try await accounts.rental(name, now: now).map { RentalStanding.Memory($0) }
    }

    /// How many licenses were given out without a record.
    package var unrecordedCount: UInt64 { unrecorded.load(ordering: .relaxed) }

    /// How many decisions one request can have if the rights of its tokens end at different times.
    private static let endsMaximum: UInt8 = 4

    /// Records a decision. With a seat, it is committed with the other decisions of its request.
    ///
    /// If the same request was decided before, and the right of its token ended much earlier, the decision is recorded
    /// under another name.
    func record(
        _ decision: LicenseDecision, from seat: DecisionSeat? = nil
    ) async throws(StoreError) -> DecisionOutcome {
        var decision = decision
        for number in 1...Self.endsMaximum {
            let outcome = try await recordOnce(decision, seat)
            guard case .repeated(let bytes, _) = outcome, let replay = decision.localReplay ?? decision.replay else {
                return outcome
            }
            guard let known = RecordedAnswer(bytes), let asked = RecordedAnswer(replay.answer) else {
                throw .recordMalformed
            }
            if known.answers(asked, within: replay.retryWindow) { return outcome }
            let name = try self.name(number, of: replay.request)
            decision.replay?.request = name
            decision.localReplay?.request = name
        }
        return .denied(.replayed)
    }

    /// What this node remembers of a request that was decided before.
    func answer(to replay: ReplayRecord, at now: Int64) -> RecordedAnswer? { recent.answer(to: replay, at: now) }

    private func name(_ number: UInt8, of request: Pseudonym) throws(StoreError) -> Pseudonym {
        do throws(CryptoError) {
            return try pseudonyms.later(number, of: request)
        } catch {
            throw .cryptographyFailed
        }
    }

    /// A repetition that this node remembers is answered from memory: it spends nothing, and the ledger has its entry.
    private func recordOnce(
        _ decision: LicenseDecision, _ seat: DecisionSeat?
    ) async throws(StoreError) -> DecisionOutcome {
        guard let replay = decision.localReplay ?? decision.replay else { return try await commit(decision, seat) }
        // Leaving the seat prevents a deadlock: two requests with the same SPCs in another order would wait for each
        // other.
        if let answer = await recent.begin(replay, at: decision.now, beforeWaiting: { seat?.leave() }) {
            return .repeated(answer: answer, isRecorded: true)
        }
        do throws(StoreError) {
            let outcome = try await commit(decision, seat)
            recent.end(replay, at: decision.now, with: outcome)
            return outcome
        } catch {
            recent.end(replay, at: decision.now, with: nil)
            throw error
        }
    }

    private func commit(
        _ decision: LicenseDecision, _ seat: DecisionSeat?
    ) async throws(StoreError) -> DecisionOutcome {
        do throws(StoreError) {
            guard let seat else { return try await store.commit(decision) }
            return try await seat.commit(decision, in: store)
        } catch {
            // A full queue is no outage, because clients can fill it. A license that a session token renews was granted
            // before.
            guard mode == .bestEffort, case .unavailable(let outage) = error, outage != .busy,
                !decision.needsSharedState || decision.sessionTokenUse != nil
            else { throw error }
            unrecorded.add(1, ordering: .relaxed)
            return .recorded
        }
    }
}

/// The outcome of a report that a playback session has ended.
package enum SessionReportOutcome: String, Sendable, CaseIterable {
    case recorded
    /// The session was reported before.
    case repeated
    /// The store did not take it.
    case failed
}

extension DecisionRecorder {
    /// How long a reported session is remembered, in seconds: 30 days. A session is recorded once, but devices repeat a
    /// report until it is answered.
    private static var sessionReportLife: Int64 { 30 * 86_400 }

    /// Records the sessions that a device reports as ended, each one once, all in one commit.
    ///
    /// The ids have at most 64 bytes. `now` is in seconds since 1970. The store's replay records tell repeated reports,
    /// as they tell repeated requests for licenses: durably, for a limited time, and on all nodes. A session belongs to
    /// the token's issuer and subject, so that no other subject can use up its report.
    func record(
        _ sessions: [String], reportedBy sender: LicenseSender, now: Int64
    ) async -> [SessionReportOutcome] {
        guard case .verified(let held) = sender.standing else { return [] }
        let decisions: [LicenseDecision]
        do throws(CryptoError) {
            decisions = try sessions.map { session throws(CryptoError) in try decision(on: session, held.claims, now) }
        } catch {
            return sessions.map { _ in .failed }
        }
        return await store.commit(together: decisions).map { outcome in
            switch outcome {
            case .success(.recorded): .recorded
            case .success(.repeated), .success(.denied): .repeated
            case .failure: .failed
            }
        }
    }

    private func decision(
        on session: String, _ claims: Claims, _ now: Int64
    ) throws(CryptoError) -> LicenseDecision {
        let issuer = Array(claims.issuer.utf8)
        let subject = claims.subject.map { Array($0.utf8) }
        var entry = LedgerEntry(
            kind: .sessionEndReported, at: now, license: try .naming(rowAt: now), detail: session)
        entry.subject = try subject.map { subject throws(CryptoError) in
            try pseudonyms.pseudonym(of: .subject, issuer, subject)
        }
        (entry.tokenID, entry.cookie) = (claims.tokenID, claims.cookie)
        if subject == nil { entry.issuer = claims.issuer }
        let name = try pseudonyms.pseudonym(of: .sessionReport, issuer, subject ?? [], Array(session.utf8))
        var decision = LicenseDecision(now: now, entry: entry)
        decision.replay = ReplayRecord(
            request: name, retryWindow: Self.sessionReportLife, keptUntil: now + Self.sessionReportLife,
            answer: RecordedAnswer(license: entry.license).bytes)
        return decision
    }
}

extension DecisionRecorder {
    /// Records a device's sync report. The app is answered only after that.
    func record(
        _ accepted: AcceptedSyncReport, from seat: DecisionSeat?, now: Int64
    ) async throws(LicenseError) {
        let decision = try decision(on: accepted, now)
        _ = try await wrapAsync(LicenseError.store, try await record(decision, from: seat))
    }

    private func decision(on accepted: AcceptedSyncReport, _ now: Int64) throws(LicenseError) -> LicenseDecision {
        LicenseDecision(now: now, entry: try wrap(LicenseError.internalFailure, try entry(for: accepted, now)))
    }

    private func entry(for accepted: AcceptedSyncReport, _ now: Int64) throws(CryptoError) -> LedgerEntry {
        let permission = accepted.permission
        var entry = LedgerEntry(
            kind: .syncReportAccepted, at: now, license: try .naming(rowAt: now), keyID: permission.content.keyID,
            content: permission.content.contentID,
            detail: accepted.isChallengeAccepted ? "challenged" : "unchallenged")
        entry.subject = try permission.subject.map { subject throws(CryptoError) in
            try pseudonyms.subject(issuer: permission.issuer, subject)
        }
        entry.device = try pseudonyms.pseudonym(of: .device, accepted.deviceID.bytes)
        entry.tokenID = permission.tokenID
        if permission.subject == nil { entry.issuer = permission.issuer }
        entry.until = accepted.report.remaining.end(from: now)
        entry.report = DeviceReport(accepted.report)
        return entry
    }
}

extension DeviceReport {
    /// Returns nil for a report of version 1, which has none of these fields.
    fileprivate init?(_ report: SyncReport) {
        guard case .version2(let details) = report.subject else { return nil }
        self.init(flags: details.flags.rawValue, titleID: details.titleID, streamIDs: details.streamIDs)
    }
}

extension SyncReport.Remaining {
    /// When the key that the device keeps expires, in seconds since 1970; nil if it never expires.
    fileprivate func end(from now: Int64) -> Int64? {
        switch self {
        case .expired: now
        case .seconds(let seconds): now + Int64(seconds)
        case .unlimited: nil
        }
    }
}
