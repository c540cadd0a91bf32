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

@Suite struct DecisionRecorderTests {
    private let store = RecordingStore()

    private func issue(
        _ mode: DecisionRecorder.Mode = .required, rights: [Right] = [Right(.content("movie-1"), lease: 300)],
        state: PlaybackState = .readyToStart
    ) async throws -> Result<IssuedLicense, LicenseError> {
        let fixture = try LicensingFixture(recorder: store.recorder(mode))
        let request = try fixture.deviceRequest(.v1) {
            $0.playbackState = MediaPlaybackState(createdAt: 1, state: state, sessionID: 2)
        }
        return await fixture.issue(request.message, token: try fixture.token(rights))
    }

    @Test func writesDownWhatWasGiven() async throws {
        let license = try await issue().get()
        let entry = try #require(store.decisions.first).entry
        #expect(store.decisions.count == 1)
        #expect(entry.kind == .licenseIssued)
        #expect(entry.license == license.id)
        #expect(entry.at == LicensingFixture.now && entry.until == LicensingFixture.now + 300)
        #expect(entry.content == "movie-1" && entry.keyID == license.key.keyID)
        #expect(entry.detail == "lease" && entry.lease == 300 && entry.rental == nil)
    }

    /// The ledger recognizes a device by a pseudonym, which does not reveal the device id.
    @Test func namesTheDeviceByPseudonym() async throws {
        let license = try await issue().get()
        let device = try #require(store.decisions.first?.entry.device)
        let recorder = try store.recorder()
        #expect(device == (try recorder.pseudonyms.pseudonym(of: .device, license.deviceID.bytes)))
        #expect(!device.bytes.starts(with: license.deviceID.bytes))
    }

    @Test func tellsARenewalByThePlaybackState() async throws {
        _ = try await issue(state: .leaseExpiring).get()
        #expect(store.decisions.first?.entry.kind == .licenseRenewed)
    }

    @Test func givesARepeatedRequestItsFirstLicence() async throws {
        let id = LicenseID(Bytes16(high: 1, low: 2))
        store.answer(with: .success(.repeated(answer: RecordedAnswer(license: id, use: .streaming).bytes)))
        let end = LicensingFixture.now + 200
        let license = try await issue(rights: [Right(.content("movie-1"), end: end)]).get()
        #expect(license.isRepeated && license.id == id)
        // The device counts the lease from now, so the lease must not reach even one second beyond the end of the
        // right.
        #expect(license.times.expiresAt == end && license.terms.lease?.value == 200)
    }

    @Test func givesARepeatedRequestNoOtherUse() async throws {
        let id = LicenseID(Bytes16(high: 1, low: 2))
        store.answer(with: .success(.repeated(answer: RecordedAnswer(license: id, use: .offline).bytes)))
        #expect(try await issue().failure == .denied(.replayed))
    }

    @Test(arguments: [
        DecisionDenial.replayed, .tokenUsed(limit: 3), .deviceLimit(limit: 1), .slotsFull(current: 2, limit: 2),
        .slotEvicted,
    ])
    func givesNothingThatIsDenied(denial: DecisionDenial) async throws {
        store.answer(with: .success(.denied(denial)))
        #expect(try await issue().failure == .denied(denial))
    }

    @Test(arguments: [StoreError.unavailable(.diskFull), .unavailable(.inputOutput), .recordMalformed])
    func givesNothingThatIsNotRecorded(error: StoreError) async throws {
        store.answer(with: .failure(error))
        #expect(try await issue().failure == .store(error))
    }

    @Test func givesWithoutARecordWhereItIsTold() async throws {
        let recorder = try store.recorder(.bestEffort)
        let fixture = try LicensingFixture(recorder: recorder)
        let request = try fixture.deviceRequest(.v1)
        store.answer(with: .failure(.unavailable(.diskFull)))
        _ = try await fixture.issue(request.message, token: fixture.token()).get()
        #expect(recorder.unrecordedCount == 1)
        // A fault of the store itself is not an outage.
        store.answer(with: .failure(.recordMalformed))
        #expect(await fixture.issue(request.message, token: try fixture.token()).failure == .store(.recordMalformed))
        #expect(recorder.unrecordedCount == 1)
    }

    @Test func recordsNothingWhenAModuleFails() async throws {
        let module = try InProcessLadderModule(
            applicationSecret: TestCredential.shared.get().applicationSecret, failingWith: .workerLost)
        let fixture = try LicensingFixture(module: { _ in module }, recorder: store.recorder())
        let request = try fixture.deviceRequest(.v1)
        #expect(await fixture.issue(request.message, token: try fixture.token()).failure == .module(.workerLost))
        #expect(store.decisions.isEmpty)
    }
}

@Suite struct RecordedAnswerTests {
    private let answer = RecordedAnswer(license: LicenseID(Bytes16(high: 0x0102, low: 3)), use: .offline)

    @Test func comesBackAsItWas() {
        #expect(RecordedAnswer(answer.bytes) == answer)
        #expect(answer.bytes.count == 18)
    }

    @Test(arguments: 0..<18)
    func isNothingWhenCutShort(size: Int) {
        #expect(RecordedAnswer(Array(answer.bytes.prefix(size))) == nil)
    }

    @Test func isNothingInAnotherVersion() {
        var bytes = answer.bytes
        bytes[0] = 2
        #expect(RecordedAnswer(bytes) == nil)
        #expect(RecordedAnswer(answer.bytes + [0]) == nil)
    }
}
