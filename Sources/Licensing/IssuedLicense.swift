package import ContentKeys
import Entitlements
package import FairPlay
package import Records

/// A licence that may be sent, and what the ledger and the log want to know of it.
///
/// A class, like `Admission`.
package final class IssuedLicense: Sendable {
    /// The Content Key Context.
    package let ckc: [UInt8]
    let granted: GrantedLicense
    let request: OpenedRequest
    /// HU, as the ladder showed it.
    package let deviceID: DeviceID
    /// What renews the licence without another entitlement token; nil if it has no lease, or nothing is left to renew.
    package let sessionToken: String?
    /// Whether the same request was answered before, and this is that licence again.
    package let isRepeated: Bool

    init(
        ckc: [UInt8], granted: GrantedLicense, request: OpenedRequest, deviceID: DeviceID, sessionToken: String?,
        isRepeated: Bool
    ) {
        self.ckc = ckc
        self.granted = granted
        self.request = request
        self.deviceID = deviceID
        self.sessionToken = sessionToken
        self.isRepeated = isRepeated
    }

    package var id: LicenseID { granted.id }
    package var terms: LicenseTerms { granted.terms }
    package var times: LicenseTimes { granted.times }
    package var facts: LicenseFacts { LicenseFacts(id, terms, times) }
    package var key: ContentKeyAttributes { request.key }
    package var credentialName: String { request.admission.credentialKey.credentialName }
}
