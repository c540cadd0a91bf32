import ByteCoding
import ContentKeys
import Entitlements
import FairPlay
import KeyCrypto
import Records

extension DecisionRecorder {
    /// Writes down what a device has reported, before its app hears that it was taken.
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
            try pseudonyms.pseudonym(of: .subject, Array(permission.issuer.utf8), Array(subject.utf8))
        }
        entry.device = try pseudonyms.pseudonym(of: .device, accepted.deviceID.bytes)
        entry.tokenID = permission.tokenID
        entry.until = accepted.report.remaining.end(from: now)
        entry.report = DeviceReport(accepted.report)
        return entry
    }
}

extension DeviceReport {
    /// Nil for a report of version 1, which says nothing of these.
    fileprivate init?(_ report: SyncReport) {
        guard case .version2(let details) = report.subject else { return nil }
        self.init(flags: details.flags.rawValue, titleID: details.titleID, streamIDs: details.streamIDs)
    }
}

extension SyncReport.Remaining {
    /// When the key that a device keeps ends; nil for never.
    fileprivate func end(from now: Int64) -> Int64? {
        switch self {
        case .expired: now
        case .seconds(let seconds): now + Int64(seconds)
        case .unlimited: nil
        }
    }
}
