import ContentKeys
import Entitlements
package import Records

/// Answers questions about licences that were given before.
package struct LicenseQueries: Sendable {
    let revocations: KnownRevocations

    /// Whether the holder's token would renew a licence of the ledger at `now`, as far as can be told without the
    /// device. A session token renews the licence that it was given with.
    package func isRenewable(_ entry: LedgerEntry, by holder: TokenHolder, now: Int64) -> Bool {
        guard let facts = LicenseFacts(entry), facts.expiresAt != nil, let keyID = entry.keyID,
            let content = entry.content, let revocations = try? revocations.known()
        else { return false }
        let claims = holder.claims
        if let grant = claims.renewal, grant.license != entry.license.bytes { return false }
        var request = GateRequest(
            claims: claims, content: RequestedContent(contentID: content, keyID: keyID, trackLabels: []),
            use: facts.isPersistent ? .offline : .streaming, now: now)
        request.device = RequestingDevice(identifier: claims.device.pinned)
        request.origin = holder.origin
        request.rental = RentalStanding(memory: claims.renewal?.rental, isRunning: claims.renewal != nil)
        request.policy = holder.rules.entitlement.policy
        request.revocations = revocations
        return (try? Gate.authorize(request)) != nil
    }
}
