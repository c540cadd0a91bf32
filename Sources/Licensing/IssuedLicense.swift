package import ContentKeys
package import Entitlements
package import FairPlay
package import Records

/// A licence that may be sent, and what the ledger and the log want to know of it.
package struct IssuedLicense: Sendable {
    /// The Content Key Context.
    package let ckc: [UInt8]
    package let id: LicenseID
    package let times: LicenseTimes
    /// What renews the licence without another entitlement token; nil where it has no lease, or nothing is left to renew.
    package let sessionToken: String?
    /// Whether the same request was answered before, and this is that licence again.
    package let isRepeated: Bool
    package let authorization: Authorization
    package let terms: LicenseTerms
    package let key: ContentKeyAttributes
    package let spc: SPC
    package let device: DeviceFacts
    /// HU, as the ladder showed it.
    package let deviceID: DeviceID
    package let credentialName: String

    package var facts: LicenseFacts { LicenseFacts(id, terms, times) }
}
