/// What an admitted request comes to.
package enum LicenseOutcome: Sendable {
    case license(IssuedLicense)
    /// The SPC was a sync SPC: it is answered with data, and no key leaves.
    case syncReport(AcceptedSyncReport)
}
