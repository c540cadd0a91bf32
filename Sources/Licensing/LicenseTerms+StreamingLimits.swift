package import Entitlements
package import FairPlay

extension LicenseTerms {
    /// The terms that express what the gate allows (entitlement, section 4.4).
    package init(_ limits: StreamingLimits, _ protection: Protection) {
        let lease = limits.lease.flatMap { LicenseSeconds(UInt64($0)) }
        let rental = limits.rental.flatMap { LicenseSeconds(UInt64($0)) }
        let duration: KeyDuration? =
            switch (lease, rental) {
            case (nil, nil): nil
            case (.some(let lease), .none): .lease(lease)
            case (.none, .some(let rental)): .rental(rental)
            case (.some(let lease), .some(let rental)): .leaseAndRental(lease: lease, rental: rental)
            }
        self.init(duration: duration, hdcp: protection.hdcp.map { HDCPLevel($0) })
    }
}

extension HDCPLevel {
    fileprivate init(_ claim: Right.HDCP) {
        self =
            switch claim {
            case .notRequired: .none
            case .type0: .type0
            case .type1: .type1
            }
    }
}
