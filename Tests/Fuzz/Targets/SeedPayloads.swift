import ByteCoding
import DeviceSimulation
import FairPlay
import KeyCrypto

/// Plain payloads as devices send them, each of another kind.
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
                options.unknownBlockCount = 60
                options.protocolVersionsSupported = [1, 2]
                options.protocolVersionUsed = 2
            },
            payload { options in
                options.playbackState = MediaPlaybackState(createdAt: 1_700_000_000, state: .playing, sessionID: 7)
                options.capabilities = [.hdcpEnforcement, .offlineKey, .offlineKeyVersion2, .securityLevelMain]
            },
            payload(Self.describeDevice),
            payload { options in
                options.video = .sealed
                options.keyFormats = [TLLVTag.contentKey, 0x77]
                options.securityLevel = .encrypted
            },
            payload { $0.sync = .nothing },
            payload { $0.sync = .report(SyncReport(.version1(contentID: Self.streamID), remaining: .seconds(3600))) },
            payload { $0.sync = .report(SyncReport(.version2(Self.invalidation(2)), remaining: .expired)) },
            payload { $0.sync = .report(SyncReport(.version2(Self.invalidation(250)), remaining: .unlimited)) },
        ]
    }

    private func payload(_ change: (inout DeviceOptions) -> Void) throws -> [UInt8] {
        var options = DeviceOptions(version: .v1, assetID: Array("skd-asset".utf8))
        change(&options)
        let request = try device.makeRequest(options)
        return try request.secrets.decryptPayload(of: SPCEnvelope(parsing: request.message), using: crypto)
    }

    /// Adds the facts that newer devices report.
    private static func describeDevice(_ options: inout DeviceOptions) {
        let system = OperatingSystemVersion(rawValue: 0x000E_0102)
        let side = VirtualMachineInfo.Side(deviceClass: .appleDesktop, operatingSystem: system, protocolVersion: 1)
        options.deviceIdentity = DeviceIdentity(
            version: 1, deviceClass: .appleDesktop, vendorHash: 2, productHash: 3, systemFairPlayVersion: 4,
            trustedFairPlayVersion: 5, operatingSystem: system)
        options.deviceInfo = DeviceInfo(rawType: DeviceType.mac.rawValue, operatingSystem: system)
        options.denyListVersion = 30
        options.securityLevel = .report(SecurityLevelReport(rawLevel: SecurityLevel.main.rawValue, denyListVersion: 40))
        options.virtualMachine = VirtualMachineInfo(version: 1, host: side, guest: side)
        options.streamingIndicator = .airPlay
    }

    private static let streamID = Bytes16(high: 0x57, low: 0x1D)

    private static func invalidation(_ count: Int) -> SyncReportVersion2 {
        SyncReportVersion2(
            challenge: 0x1234, flags: [.secureInvalidation, .success], titleID: streamID,
            streamIDs: [Bytes16](repeating: streamID, count: count))
    }
}
