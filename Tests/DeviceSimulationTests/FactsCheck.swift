import DeviceSimulation
import FairPlay
import Testing

/// Whether the server reads in an SPC what the device has put there.
struct FactsCheck {
    let options: DeviceOptions
    let spc: SPC

    func run() {
        let facts = spc.device
        #expect(spc.version == options.version)
        #expect(Array(spc.assetID) == options.assetID)
        if let transactionID = options.transactionID { #expect(spc.transactionID == transactionID) }
        if let deviceID = options.deviceID, let keys = spc.sessionKeys { #expect(keys.deviceID == deviceID) }
        #expect(facts.protocolVersionUsed == options.protocolVersionUsed)
        #expect(facts.protocolVersionsSupported == options.protocolVersionsSupported)
        #expect(facts.hasCapabilities == (options.capabilities != nil))
        #expect(facts.capabilities == options.capabilities ?? [])
        #expect(facts.playbackState == options.playbackState)
        #expect(facts.identity == options.deviceIdentity)
        #expect(facts.info == options.deviceInfo)
        #expect(facts.virtualMachine == readableVirtualMachine)
        #expect(facts.hasUnreadableVirtualMachineInfo == (readableVirtualMachine != options.virtualMachine))
        #expect(facts.securityReport == report)
        #expect(facts.denyListVersion == options.denyListVersion ?? report?.denyListVersion)
        #expect(facts.keyFormats == expectedKeyFormats)
        #expect(facts.output == expectedOutput)
        #expect(spc.syncReport == syncReport)
    }

    private var report: SecurityLevelReport? {
        guard case .report(let report) = options.securityLevel else { return nil }
        return report
    }

    /// Versions 0 and 1 are known.
    private var readableVirtualMachine: VirtualMachineInfo? {
        options.virtualMachine.flatMap { $0.version <= 1 ? $0 : nil }
    }

    private var syncReport: SyncReport? {
        guard case .report(let report) = options.sync else { return nil }
        return report
    }

    private var expectedKeyFormats: [UInt64] {
        guard let formats = options.keyFormats, !formats.isEmpty else { return [0x58b3_8165_af0e_3d5a] }
        return formats
    }

    private var expectedOutput: PlaybackOutput {
        switch options.streamingIndicator {
        case .airPlay: .airPlay
        case .avAdapter: .avAdapter
        case .none, .local, .value: .local
        }
    }
}
