import Entitlements

/// A warning: no key of an issuer is in use, so every token of the issuer is refused.
package struct IssuerKeysWarning: Equatable, Sendable, CustomStringConvertible {
    /// The field of the issuer.
    package let path: String
    let issuer: String

    /// Returns one warning for each such issuer at `now`, in seconds since 1970.
    package static func warnings(about loaded: LoadedConfiguration, now: Int64) -> [IssuerKeysWarning] {
        loaded.issuers.withoutKeys(now: now).map {
            IssuerKeysWarning(path: "entitlement.issuers[\($0.index)]", issuer: $0.name)
        }
    }

    package var description: String {
        "no key of the issuer \(issuer) is in use: each is revoked, or its \"until\" is past. All tokens of the issuer are"
            + " refused"
    }

    /// What to do about it.
    package static let remedy = "add the issuer's new key, or correct \"state\" and \"until\", and reload the daemon"
}
