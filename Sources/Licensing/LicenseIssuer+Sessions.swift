import ByteCoding
package import Entitlements
package import EventLoops
import FairPlay
import KeyCrypto
package import Records

extension LicenseIssuer {
    /// Refuses a session token to every device and playback but its own. HU cannot be altered by whoever sends an SPC; the playback session
    /// can, and is told apart only to keep an app's own playbacks apart.
    func checkSession(of request: DecidedRequest, _ deviceID: DeviceID) throws(LicenseError) {
        guard let grant = request.admission.claims.renewal else { return }
        guard let device = DeviceIdentifier(deviceID.bytes), let sessions = tokens.sessions,
            sessions.isBound(grant, to: device)
        else { throw .entitlement(.deviceMismatch) }
        guard request.device.playbackState?.sessionID == grant.playback else {
            throw .entitlement(.sessionEnded(.otherPlayback))
        }
    }

    /// The token that renews a licence; nil where it has no lease, and where this server gives none.
    func sessionToken(
        for license: GrantedLicense, of request: DecidedRequest, _ deviceID: DeviceID, using crypto: CryptoContext
    ) throws(LicenseError) -> String? {
        // The service that decides about a token decides about its renewals too, which come with the same token.
        guard !request.admission.isDecidedByService else { return nil }
        guard let sessions = tokens.sessions, let lease = license.terms.lease,
            let playback = request.device.playbackState?.sessionID, let device = DeviceIdentifier(deviceID.bytes)
        else { return nil }
        do throws(CryptoError) {
            let given = SessionLicense(
                id: license.id.bytes, issuedAt: license.times.issuedAt, lease: Int64(lease.value), device: device,
                playback: playback, owner: try owner(of: license, request, using: crypto))
            return try sessions.token(for: given, license.authorization, of: request.admission.claims)
        } catch {
            throw .internalFailure(error)
        }
    }

    /// By what the playbacks of a token without a subject are counted.
    private func owner(
        of license: GrantedLicense, _ request: DecidedRequest, using crypto: CryptoContext
    ) throws(CryptoError) -> [UInt8]? {
        guard license.authorization.subject == nil, !license.authorization.obligations.sessions.isEmpty else {
            return nil
        }
        return try PresentedDigest(of: request.admission, using: crypto).signed.bytes
    }
}

extension LicenseIssuer {
    /// Whom a token lets ask for what costs little, done at once on the loop. `now` is in seconds since 1970.
    package func holder(
        of token: PresentedToken?, now: Int64, on loop: LoopContext
    ) throws(LicenseError) -> Claims {
        guard let token else { throw .tokenMissing }
        return try verify(token, now: now, using: try licensing(on: loop).crypto)
    }

    /// Whether a token would renew a licence of the ledger at `now`, as far as can be told without the device. A session token renews the
    /// licence that it was given with.
    package func isRenewable(
        _ entry: LedgerEntry, by claims: Claims, from origin: RequestOrigin, now: Int64
    ) -> Bool {
        guard let facts = LicenseFacts(entry), facts.expiresAt != nil, let keyID = entry.keyID,
            let content = entry.content
        else { return false }
        if let grant = claims.renewal, grant.license != entry.license.bytes { return false }
        var request = GateRequest(
            claims: claims, content: RequestedContent(contentID: content, keyID: keyID, trackLabels: []),
            use: facts.isPersistent ? .offline : .streaming, now: now)
        request.device = RequestingDevice(identifier: claims.device.pinned)
        request.origin = origin
        request.policy = currentPolicy
        guard let revocations = try? knownRevocations() else { return false }
        request.revocations = revocations
        return (try? Gate.authorize(request)) != nil
    }
}
