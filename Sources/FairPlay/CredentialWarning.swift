package import KeyCrypto

/// A warning about a credential. The credential works nevertheless.
package enum CredentialWarning: Equatable, Sendable {
    /// The certificate of this size expired at this time (seconds since 1970). Devices and this server still accept it.
    case certificateExpired(bits: Int, notAfter: Int64)
    /// The certificate of this size expires soon.
    case certificateExpiring(bits: Int, notAfter: Int64)
    /// The certificate was issued for a newer SDK than this server knows.
    case sdkVersionUnknown(SDKVersion)
    /// The certificate's SDK version cannot be read.
    case sdkVersionUnreadable
    /// The credential is for development only: `latchkey init` made one of its certificates, or it has a fixed DASk.
    case developmentMaterial
    /// The certificates name these developer teams, first that of the 1024-bit certificate. So Apple issued them to two
    /// deployments, and the application secret can belong to one of them only.
    case teamsDiffer(String, String)

    /// How many seconds before a certificate expires the warning begins: 30 days.
    package static let expiryNotice: Int64 = 30 * 86_400
}

extension Credential {
    /// Returns all warnings at `now`, in seconds since 1970.
    package func warnings(now: Int64) -> [CredentialWarning] {
        let certificates = [certificate1024, certificate2048].compactMap(\.self)
        var warnings = certificates.compactMap { $0.expiryWarning(now: now) }
        switch certificate2048?.sdkVersion {
        case nil, .absent: break
        case .unreadable: warnings.append(.sdkVersionUnreadable)
        case .version(let version): if !version.isKnown { warnings.append(.sdkVersionUnknown(version)) }
        }
        if let small = certificate1024?.organizationalUnit, let large = certificate2048?.organizationalUnit,
            small != large
        {
            warnings.append(.teamsDiffer(small, large))
        }
        if isDevelopmentMaterial { warnings.append(.developmentMaterial) }
        return warnings
    }
}

extension Certificate {
    fileprivate func expiryWarning(now: Int64) -> CredentialWarning? {
        guard let notAfter else { return nil }
        if notAfter < now { return .certificateExpired(bits: keyBits, notAfter: notAfter) }
        // This cannot overflow, because the years of certificates have four digits.
        return notAfter - now <= CredentialWarning.expiryNotice
            ? .certificateExpiring(bits: keyBits, notAfter: notAfter) : nil
    }
}

/// The version of Apple's server SDK for which a certificate was issued.
package struct SDKVersion: Equatable, Sendable, CustomStringConvertible {
    package let major: UInt8
    package let minor: UInt8

    /// The newest major version that this server knows.
    package static let newestKnownMajor: UInt8 = 26

    package init(major: UInt8, minor: UInt8) {
        self.major = major
        self.minor = minor
    }

    package var isKnown: Bool { major <= Self.newestKnownMajor }

    package var description: String { "\(major).\(minor)" }
}

/// The result of reading the SDK version of a certificate.
package enum SDKVersionReading: Equatable, Sendable {
    /// The certificate does not have the extension, like all older certificates.
    case absent
    case version(SDKVersion)
    /// The certificate has the extension, but its value is not a version.
    case unreadable

    /// The version, if there is one.
    package var version: SDKVersion? {
        switch self {
        case .absent, .unreadable: nil
        case .version(let version): version
        }
    }
}

extension Certificate {
    /// The extension with the SDK version in the 2048-bit certificates of newer deployments (protocol, section 3.5).
    package static let sdkVersionIdentifier = "1.2.840.113635.100.6.13.1.22"

    /// The SDK version, which is a DER INTEGER of two bytes: major and minor.
    package var sdkVersion: SDKVersionReading {
        guard let value = extensionValue(Self.sdkVersionIdentifier) else { return .absent }
        guard value.count == 4, value[0] == 0x02, value[1] == 0x02 else { return .unreadable }
        return .version(SDKVersion(major: value[2], minor: value[3]))
    }
}
