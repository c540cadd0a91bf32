import ByteCoding
import DeviceSimulation
import FairPlay
import TestSupport

extension DeviceOptions {
    /// Random options with anything that a device may report.
    static func random(_ version: SPCVersion, _ generator: inout SeededGenerator) -> DeviceOptions {
        let size = Int.random(in: 2...200, using: &generator)
        var options = DeviceOptions(version: version, assetID: generator.bytes(count: size))
        options.unknownBlockCount = Int.random(in: 0...20, using: &generator)
        options.shufflesBlocks = .random(using: &generator)
        if .random(using: &generator) { options.deviceID = DeviceID(generator.bytes(count: 20)) }
        if .random(using: &generator) { options.transactionID = generator.next() }
        options.protocolVersionsSupported = [[1], [1, 2], [2, 1], [3, 2, 1]].randomElement(using: &generator) ?? [1]
        options.streamingIndicator =
            [nil, .local, .airPlay, .avAdapter, .value(generator.next())].randomElement(using: &generator) ?? nil
        if .random(using: &generator) { options.playbackState = .random(&generator) }
        if .random(using: &generator) { options.capabilities = Capabilities(rawValue: generator.next()) }
        options.sayWhatItIs(&generator)
        options.sayWhatItProtects(&generator)
        options.sync =
            [nil, .nothing, .report(.random(&generator))].randomElement(using: &generator) ?? nil
        options.video =
            [nil, .sealed, .opaque(.random(&generator))].randomElement(using: &generator) ?? nil
        if .random(using: &generator) {
            options.returnRequest = [TLLVTag.transactionID, TLLVTag.assetID, TLLVTag.r2, TLLVTag.antiReplaySeed]
                .filter { _ in .random(using: &generator) }
        }
        return options
    }

    private mutating func sayWhatItIs(_ generator: inout SeededGenerator) {
        if .random(using: &generator) { deviceIdentity = .random(&generator) }
        if .random(using: &generator) {
            let types = DeviceType.allCases.map(\.rawValue) + [generator.next()]
            deviceInfo = DeviceInfo(
                rawType: types.randomElement(using: &generator) ?? 0, operatingSystem: .random(&generator))
        }
        if .random(using: &generator) { virtualMachine = .random(&generator) }
    }

    private mutating func sayWhatItProtects(_ generator: inout SeededGenerator) {
        if .random(using: &generator) { denyListVersion = .random(in: 0...60, using: &generator) }
        if .random(using: &generator) {
            securityLevel =
                .random(using: &generator)
                ? .encrypted
                : .report(
                    SecurityLevelReport(
                        rawLevel: .randomLevel(&generator), denyListVersion: .random(in: 0...60, using: &generator)))
        }
        if .random(using: &generator) {
            keyFormats = (0..<Int.random(in: 0...64, using: &generator)).map { _ in generator.next() }
        }
    }
}

extension UInt64 {
    /// A known level, a number next to one, or any number.
    fileprivate static func randomLevel(_ generator: inout SeededGenerator) -> UInt64 {
        let levels = SecurityLevel.allCases.flatMap { [$0.rawValue - 1, $0.rawValue, $0.rawValue + 1] }
        return (levels + [0, 1, .max, generator.next()]).randomElement(using: &generator) ?? 0
    }
}

extension MediaPlaybackState {
    static func random(_ generator: inout SeededGenerator) -> MediaPlaybackState {
        MediaPlaybackState(
            createdAt: .random(in: .min ... .max, using: &generator),
            state: PlaybackState.allCases.randomElement(using: &generator) ?? .playing, sessionID: generator.next())
    }
}

extension OperatingSystemVersion {
    static func random(_ generator: inout SeededGenerator) -> OperatingSystemVersion {
        OperatingSystemVersion(rawValue: .random(in: .min ... .max, using: &generator))
    }
}

extension DeviceClass {
    static func random(_ generator: inout SeededGenerator) -> DeviceClass {
        DeviceClass(.random(in: .random(using: &generator) ? 0...255 : .min ... .max, using: &generator))
    }
}

extension DeviceIdentity {
    static func random(_ generator: inout SeededGenerator) -> DeviceIdentity {
        DeviceIdentity(
            version: .random(in: .min ... .max, using: &generator), deviceClass: .random(&generator),
            vendorHash: generator.next(), productHash: generator.next(),
            systemFairPlayVersion: .random(in: .min ... .max, using: &generator),
            trustedFairPlayVersion: .random(in: .min ... .max, using: &generator),
            operatingSystem: .random(&generator))
    }
}

extension VirtualMachineInfo {
    static func random(_ generator: inout SeededGenerator) -> VirtualMachineInfo {
        VirtualMachineInfo(
            version: .random(in: 0...2, using: &generator), host: .random(&generator), guest: .random(&generator))
    }
}

extension VirtualMachineInfo.Side {
    static func random(_ generator: inout SeededGenerator) -> VirtualMachineInfo.Side {
        VirtualMachineInfo.Side(
            deviceClass: .random(&generator), operatingSystem: .random(&generator),
            protocolVersion: .random(in: .min ... .max, using: &generator))
    }
}

extension Bytes16 {
    static func random(_ generator: inout SeededGenerator) -> Bytes16 {
        Bytes16(high: generator.next(), low: generator.next())
    }
}

extension SyncReport {
    static func random(_ generator: inout SeededGenerator) -> SyncReport {
        let remaining = SyncReport.Remaining(
            wireValue: [0, 1, 86_400, .max - 1, .max].randomElement(using: &generator) ?? 0)
        if .random(using: &generator) {
            return SyncReport(.version1(contentID: .random(&generator)), remaining: remaining)
        }
        let details = SyncReportVersion2(
            challenge: .random(using: &generator) ? 0 : generator.next(),
            flags: SyncFlags(rawValue: generator.next() | 1), titleID: .random(&generator),
            streamIDs: (0..<Int.random(in: 0...8, using: &generator)).map { _ in .random(&generator) })
        return SyncReport(.version2(details), remaining: remaining)
    }
}

extension LadderCall.VideoBlocks {
    static func random(_ generator: inout SeededGenerator) -> LadderCall.VideoBlocks {
        LadderCall.VideoBlocks(
            sessionKeyBlock: generator.bytes(count: .random(in: 0...256, using: &generator)),
            r2: generator.bytes(count: .random(in: 0...64, using: &generator)))
    }
}

extension LicenseTerms {
    /// Random terms with every validity, HDCP type and level, in any combination that the type allows.
    static func random(_ generator: inout SeededGenerator) -> LicenseTerms {
        LicenseTerms(
            validity: .random(&generator),
            hdcp: ([nil] + HDCPLevel.allCases).randomElement(using: &generator) ?? nil,
            securityLevel: ([nil] + SecurityLevel.allCases).randomElement(using: &generator) ?? nil)
    }
}

extension LicenseTerms.Validity {
    fileprivate static func random(_ generator: inout SeededGenerator) -> LicenseTerms.Validity {
        let (first, second) = (LicenseSeconds.random(&generator), LicenseSeconds.random(&generator))
        let name: OfflineKey.Name =
            .random(using: &generator)
            ? .version1(contentID: .random(&generator))
            : .version2(streamID: .random(&generator), titleID: .random(&generator))
        let key = OfflineKey(
            name, storage: .random(using: &generator) ? first : nil, playback: .random(using: &generator) ? second : nil
        )
        let choices: [LicenseTerms.Validity] = [
            .session, .duration(.lease(first)), .duration(.rental(first)),
            .duration(.leaseAndRental(lease: first, rental: second)), .duration(.persistent),
            .duration(.persistentLimited(first)), .offlineKey(key), .offlineKey(key),
        ]
        return choices.randomElement(using: &generator) ?? .session
    }
}

extension LicenseSeconds {
    fileprivate static func random(_ generator: inout SeededGenerator) -> LicenseSeconds {
        let value = [1, 2, 300, 0xFFFF_FFFD, UInt64.random(in: 1...0xFFFF_FFFE, using: &generator)]
            .randomElement(using: &generator)
        guard let seconds = LicenseSeconds(value ?? 1) else { preconditionFailure("none of them is 0") }
        return seconds
    }
}

extension DevicePolicy {
    static func random(_ generator: inout SeededGenerator) -> DevicePolicy {
        var policy = DevicePolicy()
        policy.refusesOldDenyLists = .random(using: &generator)
        policy.refusesVirtualMachines = .random(using: &generator)
        return policy
    }
}
