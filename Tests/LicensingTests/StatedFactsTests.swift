import DeviceSimulation
import Entitlements
import FairPlay
import Glibc
import KeyCrypto
import Records
import TestSupport
import Testing

@testable import Licensing

/// What devices state stands in the ledger's rows as the devices have sent it.
@Suite struct StatedFactsTests {
    /// `LATCHKEY_DEVICE_COUNT=10000` for a long run.
    private static let deviceCount =
        // The test process never changes its environment, and the text is copied immediately.
        unsafe getenv("LATCHKEY_DEVICE_COUNT").flatMap { unsafe Int(String(cString: $0)) } ?? 300

    private let store = MemoryDecisionStore()
    private let fixture: LicensingFixture

    init() throws {
        fixture = try LicensingFixture(recorder: store.recorder())
    }

    @Test(.timeLimit(.minutes(20))) func areInTheLedgerAsTheDevicesSentThem() async throws {
        var generator = SeededGenerator.announced("the ledger has what devices state")
        let token = try fixture.token()
        for number in 0..<Self.deviceCount {
            let (options, expected) = Self.device(using: &generator)
            let message = try fixture.deviceRequest(.v1) { $0 = options }.message
            _ = try await fixture.issue(message, token: token).get()
            var entry = try #require(store.entries.last)
            #expect(store.entries.count == number + 1 && entry.stated == expected)
            let size = entry.encoded().count
            #expect(try LedgerEntry(parsing: entry.encoded()).stated == expected)
            entry.stated = nil
            #expect(size - entry.encoded().count <= DeviceSummary.sizeMaximum)
        }
    }

    /// A refused request tells the same, if its SPC was opened.
    @Test func areInRefusals() async throws {
        var options = DeviceOptions(version: .v1, assetID: Array("movie-1".utf8))
        options.deviceInfo = DeviceInfo(rawType: 0x358c_41b1_ec78_f599, operatingSystem: .init(rawValue: 0x0E_0301))
        options.securityLevel = .report(
            SecurityLevelReport(rawLevel: SecurityLevel.audio.rawValue, denyListVersion: 31))
        let message = try fixture.deviceRequest(.v1) { $0 = options }.message
        let token = try fixture.token([Right(.content("another"))])
        let outcome = await fixture.onLoop(0) { [fixture] loop async throws(LicenseError) in
            let pipeline = try fixture.pipelines.pipeline(on: loop)
            let admission = try pipeline.admissionControl.admit(
                LicenseRequest(message: message, use: .streaming), presenting: LicensingFixture.carriers(of: token),
                under: fixture.rules, now: LicensingFixture.now)
            #expect(admission.refusedDevice == nil)
            _ = try? await pipeline.answer(admission, now: LicensingFixture.now)
            return admission
        }
        let admission = try outcome.get()
        #expect(admission.refusedDevice?.deviceClass == 3 && admission.refusedDevice?.denyList == 31)
        #expect(
            admission.refusalFacts[.device] == "class desktop, os 14.3.1, level audio, deny_list 31, protocol 1/1")
    }

    /// A rejected SPC shows nothing of what it held.
    @Test func areNotInRejections() async throws {
        var message = try fixture.deviceRequest(.v1).message
        // A byte of the wrapped key.
        message[60] ^= 1
        let token = try fixture.token()
        let admission = try await fixture.onLoop(0) { [fixture, message] loop async throws(LicenseError) in
            let pipeline = try fixture.pipelines.pipeline(on: loop)
            let admission = try pipeline.admissionControl.admit(
                LicenseRequest(message: message, use: .streaming), presenting: LicensingFixture.carriers(of: token),
                under: fixture.rules, now: LicensingFixture.now)
            await #expect(throws: LicenseError.self) {
                try await pipeline.answer(admission, now: LicensingFixture.now)
            }
            return admission
        }.get()
        #expect(admission.refusedDevice == nil && admission.refusalFacts[.device] == nil)
    }

    /// Any device that may have a license, and what its row must say.
    private static func device(using generator: inout SeededGenerator) -> (DeviceOptions, DeviceSummary) {
        var options = DeviceOptions(version: .v1, assetID: Array("movie-1".utf8))
        options.protocolVersionsSupported = [[1], [1, 2], [1, 2, 3]].randomElement(using: &generator) ?? [1]
        var expected = DeviceSummary(
            versions: .init(used: 1, newest: options.protocolVersionsSupported.max() ?? 1))
        if Bool.random(using: &generator) {
            let bits = UInt64.random(in: 0..<64, using: &generator)
            (options.capabilities, expected.capabilities) = (Capabilities(rawValue: bits), UInt16(bits))
            expected.securityLevel = bits & 32 != 0 ? .main : bits & 16 != 0 ? .baseline : nil
        }
        if Bool.random(using: &generator) {
            let levels: [(UInt64, DeviceSummary.SecurityLevel)] = [
                (SecurityLevel.baseline.rawValue, .baseline), (SecurityLevel.main.rawValue, .main),
            ]
            let unknown = UInt64.random(in: 1 << 63 ... .max, using: &generator)
            let (number, level) = (levels + [(unknown, .other(unknown))]).randomElement(using: &generator) ?? levels[0]
            options.securityLevel = .report(SecurityLevelReport(rawLevel: number, denyListVersion: 40))
            (expected.securityLevel, expected.denyList) = (level, 40)
        }
        if Bool.random(using: &generator) {
            let version = UInt32.random(in: 31..<16_384, using: &generator)
            (options.denyListVersion, expected.denyList) = (version, UInt16(version))
        }
        let system = UInt32.random(in: 0...0xFF_FFFF, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0:
            let number =
                UInt32.random(in: 0 ... .max, using: &generator) >> UInt32.random(in: 0..<32, using: &generator)
            options.deviceIdentity = DeviceIdentity(
                version: 1, deviceClass: DeviceClass(number), vendorHash: 1, productHash: 2, systemFairPlayVersion: 3,
                trustedFairPlayVersion: 4, operatingSystem: .init(rawValue: system))
            (expected.deviceClass, expected.operatingSystem) = (number, system)
        case 1:
            let types: [(UInt64, UInt32)] = [
                (0x358c_41b1_ec78_f599, 3), (0xc150_0767_c86c_1fae, 1), (0x8551_fd5e_31f4_79b3, 2),
                (0x5da8_6ac0_c571_55dc, 5),
            ]
            let (type, number) = types.randomElement(using: &generator) ?? types[0]
            options.deviceInfo = DeviceInfo(rawType: type, operatingSystem: .init(rawValue: system))
            (expected.deviceClass, expected.operatingSystem) = (number, system)
        default: break
        }
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: options.streamingIndicator = .local
        case 1: (options.streamingIndicator, expected.output) = (.airPlay, .airPlay)
        default: (options.streamingIndicator, expected.output) = (.avAdapter, .avAdapter)
        }
        let states: [(PlaybackState, DeviceSummary.Playback)] = [
            (.readyToStart, .ready), (.playing, .playing), (.leaseExpiring, .expiring), (.stopped, .stopped),
        ]
        if let (state, word) = states.randomElement(using: &generator) {
            options.playbackState = MediaPlaybackState(createdAt: 1, state: state, sessionID: 2)
            expected.playback = word
        }
        let side = VirtualMachineInfo.Side(
            deviceClass: .appleDesktop, operatingSystem: .init(rawValue: system), protocolVersion: 1)
        if Bool.random(using: &generator) {
            options.virtualMachine = VirtualMachineInfo(version: 0, host: side, guest: side)
            expected.machine = .physical
        }
        return (options, expected)
    }
}
