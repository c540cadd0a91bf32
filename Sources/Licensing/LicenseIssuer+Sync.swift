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
    /// A challenge for the holder of a verified token. `now` is in seconds since 1970.
    package func issueChallenge(
        token: PresentedToken?, now: Int64, on loop: LoopContext
    ) throws(LicenseError) -> ServerChallenges.Issued {
        let crypto = try licensing(on: loop).crypto
        guard let token else { throw .tokenMissing }
        let claims = try verify(token, now: now, using: crypto)
        do throws(CryptoError) {
            return try challenges.issue(to: ServerChallenges.Holder(claims)) { () throws(CryptoError) in
                try crypto.randomBytes16().high
            }
        } catch {
            throw .internalFailure(error)
        }
    }

    /// The challenge is taken last, so that only a genuine report of someone with rights uses it up.
    func accept(
        _ report: SyncReport, in spc: SPC, _ admission: Admission, using crypto: CryptoContext
    ) async throws(LicenseError) -> AcceptedSyncReport {
        let permission = try await permitReport(in: spc, claims: admission.claims)
        let deviceID: DeviceID
        do throws(LadderError) {
            deviceID = try await spc.verify(using: crypto)
        } catch {
            throw LicenseError(error)
        }
        if let challenge = report.challenge {
            let isOpen = challenges.accept(challenge, from: ServerChallenges.Holder(admission.claims))
            guard isOpen else { throw .challengeNotOpen }
        }
        return AcceptedSyncReport(
            report: report, isChallengeAccepted: report.challenge != nil, deviceID: deviceID,
            permission: permission, credentialName: admission.credentialKey.credentialName)
    }
}

extension LicenseIssuer {
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

extension ServerChallenges.Holder {
    /// The subject, or where the token names none the token itself.
    fileprivate init(_ claims: Claims) {
        self.init(issuer: claims.issuer, subject: claims.subject ?? claims.tokenID ?? "")
    }
}
