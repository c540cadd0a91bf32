import ByteCoding
import ContentKeys
package import Entitlements
package import FairPlay
import KeyCrypto

/// What a device has reported about a key that it keeps. Its sync SPC is genuine, and its sender may ask about the
/// content.
package struct AcceptedSyncReport: Sendable {
    package let report: SyncReport
    /// Whether the report carries a challenge of this server, which shows that it is fresh; false if it carries no
    /// challenge.
    package let isChallengeAccepted: Bool
    package let deviceID: DeviceID
    package let permission: SyncPermission
    package let credentialName: String
}

/// Accepts the sync reports of devices, and issues the challenges with which they prove that they are fresh. Belongs to
/// the loop of its pipeline.
final class SyncReports {
    private let crypto: CryptoContext
    private let store: ServerChallenges?
    private let recorder: DecisionRecorder?

    init(_ shared: SharedLicensing, using crypto: CryptoContext) {
        self.crypto = crypto
        store = shared.challenges
        recorder = shared.recorder
    }

    func issueChallenge(to party: TokenParty, now: Int64) async throws(LicenseError) -> ServerChallenges.Issued {
        let crypto = crypto
        return try await challenges().issue(to: party, now: now) { () throws(CryptoError) in
            try crypto.randomBytes16().high
        }
    }

    /// Checks and records a report. The challenge is checked last, so that only a genuine report of a sender with
    /// rights uses it up.
    func accept(
        _ report: SyncReport, in request: OpenedRequest, now: Int64
    ) async throws(LicenseError) -> AcceptedSyncReport {
        let permission = try Self.permission(for: request)
        let deviceID: DeviceID
        do throws(LadderError) {
            deviceID = try await request.spc.verify(using: crypto)
        } catch {
            throw LicenseError(error)
        }
        if let challenge = report.challenge {
            let isOpen = try await challenges().accept(challenge, from: request.party(using: crypto), now: now)
            guard isOpen else { throw .challengeNotOpen }
        }
        let accepted = AcceptedSyncReport(
            report: report, isChallengeAccepted: report.challenge != nil, deviceID: deviceID,
            permission: permission, credentialName: request.admission.credentialKey.credentialName)
        try await recorder?.record(accepted, from: request.admission.seat, now: now)
        return accepted
    }

    /// Returns the permission to report about the content. Throws if the sender has no right to it.
    private static func permission(for request: OpenedRequest) throws(LicenseError) -> SyncPermission {
        try wrap(
            LicenseError.entitlement,
            try Gate.permitSync(claims: request.claims, content: RequestedContent(request.key)))
    }

    private func challenges() throws(LicenseError) -> ServerChallenges {
        guard let store else { throw .store(.unavailable(.notWritable)) }
        return store
    }
}
