import DeviceSimulation
import FairPlay

/// Decides what must be refused, only from an SPC's options and the rules of the protocol. It does not use the server's
/// own reading.
struct RefusalModel {
    let options: DeviceOptions
    let policy: DevicePolicy

    /// Every reason to refuse these terms. The server may name any of them.
    func reasons(against terms: LicenseTerms) -> [LicenseTermsError] {
        validityReasons(terms.validity) + hdcpReasons(terms.hdcp) + levelReasons(terms.securityLevel) + policyReasons
    }

    /// The blocks of a CKC with these terms that the device would refuse.
    func blocksBeyondDevice(_ terms: LicenseTerms) -> [UInt64] {
        var tags: [UInt64] = []
        switch terms.validity {
        case .session: break
        case .duration: if options.playbackState == nil { tags.append(TLLVTag.contentKeyDuration) }
        case .offlineKey(let key):
            // A device of the first systems reports nothing, and can read version 1.
            let isSilent = options.capabilities == nil && key.isVersion1
            if !canKeep(key), !isSilent { tags.append(TLLVTag.offlineKey) }
        }
        if terms.hdcp == .type1, !has(bit: 0) { tags.append(TLLVTag.hdcpEnforcement) }
        return tags
    }

    private func has(bit: UInt64) -> Bool {
        (options.capabilities?.rawValue ?? 0) >> bit & 1 == 1
    }

    private func canKeep(_ key: OfflineKey) -> Bool {
        key.isVersion1 ? has(bit: 1) || has(bit: 3) : has(bit: 3)
    }

    private func validityReasons(_ validity: LicenseTerms.Validity) -> [LicenseTermsError] {
        switch validity {
        case .session: return []
        case .duration: return options.playbackState == nil ? [.durationNeedsPlaybackState] : []
        case .offlineKey(let key):
            if canKeep(key) { return [] }
            if !key.isVersion1 { return [.offlineKeyVersion2Unsupported] }
            return [.offlineKeyUnsupported]
        }
    }

    private func hdcpReasons(_ hdcp: HDCPLevel?) -> [LicenseTermsError] {
        hdcp == .type1 && !has(bit: 0) ? [.hdcpTypeUnsupported] : []
    }

    private func levelReasons(_ required: SecurityLevel?) -> [LicenseTermsError] {
        guard let required, let number = levelNumber, number < required.rawValue else { return [] }
        let level = SecurityLevel.allCases.filter { $0.rawValue <= number }.max()
        return [.securityLevelTooLow(required: required, device: level)]
    }

    private var policyReasons: [LicenseTermsError] {
        var reasons: [LicenseTermsError] = []
        if policy.refusesOldDenyLists, let version = oldDenyListVersion {
            reasons.append(.denyListOutdated(version: version))
        }
        if policy.refusesVirtualMachines, let machine = options.virtualMachine, machine.version != 0 {
            reasons.append(machine.version == 1 ? .virtualMachine : .virtualMachineUnknown)
        }
        return reasons
    }

    private var report: SecurityLevelReport? {
        guard case .report(let report) = options.securityLevel else { return nil }
        return report
    }

    private var oldDenyListVersion: UInt32? {
        let version = options.denyListVersion ?? report?.denyListVersion ?? 0
        return (1...30).contains(version) ? version : nil
    }

    /// The number of the device's level, or nil if the device reports none.
    private var levelNumber: UInt64? {
        let said: UInt64? =
            if let report {
                report.rawLevel
            } else if has(bit: 5) {
                0x4e7f_d924_21d5_88b4
            } else if has(bit: 4) {
                0x32f0_0049_66a5_c4f8
            } else {
                nil
            }
        return oldDenyListVersion == nil ? said : min(said ?? .max, 0x32f0_0049_66a5_c4f8)
    }
}

extension OfflineKey {
    fileprivate var isVersion1: Bool {
        switch name {
        case .version1: true
        case .version2: false
        }
    }
}
