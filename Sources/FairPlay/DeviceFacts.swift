/// What a device says of itself in an SPC (protocol, sections 2.1, 4.5 and 4.6).
///
/// The payload has no MAC: the sender of an SPC can alter all of it, so it is fit for refusing and for the log, and
/// never loosens a check.
package struct DeviceFacts: Sendable, Equatable {
    /// Whether the device sent its capabilities; without them it has none.
    package let hasCapabilities: Bool
    package let capabilities: Capabilities
    /// What the device reports; nil if it does not, or only in a form that this server cannot read.
    package let securityReport: SecurityLevelReport?
    package let identity: DeviceIdentity?
    package let info: DeviceInfo?
    /// The version of the kext deny list of a Mac, from its own block or else from the report. The block counts even if
    /// it says 0, and 0 is not an old version (protocol, section 4.6).
    package let denyListVersion: UInt32?
    package let virtualMachine: VirtualMachineInfo?
    /// Whether the device says something of virtual machines in a form that this server cannot read.
    package let hasUnreadableVirtualMachineInfo: Bool
    package let output: PlaybackOutput
    package let playbackState: MediaPlaybackState?
    package let protocolVersionUsed: UInt32
    package let protocolVersionsSupported: [UInt32]
    /// At least one.
    package let keyFormats: [UInt64]

    /// What a device supports that does not say: a content key of 16 bytes.
    package static let keyFormatDefault = TLLVTag.contentKey

    package var hasOldDenyList: Bool {
        guard let denyListVersion else { return false }
        return denyListVersion > 0 && denyListVersion < DevicePolicy.denyListVersionMinimum
    }

    /// The strongest known level that the device reaches. Nil if nothing is known, or if it reaches none:
    /// `falls(below:)` tells these apart.
    package var securityLevel: SecurityLevel? { securityNumber.flatMap { SecurityLevel(reported: $0) } }

    /// Whether the device is known to be weaker than `level`.
    package func falls(below level: SecurityLevel) -> Bool {
        guard let securityNumber else { return false }
        return securityNumber < level.rawValue
    }

    /// As reported, else by the capability bits, and Baseline at most with an old deny list; in the numbers of the
    /// levels. Nil if nothing is known.
    private var securityNumber: UInt64? {
        guard hasOldDenyList else { return reportedNumber }
        return min(reportedNumber ?? .max, SecurityLevel.baseline.rawValue)
    }

    private var reportedNumber: UInt64? {
        if let securityReport { return securityReport.rawLevel }
        if capabilities.contains(.securityLevelMain) { return SecurityLevel.main.rawValue }
        return capabilities.contains(.securityLevelBaseline) ? SecurityLevel.baseline.rawValue : nil
    }

    /// Whether the device may be sent an offline key block at all.
    package func supportsOfflineKey(by policy: DevicePolicy) -> Bool {
        if hasCapabilities { return !capabilities.isDisjoint(with: [.offlineKey, .offlineKeyVersion2]) }
        return policy.assumesOfflineKeySupport
    }
}

/// Where the pictures go (streaming indicator).
package enum PlaybackOutput: Sendable, Equatable {
    /// The device's own screen: any value but the two below; real devices send random ones.
    case local
    /// AirPlay to a television or set-top box.
    case airPlay
    /// Apple's digital AV adapter, which the SPC's HU then names in place of the device.
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
