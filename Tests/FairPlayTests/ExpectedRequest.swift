import DeviceSimulation
import FairPlay
import TestSupport
import Testing

/// The contents of a vector's SPC, as the vector's file has them. Bytes are lower-case hexadecimal digits, and a member
/// is missing if the block is missing.
struct ExpectedRequest: Codable, Sendable {
    let spcVersion: UInt32
    let certificateHash: String
    let assetID: String
    let deviceID: String
    let transactionID: String
    let protocolVersionUsed: UInt32
    let protocolVersionsSupported: [UInt32]
    var streamingIndicator: String?
    var capabilities: String?
    var playbackState: PlaybackState?
    var deviceIdentity: DeviceIdentity?
    var deviceInfo: DeviceInfo?
    var denyListVersion: UInt32?
    var securityLevelReport: SecurityLevelReport?
    var keyFormats: [String]?
    var virtualMachine: VirtualMachine?
    let blockCount: Int

    struct PlaybackState: Codable, Sendable, Equatable {
        let createdAt: UInt32
        let state: String
        let sessionID: String
    }

    struct DeviceIdentity: Codable, Sendable, Equatable {
        let version: UInt32
        let deviceClass: UInt32
        let vendorHash: String
        let productHash: String
        let systemFairPlayVersion: UInt32
        let trustedFairPlayVersion: UInt32
        let operatingSystem: String
    }

    struct DeviceInfo: Codable, Sendable, Equatable {
        let type: String
        let operatingSystem: String
    }

    struct SecurityLevelReport: Codable, Sendable, Equatable {
        let level: String
        let denyListVersion: UInt32
    }

    struct VirtualMachine: Codable, Sendable, Equatable {
        let version: UInt32
        let host: Side
        let guest: Side

        struct Side: Codable, Sendable, Equatable {
            let deviceClass: UInt32
            let operatingSystem: String
            let protocolVersion: UInt32
        }
    }
}

// MARK: - From the options of an SPC

extension ExpectedRequest {
    /// `options` must set device, transaction and streaming indicator, so that no value is random.
    init(_ options: DeviceOptions, certificateHash: [UInt8]) {
        spcVersion = options.version.rawValue
        self.certificateHash = hex(certificateHash)
        assetID = hex(options.assetID)
        deviceID = hex(options.deviceID?.bytes ?? [])
        transactionID = hex(bigEndianBytes(options.transactionID ?? 0))
        protocolVersionUsed = options.protocolVersionUsed
        protocolVersionsSupported = options.protocolVersionsSupported
        streamingIndicator = options.streamingIndicator?.digits
        capabilities = options.capabilities.map { hex(bigEndianBytes($0.rawValue)) }
        playbackState = options.playbackState.map(PlaybackState.init)
        deviceIdentity = options.deviceIdentity.map(DeviceIdentity.init)
        deviceInfo = options.deviceInfo.map(DeviceInfo.init)
        denyListVersion = options.denyListVersion
        securityLevelReport = options.securityLevel?.report.map(SecurityLevelReport.init)
        keyFormats = options.keyFormats?.map { hex(bigEndianBytes($0)) }
        virtualMachine = options.virtualMachine.map(VirtualMachine.init)
        blockCount = Self.requiredBlockCount + options.chosenBlockCount
    }

    private static let requiredBlockCount = 9
}

extension DeviceOptions {
    /// The number of blocks besides the required ones.
    fileprivate var chosenBlockCount: Int {
        let optional = [
            streamingIndicator != nil, playbackState != nil, capabilities != nil, deviceIdentity != nil,
            deviceInfo != nil, denyListVersion != nil, securityLevel != nil, keyFormats != nil,
            virtualMachine != nil, sync != nil,
        ]
        return optional.count { $0 } + (video == nil ? 0 : 2) + otherBlocks.count + unknownBlockCount
    }
}

extension StreamingIndicator {
    /// The value's digits, or nil if the value is random.
    fileprivate var digits: String? {
        switch self {
        case .local: nil
        case .airPlay: "abb0256a31843974"
        case .avAdapter: "5f9c8132b59f2fde"
        case .value(let value): hex(bigEndianBytes(value))
        }
    }
}

extension SecurityLevelStatement {
    fileprivate var report: FairPlay.SecurityLevelReport? {
        switch self {
        case .report(let report): report
        case .encrypted: nil
        }
    }
}

extension ExpectedRequest.PlaybackState {
    init(_ state: MediaPlaybackState) {
        self.init(
            createdAt: state.createdAt, state: "\(state.state)", sessionID: hex(bigEndianBytes(state.sessionID)))
    }
}

extension ExpectedRequest.DeviceIdentity {
    init(_ identity: FairPlay.DeviceIdentity) {
        self.init(
            version: identity.version, deviceClass: identity.deviceClass.number,
            vendorHash: hex(bigEndianBytes(identity.vendorHash)),
            productHash: hex(bigEndianBytes(identity.productHash)),
            systemFairPlayVersion: identity.systemFairPlayVersion,
            trustedFairPlayVersion: identity.trustedFairPlayVersion,
            operatingSystem: hex(bigEndianBytes(identity.operatingSystem.rawValue)))
    }
}

extension ExpectedRequest.DeviceInfo {
    init(_ info: FairPlay.DeviceInfo) {
        self.init(
            type: hex(bigEndianBytes(info.rawType)),
            operatingSystem: hex(bigEndianBytes(info.operatingSystem.rawValue)))
    }
}

extension ExpectedRequest.SecurityLevelReport {
    init(_ report: FairPlay.SecurityLevelReport) {
        self.init(level: hex(bigEndianBytes(report.rawLevel)), denyListVersion: report.denyListVersion)
    }
}

extension ExpectedRequest.VirtualMachine {
    init(_ machine: VirtualMachineInfo) {
        self.init(version: machine.version, host: Side(machine.host), guest: Side(machine.guest))
    }
}

extension ExpectedRequest.VirtualMachine.Side {
    init(_ side: VirtualMachineInfo.Side) {
        self.init(
            deviceClass: side.deviceClass.number,
            operatingSystem: hex(bigEndianBytes(side.operatingSystem.rawValue)),
            protocolVersion: side.protocolVersion)
    }
}

// MARK: - Comparison with what the server reads

extension ExpectedRequest {
    func check(_ spc: SPC) {
        let device = spc.device
        #expect(spc.version.rawValue == spcVersion)
        #expect(hex(spc.certificateHash.bytes) == certificateHash)
        #expect(hex(spc.assetID) == assetID)
        #expect(spc.sessionKeys?.deviceID.description.lowercased() == deviceID)
        #expect(hex(bigEndianBytes(spc.transactionID)) == transactionID)
        #expect(device.protocolVersionUsed == protocolVersionUsed)
        #expect(device.protocolVersionsSupported == protocolVersionsSupported)
        #expect(digits(of: TLLVTag.streamingIndicator, in: spc) == streamingIndicator)
        #expect(hex(bigEndianBytes(device.capabilities.rawValue)) == capabilities ?? "0000000000000000")
        #expect(device.playbackState.map(PlaybackState.init) == playbackState)
        #expect(device.identity.map(DeviceIdentity.init) == deviceIdentity)
        #expect(device.info.map(DeviceInfo.init) == deviceInfo)
        #expect(device.denyListVersion == denyListVersion ?? securityLevelReport?.denyListVersion)
        #expect(device.securityReport.map(SecurityLevelReport.init) == securityLevelReport)
        #expect(device.keyFormats.map { hex(bigEndianBytes($0)) } == keyFormats ?? ["58b38165af0e3d5a"])
        #expect(device.virtualMachine.map(VirtualMachine.init) == virtualMachine)
        #expect(spc.blocks.count == blockCount)
    }

    private func digits(of tag: UInt64, in spc: SPC) -> String? {
        spc.blocks.first { $0.tag == tag }.map { hex(spc.bytes(in: $0.value)) }
    }

    /// The abilities of a device that sent this SPC.
    var abilities: DeviceAbilities {
        DeviceAbilities(
            hasPlaybackState: playbackState != nil,
            capabilities: capabilities.flatMap { UInt64($0, radix: 16) }.map { Capabilities(rawValue: $0) })
    }
}
