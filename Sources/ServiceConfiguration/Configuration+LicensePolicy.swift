import FairPlay
import Licensing

extension LicensePolicy {
    /// Reads the fields of `fairplay` with the demands on devices.
    init(reading section: ConfigurationSection) {
        var device = DevicePolicy()
        device.splitsHardEnds =
            section.value("offlineEnd", .choice(OfflineEndWord.allCases, example: .split), default: .hard) == .split
        device.refusesOldDenyLists = section.value("refuseOldDenyLists", .boolean, default: false)
        device.refusesVirtualMachines = section.value("refuseVirtualMachines", .boolean, default: false)
        let content = section.section("contentPolicies", ContentPolicyTable.init(reading:)) ?? .default
        self.init(content: content, device: device)
    }
}

extension ContentPolicyTable {
    /// Reads the entries that are set. The others keep their defaults.
    fileprivate init(reading section: ConfigurationSection) {
        self = .default
        let entries: [(String, WritableKeyPath<ContentPolicyTable, ContentPolicy>)] = [
            ("audio", \.audio), ("sd", \.sd), ("hd", \.hd), ("uhd", \.uhd),
        ]
        for (name, entry) in entries {
            let standard = self[keyPath: entry]
            self[keyPath: entry] =
                section.section(name) { ContentPolicy(reading: $0, default: standard) } ?? standard
        }
    }
}

extension ContentPolicy {
    fileprivate init(reading section: ConfigurationSection, default standard: ContentPolicy) {
        let level = section.optional("securityLevel", .choice(SecurityLevelWord.allCases, example: .baseline))
        let hdcp = section.optional("hdcp", .choice(HDCPWord.allCases, example: .type0))
        self.init(
            securityLevel: level?.level ?? standard.securityLevel,
            leastHDCP: hdcp.map(\.level) ?? standard.leastHDCP)
    }
}

private enum OfflineEndWord: String, CaseIterable {
    case hard, split
}

private enum SecurityLevelWord: String, CaseIterable {
    case audio, baseline, main

    var level: SecurityLevel {
        switch self {
        case .audio: .audio
        case .baseline: .baseline
        case .main: .main
        }
    }
}

private enum HDCPWord: String, CaseIterable {
    /// No demand: the right or the device's own default decides. It is not called `none`, because `Optional` has that
    /// case too.
    case noFloor = "none"
    case type0, type1

    var level: HDCPLevel? {
        switch self {
        case .noFloor: nil
        case .type0: .type0
        case .type1: .type1
        }
    }
}
