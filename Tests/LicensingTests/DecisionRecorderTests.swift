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

    /// Nothing proves the player's names, so they change no decision.
    @Test func writesDownThePlayersNames() async throws {
        let fixture = try LicensingFixture(recorder: store.recorder())
        let mark = try #require(PlayerMark([Array(#"sid="6e2f",cid="film 7""#.utf8)[...]]))
        let token = try fixture.token([Right(.content("movie-1"), lease: 300)])
        let request = LicenseRequest(
            message: try fixture.deviceRequest(.v1).message, origin: RequestOrigin(mark: mark))
        _ = try await fixture.outcome(of: request, token: token).get()
        let entry = try #require(store.decisions.first).entry
        let session = try store.recorder().pseudonyms.pseudonym(of: .playerSession, Array("6e2f".utf8))
        #expect(entry.facts[.playerSession] == Hexadecimal.encode(session.firstHalf.bytes))
        #expect(entry.facts[.playerContent] == "film 7")
        #expect(try LedgerEntry(parsing: entry.encoded()) == entry.bounded)
    }

    @Test func tellsARenewalByThePlaybackState() async throws {
        _ = try await issue(state: .leaseExpiring).get()
        #expect(store.decisions.first?.entry.kind == .licenseRenewed)
    }

    /// The device counts its times from now, so that a repetition ends when its first license would have ended.
    @Test(arguments: [(200, 200, 200), (150, 200, 150), (nil, 200, 200), (200, 150, 150)] as [(Int64?, Int64, UInt32)])
    func givesARepeatedRequestItsFirstLicense(first: Int64?, end: Int64, rest: UInt32) async throws {
        let now = LicensingFixture.now
        let id = LicenseID(milliseconds: UInt64(now) * 1000, random: Bytes16(high: 1, low: 2))
        let answer = RecordedAnswer(license: id, rightEnd: first.map { now + $0 })
        store.answer(with: .success(.repeated(answer: answer.bytes)))
        let license = try await issue(rights: [Right(.content("movie-1"), end: now + end)]).get()
        #expect(license.isRepeated && license.id == id)
        #expect(license.times.expiresAt == now + Int64(rest) && license.terms.lease?.value == rest)
    }

    @Test func repeatsWhatIsLeftOfALease() async throws {
        let decidedAt = LicensingFixture.now - 100
        let id = LicenseID(milliseconds: UInt64(decidedAt) * 1000, random: Bytes16(high: 1, low: 2))
        store.answer(with: .success(.repeated(answer: RecordedAnswer(license: id).bytes)))
        let license = try await issue().get()
        #expect(license.id == id && license.terms.lease?.value == 200)
    }

    /// A right that ends later than a retry explains is another grant, and its decision has another name.
    @Test func decidesAnewIfTheFirstRightEndedEarlier() async throws {
        let now = LicensingFixture.now
        let id = LicenseID(milliseconds: UInt64(now) * 1000, random: Bytes16(high: 1, low: 2))
        store.answer(with: .success(.repeated(answer: RecordedAnswer(license: id, rightEnd: now + 60).bytes)))
        #expect(try await issue(rights: [Right(.content("movie-1"), end: now + 181)]).failure == .denied(.replayed))
        let names = store.decisions.compactMap { ($0.localReplay ?? $0.replay)?.request }
        #expect(names.count == 4 && Set(names).count == 4)
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
    private static let license = LicenseID(Bytes16(high: 0x0102, low: 3))
    private static let answers = [
        RecordedAnswer(license: license), RecordedAnswer(license: license, rightEnd: 7),
        RecordedAnswer(license: license, rightEnd: -1), RecordedAnswer(license: license, rightEnd: .max),
    ]

    @Test(arguments: answers)
    func comesBackAsItWas(answer: RecordedAnswer) {
        #expect(RecordedAnswer(answer.bytes) == answer)
    }

    @Test func isNothingInAnotherSize() {
        let bytes = RecordedAnswer(license: Self.license, rightEnd: 7).bytes
        #expect(bytes.count == 25)
        for size in 0..<25 where size != 17 { #expect(RecordedAnswer(Array(bytes.prefix(size))) == nil, "\(size)") }
        #expect(RecordedAnswer(bytes + [0]) == nil)
    }

    @Test func isNothingInALaterVersion() {
        var bytes = RecordedAnswer(license: Self.license).bytes
        bytes[0] = 3
        #expect(RecordedAnswer(bytes) == nil)
    }

    @Test func readsTheVersionWithAUse() {
        let bytes = [1, 1] + Self.license.bytes.bytes
        #expect(RecordedAnswer(bytes) == RecordedAnswer(license: Self.license))
    }

    @Test(
        arguments: [
            (nil, nil, true), (nil, 50, true), (50, nil, false), (50, 40, true), (50, 50, true), (50, 170, true),
            (50, 171, false), (.max, .max, true), (.max - 1, .max, true),
        ] as [(Int64?, Int64?, Bool)])
    func answersWhatEndsNotMuchLater(known: Int64?, asked: Int64?, answers: Bool) {
        let answer = RecordedAnswer(license: Self.license, rightEnd: known)
        #expect(answer.answers(RecordedAnswer(license: Self.license, rightEnd: asked), within: 120) == answers)
    }
}
