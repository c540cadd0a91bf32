/// The terms of a license, from which the blocks of a CKC are written.
///
/// The type cannot express terms that FairPlay does not allow: an offline key with a lease, or a CKC with both a
/// duration block and an offline key block, which a device refuses.
package struct LicenseTerms: Sendable, Equatable {
    /// For how long the key is valid, and whether the device may keep it.
    package enum Validity: Sendable, Equatable {
        /// The key is valid for the playback session. No block is sent for it.
        case session
        /// The key is valid as a content key duration block states.
        case duration(KeyDuration)
        /// The key is valid as an offline key block states.
        case offlineKey(OfflineKey)
    }

    package var validity: Validity
    /// The HDCP level. If it is nil, no block is sent, and the device enforces HDCP Type 0.
    package var hdcp: HDCPLevel?
    /// The minimum security level that the device must have. If it is nil, no block is sent.
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

/// Why the terms of a license cannot be sent to a device, or why the device is not suitable for them.
///
/// The request is then refused. The server never issues a less strict license instead.
package enum LicenseTermsError: Error, Equatable, Sendable {
    /// The terms have a time limit, but the SPC has no media playback state.
    case durationNeedsPlaybackState
    /// The terms need an offline key block, but the device does not support it.
    case offlineKeyUnsupported
    /// The terms need an offline key block of version 2, but the device does not support it.
    case offlineKeyVersion2Unsupported
    /// The terms have one limit until the first play and another one after it, but the device supports only one limit.
    case dualExpiryUnsupported
    /// The terms need HDCP Type 1, but the device does not support it.
    case hdcpTypeUnsupported
    /// The device is known to be below the required level. `device` is nil if it is below all levels.
    case securityLevelTooLow(required: SecurityLevel, device: SecurityLevel?)
    /// The device's deny list is too old, and the policy refuses that.
    case denyListOutdated(version: UInt32)
    /// The device is a virtual machine, and the policy refuses that.
    case virtualMachine
    /// The device's statement about virtual machines cannot be read, and the policy refuses them.
    case virtualMachineUnknown
    /// The library of the credential cannot be told a term.
    case library(LibraryTermError)
}

extension LicenseTermsError: CustomStringConvertible {
    /// One line for the log.
    package var description: String {
        switch self {
        case .durationNeedsPlaybackState: "a time limit needs a media playback state in the SPC"
        case .offlineKeyUnsupported: "the device does not support offline keys"
        case .offlineKeyVersion2Unsupported: "the device does not support offline keys of version 2"
        case .dualExpiryUnsupported: "the device supports only one limit of an offline key, not storage and playback"
        case .hdcpTypeUnsupported: "the device cannot enforce HDCP Type 1"
        case .securityLevelTooLow(let required, let device):
            "the content demands the security level \(required), the device has \(device.map { "\($0)" } ?? "less than audio")"
        case .denyListOutdated(let version): "the device's deny list has version \(version)"
        case .virtualMachine: "the device is a virtual machine"
        case .virtualMachineUnknown: "the virtual machine info of the device has an unknown form"
        case .library(let error): "the library of the credential cannot be told \(error)"
        }
    }
}

extension LicenseTerms {
    /// Checks that the terms can be sent to the device, and that the device is suitable for them (protocol, sections
    /// 2.2, 4.2, 4.3 and 4.6).
    package func check(for device: DeviceFacts, by policy: DevicePolicy) throws(LicenseTermsError) {
        switch validity {
        case .session: break
        case .duration: if device.playbackState == nil { throw .durationNeedsPlaybackState }
        case .offlineKey(let key): try Self.check(key.name, for: device)
        }
        if hdcp == .type1, !device.capabilities.contains(.hdcpEnforcement) { throw .hdcpTypeUnsupported }
        if let securityLevel, device.falls(below: securityLevel) {
            throw .securityLevelTooLow(required: securityLevel, device: device.securityLevel)
        }
        try policy.check(device)
    }

    private static func check(_ name: OfflineKey.Name, for device: DeviceFacts) throws(LicenseTermsError) {
        switch name {
        case .version1: if !device.supportsOfflineKey { throw .offlineKeyUnsupported }
        case .version2: if !device.capabilities.contains(.offlineKeyVersion2) { throw .offlineKeyVersion2Unsupported }
        }
    }
}

/// The level in an HDCP enforcement block (protocol, section 4.6). In the block, eight random bytes follow it.
///
/// A stronger level is greater.
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

/// The operator's rules for devices: how their offline keys end, and which devices are refused (protocol, sections 4.3
/// and 4.6).
package struct DevicePolicy: Sendable, Equatable {
    /// Whether a device that supports offline keys gets a hard end as two halves, one until the first play and one
    /// after it. Only such a key can be reported and invalidated.
    package var splitsHardEnds = false
    /// Whether a Mac whose kext deny list is older than `denyListVersionMinimum` is refused. Otherwise it counts as
    /// Baseline.
    package var refusesOldDenyLists = false
    /// Whether the server refuses virtual machines, and devices whose virtual machine info it cannot read.
    package var refusesVirtualMachines = false

    /// The oldest version of the deny list that is not too old.
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
