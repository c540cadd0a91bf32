/// What a streaming licence allows a device. Persistent terms have their place beside these.
package struct LicenseTerms: Sendable, Equatable {
    /// Nil: the key lives for the playback session.
    package var duration: KeyDuration?
    /// Nil: no block is sent, and the device enforces HDCP Type 0.
    package var hdcp: HDCPLevel?

    package init(duration: KeyDuration? = nil, hdcp: HDCPLevel? = nil) {
        self.duration = duration
        self.hdcp = hdcp
    }
}

/// Why a device cannot be told the terms that the rights demand. The answer is a refusal, never a longer licence.
package enum LicenseTermsError: Error, Equatable, Sendable {
    /// A limit in time, for an SPC without a media playback state.
    case durationNeedsPlaybackState
    /// HDCP Type 1, for a device whose capabilities lack it.
    case hdcpTypeUnsupported
}

extension LicenseTerms {
    /// Whether the device that sent `spc` can be told these terms (protocol, sections 2.2, 4.2 and 4.6).
    package func check(for spc: SPC) throws(LicenseTermsError) {
        if duration != nil, spc.playbackState == nil { throw .durationNeedsPlaybackState }
        if hdcp == .type1, !spc.capabilities.contains(.hdcpEnforcement) { throw .hdcpTypeUnsupported }
    }
}

/// A limit that a device can be told: 1 to 0xFFFFFFFE seconds. To a device 0 means "no limit", and 0xFFFFFFFF has been used for "none".
package struct LicenseSeconds: Sendable, Equatable {
    package let value: UInt32

    /// Nil for 0; larger values are clamped to the maximum.
    package init?(_ value: UInt64) {
        guard value > 0 else { return nil }
        self.value = UInt32(min(value, 0xFFFF_FFFE))
    }
}

/// The content key duration block (protocol, section 4.2).
///
///     offset  size  field
///          0     4  lease in seconds from the creation of the SPC
///          4     4  rental in seconds from the acquisition of the licence
///          8     4  key type
///         12     4  reserved, 86d34a3a
package enum KeyDuration: Sendable, Equatable {
    /// Playback stops when the lease ends, unless it is renewed.
    case lease(LicenseSeconds)
    /// Playback does not start after the end; one that has begun may finish.
    case rental(LicenseSeconds)
    case leaseAndRental(lease: LicenseSeconds, rental: LicenseSeconds)

    package static let reservedWord: UInt32 = 0x86d3_4a3a

    package var keyType: UInt32 {
        switch self {
        case .lease: 0x1a4b_de7e
        case .rental: 0x3dfe_45a0
        case .leaseAndRental: 0x27b5_9bde
        }
    }

    package var lease: LicenseSeconds? {
        switch self {
        case .lease(let lease), .leaseAndRental(let lease, _): lease
        case .rental: nil
        }
    }

    package var rental: LicenseSeconds? {
        switch self {
        case .rental(let rental), .leaseAndRental(_, let rental): rental
        case .lease: nil
        }
    }
}

/// The HDCP enforcement block's first word (protocol, section 4.6); eight random bytes follow it.
package enum HDCPLevel: UInt64, Sendable, CaseIterable {
    case none = 0xef72_894c_a789_5b78
    case type0 = 0x4079_1ac7_8bd5_c571
    case type1 = 0x285a_0863_bba8_e1d3
}
