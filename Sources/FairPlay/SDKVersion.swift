package import KeyCrypto

/// The version of Apple's server SDK that a certificate was issued for.
package struct SDKVersion: Equatable, Sendable, CustomStringConvertible {
    package let major: UInt8
    package let minor: UInt8

    /// The newest major version that this server knows of.
    package static let newestKnownMajor: UInt8 = 26

    package init(major: UInt8, minor: UInt8) {
        self.major = major
        self.minor = minor
    }

    package var isKnown: Bool { major <= Self.newestKnownMajor }

    package var description: String { "\(major).\(minor)" }
}

/// What a certificate says about the SDK version.
package enum SDKVersionReading: Equatable, Sendable {
    /// It has no such extension, as all older certificates.
    case absent
    case version(SDKVersion)
    /// It has the extension, and in it something else than a version.
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
    /// Where the 2048-bit certificates of newer deployments hold the SDK version (protocol, section 3.5).
    package static let sdkVersionIdentifier = "1.2.840.113635.100.6.13.1.22"

    /// The SDK version: a DER INTEGER of two bytes, major and minor.
    package var sdkVersion: SDKVersionReading {
        guard let value = extensionValue(Self.sdkVersionIdentifier) else { return .absent }
        guard value.count == 4, value[0] == 0x02, value[1] == 0x02 else { return .unreadable }
        return .version(SDKVersion(major: value[2], minor: value[3]))
    }
}
