import KeyCrypto

/// What an operator should know of a credential that works all the same.
package enum CredentialWarning: Equatable, Sendable {
    /// The certificate of this size ended at this time (seconds since 1970). Devices do not mind, and neither does this
    /// server.
    case certificateExpired(bits: Int, notAfter: Int64)
    /// The certificate of this size ends soon.
    case certificateExpiring(bits: Int, notAfter: Int64)
    /// The certificate was issued for a newer SDK than this server knows.
    case sdkVersionUnknown(SDKVersion)
    /// The certificate's SDK version cannot be read.
    case sdkVersionUnreadable
    /// For development only: `latchkey init` made a certificate of it, or it has a fixed DASk.
    case developmentMaterial

    /// How long before its end a certificate is warned about, in seconds: 30 days.
    package static let expiryNotice: Int64 = 30 * 86_400
}

extension Credential {
    /// Everything worth a warning at `now`, in seconds since 1970.
    package func warnings(now: Int64) -> [CredentialWarning] {
        let certificates = [certificate1024, certificate2048].compactMap(\.self)
        var warnings = certificates.compactMap { $0.expiryWarning(now: now) }
        switch certificate2048?.sdkVersion {
        case nil, .absent: break
        case .unreadable: warnings.append(.sdkVersionUnreadable)
        case .version(let version): if !version.isKnown { warnings.append(.sdkVersionUnknown(version)) }
        }
        if isDevelopmentMaterial { warnings.append(.developmentMaterial) }
        return warnings
    }
}

extension Certificate {
    fileprivate func expiryWarning(now: Int64) -> CredentialWarning? {
        guard let notAfter else { return nil }
        if notAfter < now { return .certificateExpired(bits: keyBits, notAfter: notAfter) }
        // No overflow: times of certificates have four-digit years.
        return notAfter - now <= CredentialWarning.expiryNotice
            ? .certificateExpiring(bits: keyBits, notAfter: notAfter) : nil
    }
}
