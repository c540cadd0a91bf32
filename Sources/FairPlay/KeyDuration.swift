/// The content key duration block (protocol, section 4.2).
///
///     offset  size  field
///          0     4  lease in seconds from the creation of the SPC
///          4     4  rental in seconds from the acquisition of the license
///          8     4  key type
///         12     4  reserved, 86d34a3a
package enum KeyDuration: Sendable, Equatable {
    /// Playback stops when the lease ends, unless it is renewed.
    case lease(LicenseSeconds)
    /// Playback cannot start after the end of the rental. A playback that has begun may finish.
    case rental(LicenseSeconds)
    case leaseAndRental(lease: LicenseSeconds, rental: LicenseSeconds)
    /// The device may keep the key, without an end.
    case persistent
    /// The device may keep the key for this many seconds after it got the key.
    case persistentLimited(LicenseSeconds)

    package static let reservedWord: UInt32 = 0x86d3_4a3a

    package var keyType: UInt32 {
        switch self {
        case .lease: 0x1a4b_de7e
        case .rental: 0x3dfe_45a0
        case .leaseAndRental: 0x27b5_9bde
        case .persistent: 0x3df2_d9fb
        case .persistentLimited: 0x18f0_6048
        }
    }

    package var lease: LicenseSeconds? {
        switch self {
        case .lease(let lease), .leaseAndRental(let lease, _): lease
        case .rental, .persistent, .persistentLimited: nil
        }
    }

    /// The value of the rental field. For a limited persistent key, it is the time for which the key is valid.
    package var rental: LicenseSeconds? {
        switch self {
        case .rental(let rental), .leaseAndRental(_, let rental), .persistentLimited(let rental): rental
        case .lease, .persistent: nil
        }
    }
}

/// A limit in a license: 1 to 0xFFFFFFFE seconds.
///
/// To a device, 0 means "no limit". 0xFFFFFFFF is left out, because it has been used for "no limit" too.
package struct LicenseSeconds: Sendable, Hashable, Comparable {
    package let value: UInt32

    /// Makes a limit; nil for 0. Values above the maximum are clamped to it.
    package init?(_ value: UInt64) {
        guard value > 0 else { return nil }
        self.value = UInt32(min(value, 0xFFFF_FFFE))
    }

    /// Makes a limit from a value that was checked before. A 0, which should not occur, becomes the shortest limit, and
    /// never "no limit".
    package init(atLeastOne value: UInt32) {
        self.value = min(max(value, 1), 0xFFFF_FFFE)
    }

    package static func < (one: LicenseSeconds, other: LicenseSeconds) -> Bool { one.value < other.value }
}
