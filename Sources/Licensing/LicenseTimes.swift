import ByteCoding
package import FairPlay
package import Records

/// When a license was decided, when it ends, and when the app should renew it, in seconds since 1970 (entitlement,
/// section 4.5).
///
/// FairPlay tells an app none of these times, so the answer's header fields do.
package struct LicenseTimes: Equatable, Sendable {
    package let issuedAt: Int64
    /// The first second in which the license is no longer valid if it is neither played nor renewed; nil if it has no
    /// end.
    package let expiresAt: Int64?
    /// When to ask for a renewal; nil if the license has no lease.
    ///
    /// This is at two thirds of the lease or up to a tenth of the lease earlier, and no later than the right says.
    package let renewAfter: Int64?

    /// Computes the times of a license.
    ///
    /// `renewAhead` is how many seconds before the end of its lease the right wants it renewed. Random bits of the
    /// license's id decide how much earlier the renewal is due. So licenses that were issued at the same instant are
    /// not all renewed at the same instant.
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
    /// How long the key is valid after it was issued, in seconds: the shortest limit of the terms; nil if no limit
    /// counts from then.
    ///
    /// A limit that counts from the first play is left out, because the first play is not known beforehand.
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

    /// How long a kept key is valid after its first play; nil if the terms do not say it.
    var playback: LicenseSeconds? {
        guard case .offlineKey(let key) = self else { return nil }
        return key.playback
    }

    /// The names of the validities with which the device keeps the key.
    static let persistentNames: Set = ["persistent", "persistent_limited", "offline_key_1", "offline_key_2"]

    /// The name of the validity for the app, the ledger and the log.
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
