import FairPlay
import Records

extension DeviceSummary {
    /// The facts that a license's ledger row, log lines and metrics show.
    init(_ facts: DeviceFacts) {
        let used = facts.protocolVersionUsed
        self.init(versions: Versions(used: used, newest: facts.protocolVersionsSupported.max() ?? used))
        securityLevel = facts.statedLevel.map { SecurityLevel($0) }
        (deviceClass, deviceType) = Self.kind(of: facts)
        operatingSystem = (facts.identity?.operatingSystem ?? facts.info?.operatingSystem).map {
            $0.rawValue & 0xFFFFFF
        }
        // Every device that reports its level has the number, and 0 says nothing.
        denyList = facts.denyListVersion.flatMap { $0 == 0 ? nil : UInt16(clamping: $0) }
        capabilities = facts.statesCapabilities ? UInt16(truncatingIfNeeded: facts.capabilities.rawValue) : nil
        output = Output(facts.output)
        playback = facts.playbackState.map { Playback($0.state) }
        machine =
            facts.hasUnreadableVirtualMachineInfo
            ? .unreadable : facts.virtualMachine.map { $0.isVirtual ? .virtual : .physical }
    }

    /// The class; for an older device the class of its type, or a type that has none.
    private static func kind(of facts: DeviceFacts) -> (class: UInt32?, type: UInt64?) {
        if let identity = facts.identity { return (identity.deviceClass.number, nil) }
        guard let info = facts.info else { return (nil, nil) }
        return info.type.map { ($0.deviceClass.number, nil) } ?? (nil, info.rawType)
    }
}

extension DeviceSummary.SecurityLevel {
    fileprivate init(_ number: UInt64) {
        self =
            switch FairPlay.SecurityLevel(rawValue: number) {
            case .audio: .audio
            case .baseline: .baseline
            case .main: .main
            case nil: .other(number)
            }
    }
}

extension DeviceSummary.Output {
    fileprivate init(_ output: PlaybackOutput) {
        self =
            switch output {
            case .local: .local
            case .airPlay: .airPlay
            case .avAdapter: .avAdapter
            }
    }
}

extension DeviceSummary.Playback {
    fileprivate init(_ state: PlaybackState) {
        self =
            switch state {
            case .readyToStart: .ready
            case .playing: .playing
            case .leaseExpiring: .expiring
            case .stopped: .stopped
            }
    }
}
