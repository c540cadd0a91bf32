import ByteCoding

/// The facts that a device states about itself in an SPC (protocol, sections 2.1, 4.5 and 4.6).
///
/// The payload has no MAC, so the sender of an SPC can change all of it. These facts may lead to a refusal and may be
/// logged, but never make a check less strict.
package struct DeviceFacts: Sendable, Equatable {
    /// The device's capabilities; empty if the SPC has no block of capabilities.
    package let capabilities: Capabilities
    /// Whether the SPC has a block of capabilities.
    package let statesCapabilities: Bool
    /// The report of the security level; nil if it is missing, or has a form that this server cannot read.
    package let securityReport: SecurityLevelReport?
    package let identity: DeviceIdentity?
    package let info: DeviceInfo?
    /// The version of the kext deny list of a Mac. It comes from its own block or, without that block, from the report.
    ///
    /// The block counts even if its value is 0. The value 0 is not an old version (protocol, section 4.6).
    package let denyListVersion: UInt32?
    package let virtualMachine: VirtualMachineInfo?
    /// Whether the SPC has virtual machine info in a form that this server cannot read.
    package let hasUnreadableVirtualMachineInfo: Bool
    package let output: PlaybackOutput
    package let playbackState: MediaPlaybackState?
    package let protocolVersionUsed: UInt32
    package let protocolVersionsSupported: [UInt32]
    /// The supported key formats, at least one.
    package let keyFormats: [UInt64]

    /// The key format of a device that does not list any: a content key of 16 bytes.
    package static let keyFormatDefault = TLLVTag.contentKey

    package var hasOldDenyList: Bool {
        guard let denyListVersion else { return false }
        return denyListVersion > 0 && denyListVersion < DevicePolicy.denyListVersionMinimum
    }

    /// The highest level that the device is known to have.
    ///
    /// Nil if the SPC states no level, or a level below all of them. Only `falls(below:)` distinguishes these cases.
    package var securityLevel: SecurityLevel? { securityNumber.flatMap { SecurityLevel(reported: $0) } }

    /// Whether the device is known to be weaker than `level`.
    package func falls(below level: SecurityLevel) -> Bool {
        guard let securityNumber else { return false }
        return securityNumber < level.rawValue
    }

    /// The level as a number: from the report or, without a report, from the capability bits. With an old deny list, it
    /// is Baseline at most. Nil if the SPC states no level.
    private var securityNumber: UInt64? {
        guard hasOldDenyList else { return statedLevel }
        return min(statedLevel ?? .max, SecurityLevel.baseline.rawValue)
    }

    /// The level as the device states it, whatever its deny list; nil if the SPC states none.
    package var statedLevel: UInt64? {
        if let securityReport { return securityReport.rawLevel }
        if capabilities.contains(.securityLevelMain) { return SecurityLevel.main.rawValue }
        return capabilities.contains(.securityLevelBaseline) ? SecurityLevel.baseline.rawValue : nil
    }

    /// Whether the device can be sent an offline key block.
    package var supportsOfflineKey: Bool { !capabilities.isDisjoint(with: [.offlineKey, .offlineKeyVersion2]) }
}

/// The output to which the content is sent (streaming indicator).
package enum PlaybackOutput: Sendable, Equatable {
    /// The device's own screen. It is meant by every value except the two below; real devices send random values.
    case local
    /// AirPlay to a television or set-top box.
    case airPlay
    /// Apple's digital AV adapter. The HU in the SPC then belongs to the adapter.
    case avAdapter

    package static let airPlayIndicator: UInt64 = 0xabb0_256a_3184_3974
    package static let avAdapterIndicator: UInt64 = 0x5f9c_8132_b59f_2fde

    init(indicator: UInt64?) {
        self =
            switch indicator {
            case Self.airPlayIndicator: .airPlay
            case Self.avAdapterIndicator: .avAdapter
            case .some, .none: .local
            }
    }
}

/// The capability bits of a device (protocol, section 4.5).
package struct Capabilities: OptionSet, Sendable, Equatable {
    package static let size = 16

    package let rawValue: UInt64

    package init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    package static let hdcpEnforcement = Capabilities(rawValue: 1 << 0)
    package static let offlineKey = Capabilities(rawValue: 1 << 1)
    package static let secureInvalidation = Capabilities(rawValue: 1 << 2)
    package static let offlineKeyVersion2 = Capabilities(rawValue: 1 << 3)
    package static let securityLevelBaseline = Capabilities(rawValue: 1 << 4)
    package static let securityLevelMain = Capabilities(rawValue: 1 << 5)
}

/// A device's report of its security level.
///
///     offset  size  field
///          0     4  version, 1
///          4     4  reserved, 0
///          8     8  level
///         16     4  version of the kext deny list
///
/// A value of 32 bytes is the encrypted form. It is ignored, like other versions and shorter values. A level of 0 is a
/// report too: it is below every level (protocol, section 4.6).
package struct SecurityLevelReport: Sendable, Equatable {
    package static let size = 20
    package static let encryptedSize = 32
    static let version: UInt32 = 1

    /// The level in the report.
    package let rawLevel: UInt64
    package let denyListVersion: UInt32

    package init(rawLevel: UInt64, denyListVersion: UInt32) {
        self.rawLevel = rawLevel
        self.denyListVersion = denyListVersion
    }
}

/// The state of a playback as its device states it (protocol, sections 2.1 and 4.1).
///
///     offset  size  field
///          0     4  creation date of the SPC, seconds since 1970 by the device's clock
///          4     4  state
///          8     8  playback session
///
/// The sender of an SPC can change the state, so it never makes a check less strict.
package struct MediaPlaybackState: Sendable, Equatable {
    package static let size = 16

    package let createdAt: UInt32
    package let state: PlaybackState
    /// The number of the playback, which is the same for all its keys and bit rates.
    package let sessionID: UInt64

    package init(createdAt: UInt32, state: PlaybackState, sessionID: UInt64) {
        self.createdAt = createdAt
        self.state = state
        self.sessionID = sessionID
    }

    /// Reads a value of at least 16 bytes that begins at `offset`.
    init(_ payload: [UInt8], at offset: Int) {
        let fields = Bytes16(payload, at: offset)
        createdAt = UInt32(truncatingIfNeeded: fields.high >> 32)
        state = PlaybackState(wireValue: UInt32(truncatingIfNeeded: fields.high))
        sessionID = fields.low
    }
}

package enum PlaybackState: UInt32, Sendable, CaseIterable {
    case readyToStart = 0xf4de_e5a2
    case playing = 0xa5d6_739e
    case leaseExpiring = 0x4f83_4330
    case stopped = 0x5991_bf20

    /// An unknown state counts as ready to start.
    init(wireValue: UInt32) {
        self = PlaybackState(rawValue: wireValue) ?? .readyToStart
    }
}
