/// What is believed of devices that do not say, and what is always refused to some (protocol, sections
/// 4.3 and 4.6).
package struct DevicePolicy: Sendable, Equatable {
    /// Whether a device without a capabilities block is given offline keys of version 1: the first systems with dual
    /// expiry sent none.
    package var assumesOfflineKeySupport = false
    /// Whether a Mac whose kext deny list is older than `denyListVersionMinimum` is refused. Otherwise it counts as
    /// Baseline.
    package var refusesOldDenyLists = false
    /// Whether virtual machines are refused, and devices whose statement about it cannot be read.
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
