import ByteCoding
import DeviceSimulation
import FairPlay
import TestSupport
import Testing

/// Which devices can receive which terms: every rule alone, on both sides of its limit.
@Suite struct LicenseTermsTests {
    private let bench: SPCBench
    private static let state = MediaPlaybackState(createdAt: 1, state: .readyToStart, sessionID: 2)
    private static let seconds = LicenseSeconds(300)

    init() throws {
        bench = try SPCBench()
    }

    private func facts(_ change: (inout DeviceOptions) -> Void = { _ in }) throws -> DeviceFacts {
        try bench.open(change).device
    }

    private func check(
        _ terms: LicenseTerms, _ device: DeviceFacts, _ change: (inout DevicePolicy) -> Void = { _ in }
    ) throws(LicenseTermsError) {
        var policy = DevicePolicy()
        change(&policy)
        try terms.check(for: device, by: policy)
    }

    // MARK: Durations

    private static func durations() throws -> [KeyDuration] {
        let seconds = try #require(seconds)
        return [
            .lease(seconds), .rental(seconds), .leaseAndRental(lease: seconds, rental: seconds), .persistent,
            .persistentLimited(seconds),
        ]
    }

    @Test(arguments: try durations())
    func aDurationNeedsThePlaybackState(duration: KeyDuration) throws {
        let terms = LicenseTerms(validity: .duration(duration))
        try check(terms, facts { $0.playbackState = Self.state })
        let stateless = try facts()
        #expect(throws: LicenseTermsError.durationNeedsPlaybackState) { try check(terms, stateless) }
    }

    @Test func theSessionNeedsNothing() throws {
        try check(LicenseTerms(), facts())
    }

    @Test(arguments: try durations())
    func tellsLeaseRentalAndWhetherTheKeyMayBeKept(duration: KeyDuration) {
        let terms = LicenseTerms(validity: .duration(duration))
        switch duration {
        case .lease: #expect((terms.lease, terms.rental, terms.isPersistent) == (Self.seconds, nil, false))
        case .rental: #expect((terms.lease, terms.rental, terms.isPersistent) == (nil, Self.seconds, false))
        case .leaseAndRental:
            #expect((terms.lease, terms.rental, terms.isPersistent) == (Self.seconds, Self.seconds, false))
        case .persistent: #expect((terms.lease, terms.rental, terms.isPersistent) == (nil, nil, true))
        case .persistentLimited: #expect((terms.lease, terms.rental, terms.isPersistent) == (nil, Self.seconds, true))
        }
    }

    private static let clampings: [(UInt64, UInt32?)] = [
        (0, nil), (1, 1), (0xFFFF_FFFD, 0xFFFF_FFFD), (0xFFFF_FFFE, 0xFFFF_FFFE),
        (0xFFFF_FFFF, 0xFFFF_FFFE), (1 << 40, 0xFFFF_FFFE), (.max, 0xFFFF_FFFE),
    ]

    @Test(arguments: clampings)
    func limitsNeverTurnIntoNone(seconds: UInt64, told: UInt32?) {
        #expect(LicenseSeconds(seconds)?.value == told)
    }

    // MARK: Offline keys

    private static let version1 = OfflineKey(.version1(contentID: .zero), storage: seconds, playback: seconds)
    private static let version2 = OfflineKey(
        .version2(streamID: .zero, titleID: .zero), storage: seconds, playback: seconds)

    private static let keepers: [(Capabilities, Bool, Bool)] = [
        (Capabilities.offlineKey, true, false), (.offlineKeyVersion2, true, true),
        ([.offlineKey, .offlineKeyVersion2], true, true), ([.hdcpEnforcement, .secureInvalidation], false, false),
        ([], false, false), (Capabilities(rawValue: ~0b1010), false, false), (Capabilities(rawValue: .max), true, true),
    ]

    @Test(arguments: keepers)
    func anOfflineKeyNeedsItsBit(capabilities: Capabilities, keepsVersion1: Bool, keepsVersion2: Bool) throws {
        let device = try facts { $0.capabilities = capabilities }
        let errors: [(OfflineKey, Bool, LicenseTermsError)] = [
            (Self.version1, keepsVersion1, .offlineKeyUnsupported),
            (Self.version2, keepsVersion2, .offlineKeyVersion2Unsupported),
        ]
        for (key, isKept, error) in errors {
            let terms = LicenseTerms(validity: .offlineKey(key))
            #expect(terms.isPersistent && terms.lease == nil && terms.rental == nil)
            if isKept {
                try check(terms, device)
            } else {
                #expect(throws: error) { try check(terms, device) }
            }
        }
    }

    @Test func aDeviceThatDoesNotSayKeepsNoOfflineKey() throws {
        let silent = try facts()
        let terms = LicenseTerms(validity: .offlineKey(Self.version1))
        #expect(throws: LicenseTermsError.offlineKeyUnsupported) { try check(terms, silent) }
        let newer = LicenseTerms(validity: .offlineKey(Self.version2))
        #expect(throws: LicenseTermsError.offlineKeyVersion2Unsupported) { try check(newer, silent) }
    }

    /// An offline key needs no playback state, because it has another block than durations.
    @Test func anOfflineKeyNeedsNoPlaybackState() throws {
        let device = try facts { $0.capabilities = .offlineKeyVersion2 }
        #expect(device.playbackState == nil)
        try check(LicenseTerms(validity: .offlineKey(Self.version2)), device)
    }

    // MARK: Protection

    private static let enforcers: [(Capabilities?, Bool)] = [
        (nil, false), ([], false), (.hdcpEnforcement, true),
        ([.hdcpEnforcement, .offlineKey, .securityLevelMain], true), (Capabilities(rawValue: .max), true),
        (Capabilities(rawValue: .max - 1), false),
    ]

    @Test(arguments: enforcers)
    func type1NeedsItsBit(capabilities: Capabilities?, isFit: Bool) throws {
        let device = try facts { $0.capabilities = capabilities }
        for level in [HDCPLevel?.none, .some(.none), .type0] { try check(LicenseTerms(hdcp: level), device) }
        let terms = LicenseTerms(hdcp: .type1)
        if isFit {
            try check(terms, device)
        } else {
            #expect(throws: LicenseTermsError.hdcpTypeUnsupported) { try check(terms, device) }
        }
    }

    @Test(arguments: SecurityLevel.allCases, SecurityLevel.allCases)
    func aDeviceMustReachTheLevel(required: SecurityLevel, reported: SecurityLevel) throws {
        let device = try facts {
            $0.securityLevel = .report(SecurityLevelReport(rawLevel: reported.rawValue, denyListVersion: 0))
        }
        let terms = LicenseTerms(securityLevel: required)
        if required.rawValue <= reported.rawValue {
            try check(terms, device)
        } else {
            #expect(throws: LicenseTermsError.securityLevelTooLow(required: required, device: reported)) {
                try check(terms, device)
            }
        }
    }

    @Test(arguments: SecurityLevel.allCases)
    func aDeviceThatSaysNothingMayHaveEveryLevel(required: SecurityLevel) throws {
        try check(LicenseTerms(securityLevel: required), facts())
    }

    @Test func aDeviceBelowAllLevelsHasNone() throws {
        let weak = try facts { $0.securityLevel = .report(SecurityLevelReport(rawLevel: 1, denyListVersion: 0)) }
        #expect(throws: LicenseTermsError.securityLevelTooLow(required: .audio, device: nil)) {
            try check(LicenseTerms(securityLevel: .audio), weak)
        }
        try check(LicenseTerms(), weak)
    }

    // MARK: Policies

    @Test(arguments: [(UInt32(0), false), (1, true), (30, true), (31, false)])
    func anOldDenyListIsRefusedOnlyWhereThePolicySaysSo(version: UInt32, isOld: Bool) throws {
        let device = try facts { $0.denyListVersion = version }
        try check(LicenseTerms(), device)
        if isOld {
            #expect(throws: LicenseTermsError.denyListOutdated(version: version)) {
                try check(LicenseTerms(), device) { $0.refusesOldDenyLists = true }
            }
        } else {
            try check(LicenseTerms(), device) { $0.refusesOldDenyLists = true }
        }
    }

    @Test func aVirtualMachineIsRefusedOnlyWhereThePolicySaysSo() throws {
        let side = VirtualMachineInfo.Side(
            deviceClass: .appleDesktop, operatingSystem: .init(rawValue: 0), protocolVersion: 1)
        for version in [UInt32(0), 1] {
            let device = try facts {
                $0.virtualMachine = VirtualMachineInfo(version: version, host: side, guest: side)
            }
            try check(LicenseTerms(), device)
            guard version != 0 else {
                try check(LicenseTerms(), device) { $0.refusesVirtualMachines = true }
                continue
            }
            #expect(throws: LicenseTermsError.virtualMachine) {
                try check(LicenseTerms(), device) { $0.refusesVirtualMachines = true }
            }
        }
    }
}
