import ContentKeys
import Entitlements
package import Telemetry

/// The check that a live content's period is served at this time.
///
/// What has left the window is judged by the settled time, and what is not due yet by the time for decisions. So a
/// clock that is stepped, or not trusted, serves more periods and never fewer.
package struct ServedPeriods: Sendable {
    private let recent: RecentLivePeriods?
    private let clock: TrustedClock?

    /// Without `recent` every period is served. Without a clock the times of the checks decide.
    package init(recent: RecentLivePeriods? = nil, clock: TrustedClock? = nil) {
        self.recent = recent
        self.clock = clock
    }

    /// Throws `periodNotServed`, but only if the claims cover the key: otherwise the gate refuses them, and the sender
    /// learns nothing of the content. `now` is in seconds since 1970.
    func check(_ key: ContentKeyAttributes, for claims: Claims, now: Int64) async throws(LicenseError) {
        guard let recent, key.periodIndex != nil,
            Gate.namesAsset(claims, contentID: key.contentID.text, keyID: key.keyID)
        else { return }
        let refusal = await recent.refusal(of: key, at: clock?.possibleTimes ?? now...now)
        if let refusal { throw .periodNotServed(refusal) }
    }
}
