import ByteCoding
package import FairPlay
package import Records

/// When a licence was decided, when it ends, and when an app had better come back, in seconds since 1970 (entitlement,
/// section 4.5).
///
/// FairPlay tells an app none of this, so the answer's header fields do.
package struct LicenseTimes: Equatable, Sendable {
    package let issuedAt: Int64
    /// The first second in which the licence does not hold any more, if nothing is played and nothing renewed; nil
    /// if it has no end.
    package let expiresAt: Int64?
    /// When to ask for a renewal: at two thirds of a lease, or up to a tenth of it sooner, and no later than the right
    /// says; nil if there is nothing to renew.
    package let renewAfter: Int64?

    /// `renewAhead` is how many seconds before the end of its lease the right wants it renewed. The licence's own
    /// random bits decide how much sooner, so that what was started at one instant is not renewed at one instant.
    package init(_ terms: LicenseTerms, issuedAt: Int64, id: LicenseID, renewAhead: Int64? = nil) {
        self.issuedAt = issuedAt
        expiresAt = terms.validity.secondsToExpiry.map { issuedAt + Int64($0.value) }
        renewAfter = terms.lease.map { lease in
            let latest = min(Int64(lease.value) * 2 / 3, Int64(lease.value) - (renewAhead ?? 0))
            let spread = Int64(lease.value) / 10 + 1
            return issuedAt + max(1, latest - Int64(id.bytes.low % UInt64(spread)))
        }
    }
}

extension LicenseTerms.Validity {
    /// How long the key is good from its acquisition on: the least of all that the terms say. What counts from the
    /// first play is no end that can be known beforehand, but if a key may be kept it bounds nothing sooner.
    var secondsToExpiry: LicenseSeconds? {
        switch self {
        case .session, .duration(.persistent): nil
        case .duration(.lease(let lease)): lease
        case .duration(.rental(let rental)): rental
        case .duration(.leaseAndRental(let lease, let rental)): min(lease, rental)
        case .duration(.persistentLimited(let limit)): limit
        case .offlineKey(let key): key.storage
        }
    }

    /// How long a kept key is good from its first play on, if the terms say so.
    var playback: LicenseSeconds? {
        guard case .offlineKey(let key) = self else { return nil }
        return key.playback
    }

    /// The names of those that the device keeps.
    static let persistentNames: Set = ["persistent", "persistent_limited", "offline_key_1", "offline_key_2"]

    /// A word for the app, the ledger and the log.
    package var name: String {
        switch self {
        case .session: "session"
        case .duration(.lease): "lease"
        case .duration(.rental): "rental"
        case .duration(.leaseAndRental): "lease_and_rental"
        case .duration(.persistent): "persistent"
        case .duration(.persistentLimited): "persistent_limited"
        case .offlineKey(let key):
            switch key.name {
            case .version1: "offline_key_1"
            case .version2: "offline_key_2"
            }
        }
    }
}
