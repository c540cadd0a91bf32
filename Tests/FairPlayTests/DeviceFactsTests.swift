import DeviceSimulation
import FairPlay
import TestSupport
import Testing

/// The device facts that the server reads, from values that are written here byte by byte.
@Suite struct DeviceFactsTests {
    private let bench: SPCBench

    init() throws {
        bench = try SPCBench()
    }

    @Test func aDeviceThatSaysNothingHasNothing() throws {
        let facts = try bench.open().device
        #expect(facts.capabilities.isEmpty)
        #expect(facts.securityReport == nil)
        #expect(facts.securityLevel == nil)
        #expect(facts.identity == nil)
        #expect(facts.info == nil)
        #expect(facts.denyListVersion == nil)
        #expect(facts.virtualMachine == nil)
        #expect(facts.output == .local)
        #expect(facts.playbackState == nil)
        #expect(facts.protocolVersionUsed == 1)
        #expect(facts.protocolVersionsSupported == [1])
        #expect(facts.keyFormats == [0x58b3_8165_af0e_3d5a])
    }

    // MARK: Playback

    @Test(arguments: [
        (UInt32(0xf4de_e5a2), PlaybackState.readyToStart), (0xa5d6_739e, .playing), (0x4f83_4330, .leaseExpiring),
        (0x5991_bf20, .stopped), (0, .readyToStart), (.max, .readyToStart),
    ])
    func readsThePlaybackState(word: UInt32, state: PlaybackState) throws {
        let value = words(1_400_716_283, word, 0x3de0_def2, 0x3f0c_a33c)
        let facts = try bench.facts(TLLVTag.mediaPlaybackState, value + [1, 2, 3])
        #expect(
            facts.playbackState
                == MediaPlaybackState(createdAt: 1_400_716_283, state: state, sessionID: 0x3de0_def2_3f0c_a33c))
    }

    @Test(arguments: [
        (UInt64(0xabb0_256a_3184_3974), PlaybackOutput.airPlay), (0x5f9c_8132_b59f_2fde, .avAdapter), (0, .local),
        (0x891d_bf47_c0e6_66ab, .local), (.max, .local),
    ])
    func readsWhereThePicturesGo(indicator: UInt64, output: PlaybackOutput) throws {
        #expect(try bench.facts(TLLVTag.streamingIndicator, bigEndianBytes(indicator)).output == output)
    }

    // MARK: Abilities

    /// Tests each bit alone and together with all others: the server never compares the whole word.
    @Test(arguments: [
        (UInt64(0), Capabilities.hdcpEnforcement), (1, .offlineKey), (2, .secureInvalidation), (3, .offlineKeyVersion2),
        (4, .securityLevelBaseline), (5, .securityLevelMain),
    ])
    func readsEachCapabilityByItsBit(bit: UInt64, capability: Capabilities) throws {
        for (number, isSet) in [(UInt64(1) << bit, true), (.max, true), (0, false), (~(UInt64(1) << bit), false)] {
            let facts = try bench.facts(TLLVTag.capabilities, zeros(8) + bigEndianBytes(number))
            #expect(facts.capabilities.contains(capability) == isSet)
        }
    }

    @Test func theUpperHalfOfTheCapabilitiesHasNoMeaning() throws {
        let facts = try bench.facts(TLLVTag.capabilities, [UInt8](repeating: 0xFF, count: 8) + zeros(8))
        #expect(facts.capabilities.isEmpty)
    }

    @Test func readsTheKeyFormats() throws {
        let value = words(1, 0, 2) + bigEndianBytes(UInt64(7)) + bigEndianBytes(UInt64(8)) + zeros(8)
        #expect(try bench.facts(TLLVTag.supportedKeyFormats, value).keyFormats == [7, 8])
        #expect(try bench.facts(TLLVTag.supportedKeyFormats, words(1, 0, 0)).keyFormats == [0x58b3_8165_af0e_3d5a])
    }

    // MARK: Identity

    @Test(arguments: [
        (UInt32(0), DeviceClass.unknown), (1, .appleLivingRoom), (2, .appleMobile), (3, .appleDesktop),
        (4, .appleSpatial), (5, .appleWearable), (127, .appleUnknown), (128, .partnerLivingRoom),
        (255, .partnerUnknown), (6, .other(6)), (126, .other(126)), (.max, .other(.max)),
    ])
    func knowsTheDeviceClasses(number: UInt32, deviceClass: DeviceClass) throws {
        #expect(DeviceClass(number) == deviceClass)
        #expect(deviceClass.number == number)
        let value = words(1, number, 0, 0, 0, 0, 0, 0, 0)
        #expect(try bench.facts(TLLVTag.deviceIdentity, value).identity?.deviceClass == deviceClass)
    }

    @Test func readsTheIdentity() throws {
        let value = words(9, 2, 0x0102_0304, 0x0506_0708, 0x1112_1314, 0x1516_1718, 21, 22, 0x0011_0402)
        let identity = try #require(try bench.facts(TLLVTag.deviceIdentity, value).identity)
        #expect(
            identity
                == DeviceIdentity(
                    version: 9, deviceClass: .appleMobile, vendorHash: 0x0102_0304_0506_0708,
                    productHash: 0x1112_1314_1516_1718, systemFairPlayVersion: 21, trustedFairPlayVersion: 22,
                    operatingSystem: OperatingSystemVersion(rawValue: 0x0011_0402)))
        #expect(identity.operatingSystem.description == "17.4.2")
    }

    @Test(arguments: [
        (UInt64(0x358c_41b1_ec78_f599), DeviceType.mac), (0xc150_0767_c86c_1fae, .television),
        (0x8551_fd5e_31f4_79b3, .mobile), (0x5da8_6ac0_c571_55dc, .watch), (1, nil),
    ])
    func readsTheOldDeviceInfo(number: UInt64, type: DeviceType?) throws {
        let value = bigEndianBytes(number) + words(0x000A_0F07, 1)
        let info = try #require(try bench.facts(TLLVTag.deviceInfo, value).info)
        #expect(info.rawType == number)
        #expect(info.type == type)
        #expect(info.operatingSystem.description == "10.15.7")
    }

    /// Each of the two blocks has its own operating system version. A known server prints one for the other.
    @Test func keepsTheTwoOperatingSystemsApart() throws {
        let identity = words(1, 3, 0, 0, 0, 0, 0, 0, 0x000F_0000)
        let info = bigEndianBytes(DeviceType.mac.rawValue) + words(0x000B_0000, 1)
        let facts = try bench.open {
            $0.otherBlocks = [
                DeviceBlock(TLLVTag.deviceIdentity, identity), DeviceBlock(TLLVTag.deviceInfo, info),
            ]
        }.device
        #expect(facts.identity?.operatingSystem.description == "15.0.0")
        #expect(facts.info?.operatingSystem.description == "11.0.0")
    }

    @Test func readsVirtualMachines() throws {
        let value = words(1, 3, 0x000F_0100, 7, 2, 0x0012_0000, 8)
        let machine = try #require(try bench.facts(TLLVTag.virtualMachineInfo, value).virtualMachine)
        #expect(machine.isVirtual)
        #expect(machine.host.deviceClass == .appleDesktop && machine.guest.deviceClass == .appleMobile)
        #expect(machine.host.operatingSystem.description == "15.1.0")
        #expect(machine.guest.operatingSystem.description == "18.0.0")
        #expect(machine.host.protocolVersion == 7 && machine.guest.protocolVersion == 8)
        #expect(try bench.facts(TLLVTag.virtualMachineInfo, zeros(28)).virtualMachine?.isVirtual == false)
    }
}
