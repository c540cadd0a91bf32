/// What a licence allows a device: one value for every block of a CKC that says so.
///
/// That a lease is offline, or that both the duration block and the offline key block are sent (which a client takes
/// for an invalid CKC), cannot be said with it.
package struct LicenseTerms: Sendable, Equatable {
    /// How long the key lives, and whether the device may keep it.
    package enum Validity: Sendable, Equatable {
        /// For the playback session: no block says more.
        case session
        /// As the content key duration block says.
        case duration(KeyDuration)
        /// As the offline key block says.
        case offlineKey(OfflineKey)
    }

    package var validity: Validity
    /// Nil: no block is sent, and the device enforces HDCP Type 0.
    package var hdcp: HDCPLevel?
    /// The least level that the device must have; nil: no block is sent.
    package var securityLevel: SecurityLevel?

    package init(validity: Validity = .session, hdcp: HDCPLevel? = nil, securityLevel: SecurityLevel? = nil) {
        self.validity = validity
        self.hdcp = hdcp
        self.securityLevel = securityLevel
    }

    /// The lease of the duration block.
    package var lease: LicenseSeconds? {
        guard case .duration(let duration) = validity else { return nil }
        return duration.lease
    }

    /// The rental of the duration block.
    package var rental: LicenseSeconds? {
        guard case .duration(let duration) = validity else { return nil }
        return duration.rental
    }

    /// Whether the device may keep the key.
    package var isPersistent: Bool {
        switch validity {
        case .session, .duration(.lease), .duration(.rental), .duration(.leaseAndRental): false
        case .duration(.persistent), .duration(.persistentLimited), .offlineKey: true
        }
    }
}

/// Why a device cannot be told the terms that the rights demand, or is not fit for them. The answer is a refusal, never
/// a longer licence.
package enum LicenseTermsError: Error, Equatable, Sendable {
    /// A limit in time, for an SPC without a media playback state.
    case durationNeedsPlaybackState
    /// An offline key block, for a device whose capabilities lack it.
    case offlineKeyUnsupported
    /// An offline key block of version 2, for a device whose capabilities lack it.
    case offlineKeyVersion2Unsupported
    /// One end before the first use and another after it, for a device that knows only one.
    case dualExpiryUnsupported
    /// HDCP Type 1, for a device whose capabilities lack it.
    case hdcpTypeUnsupported
    /// The device is known to be below the level; nil is below all of them.
    case securityLevelTooLow(required: SecurityLevel, device: SecurityLevel?)
    /// The device's deny list is too old, and the policy refuses that.
    case denyListOutdated(version: UInt32)
    /// The device is a virtual machine, and the policy refuses that.
    case virtualMachine
    /// The device's statement about virtual machines cannot be read, and the policy refuses them.
    case virtualMachineUnknown
}

extension LicenseTermsError: CustomStringConvertible {
    /// Words for the log.
    package var description: String {
        switch self {
        case .durationNeedsPlaybackState: "a limit in time needs a media playback state in the SPC"
        case .offlineKeyUnsupported: "the device knows no offline keys"
        case .offlineKeyVersion2Unsupported: "the device knows no offline keys of version 2"
        case .dualExpiryUnsupported: "the device knows one end of a kept key only"
        case .hdcpTypeUnsupported: "the device cannot enforce HDCP Type 1"
        case .securityLevelTooLow(let required, let device):
            "the content demands the security level \(required), the device has \(device.map { "\($0)" } ?? "less than audio")"
        case .denyListOutdated(let version): "the device's deny list has version \(version)"
        case .virtualMachine: "the device is a virtual machine"
        case .virtualMachineUnknown: "the device describes its virtual machine in a form that is not known"
        }
    }
}

extension LicenseTerms {
    /// Whether the device can be told these terms and is fit for them (protocol, sections 2.2, 4.2, 4.3 and 4.6).
    package func check(for device: DeviceFacts, by policy: DevicePolicy) throws(LicenseTermsError) {
        switch validity {
        case .session: break
        case .duration: if device.playbackState == nil { throw .durationNeedsPlaybackState }
        case .offlineKey(let key): try Self.check(key.name, for: device, by: policy)
        }
        if hdcp == .type1, !device.capabilities.contains(.hdcpEnforcement) { throw .hdcpTypeUnsupported }
        if let securityLevel, device.falls(below: securityLevel) {
            throw .securityLevelTooLow(required: securityLevel, device: device.securityLevel)
        }
        try policy.check(device)
    }

    private static func check(
        _ name: OfflineKey.Name, for device: DeviceFacts, by policy: DevicePolicy
    ) throws(LicenseTermsError) {
        switch name {
        case .version1: if !device.supportsOfflineKey(by: policy) { throw .offlineKeyUnsupported }
        case .version2: if !device.capabilities.contains(.offlineKeyVersion2) { throw .offlineKeyVersion2Unsupported }
        }
    }
}

/// The HDCP enforcement block's first word (protocol, section 4.6); eight random bytes follow it.
///
/// Levels are ordered by how much they protect.
package enum HDCPLevel: UInt64, Sendable, CaseIterable, Comparable {
    case none = 0xef72_894c_a789_5b78
    case type0 = 0x4079_1ac7_8bd5_c571
    case type1 = 0x285a_0863_bba8_e1d3

    private var rank: Int {
        switch self {
        case .none: 0
        case .type0: 1
        case .type1: 2
        }
    }

    package static func < (one: HDCPLevel, other: HDCPLevel) -> Bool { one.rank < other.rank }
}

/// What is believed of devices that do not say, and what is always refused to some (protocol, sections
/// 4.3 and 4.6).
package struct DevicePolicy: Sendable, Equatable {
    /// Whether a device without a capabilities block is given offline keys of version 1: the first systems with dual
    /// expiry sent none.
    package var assumesOfflineKeySupport = false
    /// Whether a Mac whose kext deny list is older than `denyListVersionMinimum` is refused. Otherwise it counts as
    /// Baseline.
    package var refusesOldDenyLists = false
    /// Whether virtual machines are refused, and devices whose virtual machine info cannot be read.
    package var refusesVirtualMachines = false

    /// The first version of the deny list that is not too old.
    package static let denyListVersionMinimum: UInt32 = 31

    package init() {}

    func check(_ device: DeviceFacts) throws(LicenseTermsError) {
        if refusesOldDenyLists, let version = device.denyListVersion, device.hasOldDenyList {
            throw .denyListOutdated(version: version)
        }
        guard refusesVirtualMachines else { return }
        if device.virtualMachine?.isVirtual == true { throw .virtualMachine }
        if device.hasUnreadableVirtualMachineInfo { throw .virtualMachineUnknown }
    }
}
