import ByteCoding
import ContentKeys
package import Entitlements
package import EventLoops
package import FairPlay
import KeyCrypto

/// What a device reported of a key that it keeps, from a sync SPC that is genuine and whose sender may ask about the content.
package struct AcceptedSyncReport: Sendable {
    package let report: SyncReport
    /// Whether the report carries a challenge of this server, which shows that it is fresh; false where it carries none.
    package let isChallengeAccepted: Bool
    package let deviceID: DeviceID
    package let permission: SyncPermission
    package let credentialName: String
}

extension LicenseIssuer {
    /// A challenge for whoever was admitted. Stays on `loop`.
    package func issueChallenge(
        to claims: Claims, now: Int64, on loop: LoopContext
    ) async throws(LicenseError) -> ServerChallenges.Issued {
        let crypto = try licensing(on: loop).crypto
        return try await knownChallenges().issue(to: claims, now: now) { () throws(CryptoError) in
            try crypto.randomBytes16().high
        }
    }

    /// The challenge is taken last, so that only a genuine report of someone with rights uses it up.
    func accept(
        _ report: SyncReport, in spc: SPC, _ admission: Admission, now: Int64, using crypto: CryptoContext
    ) async throws(LicenseError) -> AcceptedSyncReport {
        let permission = try await permitReport(in: spc, claims: admission.claims)
        let deviceID: DeviceID
        do throws(LadderError) {
            deviceID = try await spc.verify(using: crypto)
        } catch {
            throw LicenseError(error)
        }
        if let challenge = report.challenge {
            let isOpen = try await knownChallenges().accept(challenge, from: admission.claims, now: now)
            guard isOpen else { throw .challengeNotOpen }
        }
        let accepted = AcceptedSyncReport(
            report: report, isChallengeAccepted: report.challenge != nil, deviceID: deviceID,
            permission: permission, credentialName: admission.credentialKey.credentialName)
        try await recorder?.record(accepted, now: now)
        return accepted
    }
}

extension LicenseIssuer {
    /// Without a store no challenge is given, and none accepted.
    private func knownChallenges() throws(LicenseError) -> ServerChallenges {
        guard let challenges else { throw .store(.unavailable(.notWritable)) }
        return challenges
    }

    /// Whether the token's holder may ask about the content, by the key that the SPC's asset id names.
    private func permitReport(in spc: SPC, claims: Claims) async throws(LicenseError) -> SyncPermission {
        let record = try await record(for: spc, claims: claims)
        do throws(EntitlementError) {
            return try Gate.permitSync(claims: claims, content: RequestedContent(record.attributes))
        } catch {
            throw .entitlement(error)
        }
    }
}
