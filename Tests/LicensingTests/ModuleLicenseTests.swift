import ContentKeys
import DeviceSimulation
import Entitlements
import FairPlay
import KeyCrypto
import Licensing
import TestSupport
import Testing

/// Licenses whose SK..R1 block an external module opens.
@Suite struct ModuleLicenseTests {
    private let module: InProcessLadderModule

    init() throws {
        module = try InProcessLadderModule(applicationSecret: TestCredential.shared.get().applicationSecret)
    }

    private func fixture(_ track: Track = .unlabelled) throws -> LicensingFixture {
        let module = module
        return try LicensingFixture(track: track, module: { _ in module })
    }

    @Test(arguments: [SPCVersion.v1, .v2])
    func theDeviceOpensWhatTheModuleWrapped(version: SPCVersion) async throws {
        let fixture = try fixture()
        let request = try fixture.deviceRequest(version)
        let license = try await fixture.issue(request.message, token: fixture.token()).get()
        let opened = try CKCOpener(secrets: request.secrets, using: CryptoContext()).open(license.ckc)
        #expect(opened.contentKey.bytes.revealed() == LicensingFixture.key)
        #expect(license.deviceID == request.secrets.deviceID)
        let call = try #require(module.calls.first)
        #expect(module.calls.count == 1)
        #expect(call.keyFormats == [DeviceFacts.keyFormatDefault])
        #expect(call.certificateHash.count == 20)
        #expect(call.wanted == .generic && call.blocks.video == nil)
    }

    /// No request reaches the module if it could not become a license.
    @Test func asksTheModuleLast() async throws {
        let fixture = try fixture()
        let request = try fixture.deviceRequest(.v1)
        let other = try fixture.token([Right(.content("movie-2"))])
        #expect(await fixture.issue(request.message, token: other).failure == .entitlement(.contentNotCovered))
        let leased = try fixture.token([Right(.content("movie-1"), lease: 60)])
        let stateless = try fixture.deviceRequest(.v1, hasState: false)
        #expect(
            await fixture.issue(stateless.message, token: leased).failure
                == .terms(.durationNeedsPlaybackState, of: .lease))
        #expect(module.calls.isEmpty)
    }

    @Test func aRefusalOfTheModuleIsOneOfTheSPC() async throws {
        let fixture = try fixture()
        let device = try fixture.credential.makeDevice(.v1, using: CryptoContext())
        let request = try device.makeRequest(
            DeviceOptions(version: .v1, assetID: Array("movie-1".utf8)), with: .payload(.wrongIntegrity))
        #expect(
            await fixture.issue(request.message, token: try fixture.token()).failure
                == .spc(.rejected(.moduleRefused(status: -42_589))))
    }

    @Test(arguments: [
        LadderModuleError.failed(status: 7), .answerMalformed, .workerLost, .unavailable, .overloaded,
    ])
    func aModuleThatDoesNotAnswerIsUnavailable(error: LadderModuleError) async throws {
        let fixture = try LicensingFixture(module: {
            try InProcessLadderModule(applicationSecret: $0.applicationSecret, failingWith: error)
        })
        let request = try fixture.deviceRequest(.v2)
        #expect(await fixture.issue(request.message, token: try fixture.token()).failure == .module(error))
    }

    /// Section 3.5: both video blocks, protocol version 1, `cbcs`, and a video track.
    @Test func asksForTheVideoSessionKeyOnlyForVideo() async throws {
        let hd = try fixture(Track(.hd))
        let withVideo = try hd.deviceRequest(.v2) { options in
            options.video = .sealed
        }
        let license = try await hd.issue(withVideo.message, token: hd.token()).get()
        #expect(license.ckc[3] == 2)
        let opened = try CKCOpener(secrets: withVideo.secrets, using: CryptoContext()).open(license.ckc)
        #expect(opened.contentKey.bytes.revealed() == LicensingFixture.key)

        let audio = try fixture(Track(.audio))
        _ = try await audio.issue(withVideo.message, token: audio.token()).get()
        let unlabelled = try fixture()
        _ = try await unlabelled.issue(withVideo.message, token: unlabelled.token()).get()
        let plain = try hd.deviceRequest(.v2)
        _ = try await hd.issue(plain.message, token: hd.token()).get()
        #expect(module.calls.map(\.wanted) == [.video, .generic, .generic, .generic])
        #expect(module.calls.map(\.content.kind) == [.video, .audio, .unknown, .video])
    }
}
