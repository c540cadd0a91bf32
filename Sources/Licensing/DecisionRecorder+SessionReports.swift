import ByteCoding
import ContentKeys
import Entitlements
import KeyCrypto
import Records

/// What became of a report of a playback session that has ended.
package enum SessionReportOutcome: String, Sendable, CaseIterable {
    case recorded
    /// The session was reported before.
    case repeated
    /// The store did not take it.
    case failed
}

extension DecisionRecorder {
    /// How long a session is remembered, so that it is recorded once: 30 days. Devices report until they are answered.
    private static var sessionReportLife: Int64 { 30 * 86_400 }

    /// Records the sessions that a device reports, by ids of at most 64 bytes, each one once, in one commit. `now` is
    /// in seconds since 1970.
    ///
    /// What comes again is known as a request for a licence is, by the replay records of the store: so it is durable,
    /// bounded in time, and the same on all nodes. A session belongs to the token's issuer and subject, so that no
    /// other subject can use up its report.
    func record(
        _ sessions: [String], reportedBy sender: LicenseSender, now: Int64
    ) async -> [SessionReportOutcome] {
        guard case .verified(let claims) = sender.standing else { return [] }
        let decisions: [LicenseDecision]
        do throws(CryptoError) {
            decisions = try sessions.map { session throws(CryptoError) in try decision(on: session, claims, now) }
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
        let name = try pseudonyms.pseudonym(of: .sessionReport, issuer, subject ?? [], Array(session.utf8))
        var decision = LicenseDecision(now: now, entry: entry)
        decision.replay = ReplayRecord(
            request: name, token: name, retryWindow: Self.sessionReportLife, keptUntil: now + Self.sessionReportLife,
            answer: RecordedAnswer(license: entry.license, use: .streaming).bytes)
        return decision
    }
}
