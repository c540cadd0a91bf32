import ByteCoding
import DeviceSimulation
import FairPlay
import KeyCrypto
import TestSupport
import Testing

/// The blocks that a device makes from its options, byte by byte, and the secrets that it keeps.
@Suite struct SimulatedDeviceTests {
    private let crypto: CryptoContext
    private let fixture: TestCredential

    init() throws {
        crypto = try CryptoContext()
        fixture = try TestCredential.shared.get()
    }

    private func request(_ change: (inout DeviceOptions) -> Void = { _ in }) throws -> DeviceRequest {
        var options = DeviceOptions(version: .v1, assetID: Array("movie-1".utf8))
        change(&options)
        return try fixture.makeDevice(options.version, using: crypto).makeRequest(options)
    }

    /// The plain blocks of an SPC, decrypted with the device's secrets.
    private func values(of request: DeviceRequest) throws -> [UInt64: [UInt8]] {
        let envelope = try SPCEnvelope(parsing: request.message, served: [.v1, .v2, .v3])
        let payload = try request.secrets.decryptPayload(of: envelope, using: crypto)
        let blocks = try TLLVBlocks(parsing: payload).blocks
        return Dictionary(uniqueKeysWithValues: blocks.map { ($0.tag, Array(payload[$0.value])) })
    }

    private func value(of tag: UInt64, _ change: (inout DeviceOptions) -> Void) throws -> [UInt8]? {
        try values(of: request(change))[tag]
    }

    private static func words(_ words: UInt32...) -> [UInt8] {
        words.flatMap { bigEndianBytes($0) }
    }

    // MARK: Blocks

    @Test func writesWhatItIs() throws {
        let system = OperatingSystemVersion(rawValue: 0x0011_0402)
        let identity = DeviceIdentity(
            version: 1, deviceClass: .appleDesktop, vendorHash: 0x0102_0304_0506_0708,
            productHash: 0x1112_1314_1516_1718, systemFairPlayVersion: 21, trustedFairPlayVersion: 22,
            operatingSystem: system)
        #expect(
            try value(of: TLLVTag.deviceIdentity) { $0.deviceIdentity = identity }
                == Self.words(1, 3, 0x0102_0304, 0x0506_0708, 0x1112_1314, 0x1516_1718, 21, 22, 0x0011_0402))
        let info = DeviceInfo(rawType: DeviceType.mac.rawValue, operatingSystem: system)
        #expect(
            try value(of: TLLVTag.deviceInfo) { $0.deviceInfo = info }
                == Self.words(0x358c_41b1, 0xec78_f599, 0x0011_0402, 1))
        let side = VirtualMachineInfo.Side(deviceClass: .other(9), operatingSystem: system, protocolVersion: 3)
        let machine = VirtualMachineInfo(version: 1, host: side, guest: side)
        #expect(
            try value(of: TLLVTag.virtualMachineInfo) { $0.virtualMachine = machine }
                == Self.words(1, 9, 0x0011_0402, 3, 9, 0x0011_0402, 3))
    }

    @Test func writesWhatItCan() throws {
        #expect(
            try value(of: TLLVTag.capabilities) { $0.capabilities = [.offlineKey, .securityLevelMain] }
                == Self.words(0, 0, 0, 0b10_0010))
        let report = SecurityLevelReport(rawLevel: SecurityLevel.main.rawValue, denyListVersion: 31)
        #expect(
            try value(of: TLLVTag.securityLevelReport) { $0.securityLevel = .report(report) }
                == Self.words(1, 0, 0x4e7f_d924, 0x21d5_88b4, 31))
        #expect(try value(of: TLLVTag.securityLevelReport) { $0.securityLevel = .encrypted }?.count == 32)
        #expect(try value(of: TLLVTag.kextDenyListVersion) { $0.denyListVersion = 30 } == Self.words(30))
        #expect(
            try value(of: TLLVTag.supportedKeyFormats) { $0.keyFormats = [1, 2] } == Self.words(1, 0, 2, 0, 1, 0, 2))
    }

    @Test func writesWhatItPlays() throws {
        let state = MediaPlaybackState(createdAt: 5, state: .leaseExpiring, sessionID: 0x0102_0304_0506_0708)
        #expect(
            try value(of: TLLVTag.mediaPlaybackState) { $0.playbackState = state }
                == Self.words(5, 0x4f83_4330, 0x0102_0304, 0x0506_0708))
        #expect(
            try value(of: TLLVTag.streamingIndicator) { $0.streamingIndicator = .airPlay }
                == Self.words(0xabb0_256a, 0x3184_3974))
        #expect(
            try value(of: TLLVTag.streamingIndicator) { $0.streamingIndicator = .avAdapter }
                == Self.words(0x5f9c_8132, 0xb59f_2fde))
        let local = try (0..<2).map { _ in try value(of: TLLVTag.streamingIndicator) { $0.streamingIndicator = .local }
        }
        #expect(local[0] != local[1] && local[0]?.count == 8)
    }

    @Test func writesSyncReports() throws {
        #expect(try value(of: TLLVTag.sync) { $0.sync = .nothing } == [UInt8](repeating: 0, count: 28))
        let id = Bytes16([UInt8](0..<16), at: 0)
        let first = SyncReport(.version1(contentID: id), remaining: .unlimited)
        #expect(
            try value(of: TLLVTag.sync) { $0.sync = .report(first) }
                == Self.words(1, 0) + [UInt8](0..<16) + Self.words(.max))
        let details = SyncReportVersion2(
            challenge: 0x0102_0304_0506_0708, flags: [.secureInvalidation, .success], titleID: id,
            streamIDs: [id, .zero])
        let second = SyncReport(.version2(details), remaining: .seconds(60))
        #expect(
            try value(of: TLLVTag.sync) { $0.sync = .report(second) }
                == Self.words(2, 0, 0x0102_0304, 0x0506_0708, 0, 0x0001_0002) + [UInt8](0..<16) + Self.words(60, 2)
                + [UInt8](0..<16) + [UInt8](repeating: 0, count: 16))
    }

    @Test func sendsNoBlockThatItWasNotAskedFor() throws {
        let values = try values(of: request { $0.unknownBlockCount = 0 })
        let required: Set = [
            TLLVTag.sessionKeyBlock, TLLVTag.sessionKeyIntegrity, TLLVTag.antiReplaySeed, TLLVTag.r2, TLLVTag.assetID,
            TLLVTag.transactionID, TLLVTag.protocolVersionsSupported, TLLVTag.protocolVersionUsed,
            TLLVTag.tagReturnRequest,
        ]
        #expect(Set(values.keys) == required)
    }

    // MARK: Secrets

    @Test(arguments: SPCVersion.allCases)
    func everyRequestIsFresh(version: SPCVersion) throws {
        let requests = try (0..<2).map { _ in try request { $0.version = version } }
        let secrets = requests.map(\.secrets)
        #expect(secrets[0].wrappedKey.bytes.revealed() != secrets[1].wrappedKey.bytes.revealed())
        #expect(secrets[0].sessionBlock.bytes.revealed() != secrets[1].sessionBlock.bytes.revealed())
        #expect(secrets[0].antiReplaySeed != secrets[1].antiReplaySeed)
        let blocks = try requests.map { try values(of: $0) }
        for tag in [TLLVTag.r2, TLLVTag.sessionKeyBlock, TLLVTag.transactionID] {
            #expect(blocks[0][tag] != blocks[1][tag])
        }
    }

    /// Except in version 3, the wrapped key is itself the key that encrypts the payload.
    @Test(arguments: SPCVersion.allCases)
    func derivesThePayloadKeyInVersion3Alone(version: SPCVersion) throws {
        let request = try request { $0.version = version }
        let key = try request.secrets.payloadKey(version, using: crypto).bytes.revealed()
        #expect((key == request.secrets.wrappedKey.bytes.revealed()) == (version != .v3))
        guard version == .v3 else { return }
        let keys = try AuthenticatedPayloadKeys(master: request.secrets.wrappedKey.bytes, using: crypto)
        #expect(key == keys.payload.revealed())
    }

    @Test func keepsASessionKeyForVideoOnlyWhereItSealedOne() throws {
        #expect(try request().secrets.videoSessionBlock == nil)
        let opaque = LadderCall.VideoBlocks(sessionKeyBlock: [1], r2: [2])
        let unknown = try request { $0.video = .opaque(opaque) }
        #expect(unknown.secrets.videoSessionBlock == nil)
        #expect(unknown.secrets.abilities.offersVideoSessionKey)
        let sealed = try request { $0.video = .sealed }.secrets
        let video = try #require(sealed.videoSessionBlock).bytes.revealed()
        let generic = sealed.sessionBlock.bytes.revealed()
        #expect(video[0..<16] != generic[0..<16])
        #expect(video[16..<36] == generic[16..<36])
        #expect(video[36..<80] != generic[36..<80])
    }

    @Test func refusesSecretsOfOtherSizes() {
        func secrets(_ key: Int, _ block: Int, _ video: Int?) throws -> RequestSecrets {
            try RequestSecrets(
                wrappedKey: SharedSecret(SecretBytes(count: key)),
                sessionBlock: SharedSecret(SecretBytes(count: block)),
                videoSessionBlock: video.map { SharedSecret(SecretBytes(count: $0)) }, antiReplaySeed: .zero,
                expectedEchoes: [], abilities: DeviceAbilities(hasPlaybackState: false, capabilities: nil))
        }
        #expect(throws: Never.self) { try secrets(16, 96, 96) }
        #expect(throws: CryptoError.wrongSize(expected: 16, actual: 15)) { try secrets(15, 96, nil) }
        #expect(throws: CryptoError.wrongSize(expected: 96, actual: 112)) { try secrets(16, 112, nil) }
        #expect(throws: CryptoError.wrongSize(expected: 96, actual: 80)) { try secrets(16, 96, 80) }
    }

    // MARK: Faults

    @Test func version3HasFaultsOfItsOwn() {
        let classic = Set(SPCFault.all(for: .v1))
        #expect(Set(SPCFault.all(for: .v2)) == classic)
        #expect(Set(SPCFault.all(for: .v3)).isStrictSuperset(of: classic))
        #expect(SPCFault.all(for: .v3).contains(.container(.wrongAuthenticationTag)))
    }
}
