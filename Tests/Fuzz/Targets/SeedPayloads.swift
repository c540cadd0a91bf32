import DeviceSimulation
import FairPlay
import KeyCrypto
import TestSupport

/// Plain payloads as devices send them: each of a kind of its own.
struct SeedPayloads {
    private let crypto: CryptoContext
    private let device: SimulatedDevice

    init(using crypto: CryptoContext) throws {
        self.crypto = crypto
        let key = try RSAPrivateKey.generate(bits: 1024)
        device = SimulatedDevice(
            certificate: try .makeDevelopment(for: key, commonName: "fuzz", now: 1_700_000_000),
            ladder: try FixedSession.ladder(), using: crypto)
    }

    func all() throws -> [[UInt8]] {
        try [
            payload { _ in },
            payload { options in
                options.unknownBlockCount = 0
                options.returnRequest = []
            },
            payload { options in
                options.playbackState = MediaPlaybackState(createdAt: 1_700_000_000, state: .playing, sessionID: 7)
                options.capabilities = [.hdcpEnforcement, .offlineKey, .offlineKeyVersion2, .securityLevelMain]
            },
            payload { $0.otherBlocks = Self.deviceBlocks },
            payload { $0.otherBlocks = Self.videoBlocks },
            payload { options in
                options.unknownBlockCount = 60
                options.protocolVersionsSupported = [1, 2]
                options.protocolVersionUsed = 2
            },
            payload { $0.otherBlocks = [DeviceBlock(TLLVTag.sync, Self.syncVersion1)] },
            payload { $0.otherBlocks = [DeviceBlock(TLLVTag.sync, Self.syncVersion2)] },
            payload { $0.otherBlocks = [DeviceBlock(TLLVTag.sync, [UInt8](repeating: 0, count: 28))] },
        ]
    }

    private func payload(_ change: (inout DeviceOptions) -> Void) throws -> [UInt8] {
        var options = DeviceOptions(version: .v1, assetID: Array("skd-asset".utf8))
        change(&options)
        let request = try device.makeRequest(options)
        let envelope = try SPCEnvelope(parsing: request.message)
        guard case .none(let iv) = envelope.protection else { return [] }
        return try crypto.decryptCBC(
            envelope.message, in: envelope.payload, key: request.secrets.payloadKey, iv: iv)
    }

    /// What newer devices say of themselves.
    private static let deviceBlocks = [
        DeviceBlock(TLLVTag.deviceIdentity, [UInt8](repeating: 1, count: 36)),
        DeviceBlock(TLLVTag.deviceInfo, bigEndianBytes(DeviceType.mac.rawValue) + [0, 14, 1, 2, 0, 0, 0, 1]),
        DeviceBlock(TLLVTag.kextDenyListVersion, [0, 0, 0, 30]),
        DeviceBlock(
            TLLVTag.securityLevelReport,
            [0, 0, 0, 1, 0, 0, 0, 0] + bigEndianBytes(SecurityLevel.main.rawValue) + [0, 0, 0, 40]),
        DeviceBlock(TLLVTag.virtualMachineInfo, [0, 0, 0, 1] + [UInt8](repeating: 0, count: 24)),
        DeviceBlock(TLLVTag.streamingIndicator, bigEndianBytes(PlaybackOutput.airPlayIndicator)),
    ]

    /// What devices with a second session key say.
    private static let videoBlocks = [
        DeviceBlock(TLLVTag.sessionKeyBlockVideo, [UInt8](repeating: 2, count: 112)),
        DeviceBlock(TLLVTag.r2Video, [UInt8](repeating: 3, count: 21)),
        DeviceBlock(
            TLLVTag.supportedKeyFormats,
            [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 2] + bigEndianBytes(TLLVTag.contentKey) + bigEndianBytes(UInt64(0x77))),
        DeviceBlock(TLLVTag.securityLevelReport, [UInt8](repeating: 4, count: 32)),
    ]

    private static let syncVersion1 =
        [0, 0, 0, 1, 0, 0, 0, 0] + [UInt8](repeating: 5, count: 16) + [0, 0, 0x0E, 0x10]

    private static let syncVersion2 =
        [0, 0, 0, 2, 0, 0, 0, 0] + bigEndianBytes(UInt64(0x1234)) + bigEndianBytes(SyncFlags.report.rawValue)
        + [UInt8](repeating: 6, count: 16) + [0, 0, 0, 60, 0, 0, 0, 2] + [UInt8](repeating: 7, count: 32)
}
