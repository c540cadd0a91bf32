import ByteCoding
import Entitlements
import FairPlay
import KeyCrypto
import Records

// What ties a licence to the session token that renews it.

extension OpenedRequest {
    private var sessions: SessionTokens? { admission.rules.entitlement.tokens.sessions }

    /// Refuses a session token to every device and playback but its own. The sender of an SPC cannot alter HU. It can
    /// alter the playback session, which is told apart only to keep an app's own playbacks apart.
    func checkSession(_ deviceID: DeviceID) throws(LicenseError) {
        guard let grant = claims.renewal else { return }
        guard let identifier = DeviceIdentifier(deviceID.bytes), let sessions, sessions.isBound(grant, to: identifier)
        else { throw .entitlement(.deviceMismatch) }
        guard device.playbackState?.sessionID == grant.playback else {
            throw .entitlement(.sessionEnded(.otherPlayback))
        }
    }

    /// The token that renews a licence; nil if the licence has no lease, and if this server gives no such tokens.
    func sessionToken(
        for license: GrantedLicense, _ deviceID: DeviceID, using crypto: CryptoContext
    ) throws(LicenseError) -> String? {
        // The service that decides about a token decides about its renewals too, which come with the same token.
        guard !isDecidedByService else { return nil }
        guard let sessions, let lease = license.terms.lease, let playback = device.playbackState?.sessionID,
            let device = DeviceIdentifier(deviceID.bytes)
        else { return nil }
        return try wrap(LicenseError.internalFailure) { () throws(CryptoError) in
            let given = SessionLicense(
                id: license.id.bytes, issuedAt: license.times.issuedAt, lease: Int64(lease.value), device: device,
                playback: playback, owner: try owner(of: license, using: crypto))
            return try sessions.token(for: given, license.authorization, of: claims)
        }
    }

    /// By what the playbacks of a token without a subject are counted.
    private func owner(of license: GrantedLicense, using crypto: CryptoContext) throws(CryptoError) -> [UInt8]? {
        guard license.authorization.subject == nil, !license.authorization.obligations.sessions.isEmpty else {
            return nil
        }
        return try PresentedDigest(of: self, using: crypto).signed.bytes
    }
}
