import ByteCoding
import ContentKeys
import DeviceSimulation
import Entitlements
import FairPlay
import KeyCrypto
import Records
import TestSupport
import Testing

@testable import Licensing

/// An SPC whose device says that playback has stopped: it frees the device's slot, and gets no lease that runs.
@Suite struct StoppedPlaybackTests {
    private let store = MemoryDecisionStore()
    private let fixture: LicensingFixture

    init() throws {
        fixture = try LicensingFixture(
            recorder: store.recorder(), sessions: LicensingFixture.sessions(), slots: store)
    }

    private static let counted =
        #"{"sub":"viewer-1","rights":[{"content":"movie-1","lease":300}],"session":{"groups":[{"id":"all","max":1}]}}"#

    private func counting() -> ScriptedTransport {
        let transport = ScriptedTransport(.policy(Self.counted))
        let settings = CallbackDecider.Settings(name: "service", sources: [.drmToday])
        let decider = CallbackDecider(settings, transport: transport)
        fixture.reload { $0.callback = decider }
        return transport
    }

    private func message(
        _ state: PlaybackState, device: UInt8 = 1, session: UInt64 = 7
    ) throws -> [UInt8] {
        try fixture.deviceRequest(.v1) {
            $0.deviceID = DeviceID([UInt8](repeating: device, count: 20))
            $0.playbackState = MediaPlaybackState(createdAt: 1, state: state, sessionID: session)
        }.message
    }

    private func ask(_ message: [UInt8]) async -> Result<LicenseOutcome, LicenseError> {
        await fixture.outcome(
            of: LicenseRequest(message: message), token: Array("opaque".utf8), header: "x-dt-auth-token")
    }

    private func isEnded(_ outcome: Result<LicenseOutcome, LicenseError>) -> Bool {
        if case .success(.playbackEnded) = outcome { return true }
        return false
    }

    private func isLicensed(_ outcome: Result<LicenseOutcome, LicenseError>) -> Bool {
        if case .success(.license) = outcome { return true }
        return false
    }

    @Test func freesTheSlotAndGivesNoLicense() async throws {
        let transport = counting()
        #expect(isLicensed(await ask(try message(.playing))))
        #expect(await ask(try message(.playing, device: 2)).failure == .denied(.slotsFull(current: 1, limit: 1)))
        #expect(isEnded(await ask(try message(.stopped))))
        #expect(isLicensed(await ask(try message(.playing, device: 2))))
        #expect(store.entries.count == 2, "the end of playback got no license")
        #expect(!transport.questions.isEmpty)
    }

    /// HU identifies the device, so a device cannot end the playback of another one.
    @Test func freesNoSlotOfAnotherDevice() async throws {
        let transport = counting()
        #expect(isLicensed(await ask(try message(.playing))))
        #expect(isEnded(await ask(try message(.stopped, device: 2))))
        #expect(isEnded(await ask(try message(.stopped, session: 8))))
        #expect(await ask(try message(.playing, device: 2)).failure == .denied(.slotsFull(current: 1, limit: 1)))
        #expect(!transport.questions.isEmpty)
    }

    @Test func givesNoFreshLeaseToASessionToken() async throws {
        let token = try fixture.token([Right(.content("movie-1"), lease: 300)], subject: "viewer-1")
        let first = try await fixture.issue(message(.playing), token: token).get()
        let session = try #require(first.sessionToken)
        #expect(isEnded(await fixture.outcome(of: try message(.stopped), token: Array(session.utf8))))
        #expect(isEnded(await fixture.outcome(of: try message(.stopped), token: token)))
        // The session token of one device ends no playback if another device presents it.
        let other = await fixture.outcome(of: try message(.stopped, device: 2), token: Array(session.utf8))
        #expect(other.failure == .entitlement(.deviceMismatch))
        #expect(store.entries.count == 1)
    }

    /// A license without a lease and without a playback limit has no running playback that could end.
    @Test func licensesWhatDoesNotRun() async throws {
        let token = try fixture.token()
        #expect(isLicensed(await fixture.outcome(of: try message(.stopped), token: token)))
        let offline = try fixture.token([Right(.content("movie-1"), mode: .both)])
        let request = LicenseRequest(message: try message(.stopped), use: .offline)
        #expect(isLicensed(await fixture.outcome(of: request, token: offline)))
    }

    @Test func tellsThatTheSlotCouldNotBeFreed() async throws {
        let store = UnreachableSlots()
        let fixture = try LicensingFixture(recorder: self.store.recorder(), slots: store)
        let transport = ScriptedTransport(.policy(Self.counted))
        let decider = CallbackDecider(
            CallbackDecider.Settings(name: "service", sources: [.drmToday]), transport: transport)
        fixture.reload { $0.callback = decider }
        let outcome = await fixture.outcome(
            of: LicenseRequest(message: try message(.stopped)), token: Array("opaque".utf8), header: "x-dt-auth-token")
        #expect(outcome.failure == .store(.unavailable(.unreachable)))
    }
}

private struct UnreachableSlots: PlaybackSlotStore {
    func release(_ claims: [SlotClaim], at now: Int64) async throws(StoreError) { throw .unavailable(.unreachable) }
}
