import ContentKeys
import Entitlements
import FairPlay

/// Everything that a decision about a licence is made from.
struct DecidedRequest: Sendable {
    let admission: LicenseIssuer.Admission
    let spc: SPC
    let device: DeviceFacts
    let key: ContentKeyAttributes
}

/// A licence that the gate allows and the device can be told; it may be sent once it is recorded.
struct GrantedLicense: Sendable {
    let id: LicenseID
    let authorization: Authorization
    let terms: LicenseTerms
    let times: LicenseTimes

    init(id: LicenseID, authorization: Authorization, terms: LicenseTerms, issuedAt: Int64) {
        self.id = id
        self.authorization = authorization
        self.terms = terms
        times = LicenseTimes(terms, issuedAt: issuedAt, id: id)
    }
}
