package import Entitlements
import Licensing

extension EntitlementError {
    /// The code that a client gets if a license is refused with this error.
    package var code: String { LicenseError.entitlement(self).code.rawValue }
}
