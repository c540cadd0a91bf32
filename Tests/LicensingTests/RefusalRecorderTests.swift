import ByteCoding
import ContentKeys
import DeviceSimulation
import Entitlements
import FairPlay
import Records
import Synchronization
import Telemetry
import TestSupport
import Testing

@testable import Licensing

/// The ledger rows about requests with a good token that were refused.
@Suite struct RefusalRecorderTests {
    private let ledger = RecordingLedger()
    private let clock = ManualClock()

    private func fixture(
        perSecond: Int, hasRoom: @escaping @Sendable () -> Bool = { true }
    ) throws -> (LicensingFixture, RefusalRecorder) {
        var made: RefusalRecorder?
        let pseudonyms = try SampleDecisions.pseudonyms()
        let fixture = try LicensingFixture(refusals: { loop in
            let recorder = RefusalRecorder(
                ledger: ledger, pseudonyms: pseudonyms, perSecond: perSecond, on: loop, clock: clock,
                hasRoom: hasRoom)
            made = recorder
            return recorder
        })
        return (fixture, try #require(made))
    }

    private func refuse(
        _ fixture: LicensingFixture, subject: String? = "viewer-1", times count: Int = 1
    ) async throws {
        let token = try fixture.token([Right(.content("movie-2"))], subject: subject, tokenID: "t-1")
        for _ in 0..<count {
            let result = await fixture.issue(try fixture.deviceRequest(.v1).message, token: token)
            #expect(result.failure == .entitlement(.contentNotCovered))
        }
    }

    @Test func writesDownWhoWasRefusedWhatAndWhy() async throws {
        let (fixture, recorder) = try fixture(perSecond: 10)
        try await refuse(fixture)
        let entry = try #require(try await ledger.entries(atLeast: 1).first)
        #expect(entry.kind == .licenseRefused && entry.detail == "content_mismatch")
        #expect(entry.content == "movie-1" && entry.tokenID == "t-1" && entry.at == LicensingFixture.now)
        let pseudonyms = try SampleDecisions.pseudonyms()
        let subject = try pseudonyms.pseudonym(of: .subject, Array("portal".utf8), Array("viewer-1".utf8))
        #expect(entry.subject == subject && recorder.omittedCount == 0)
        #expect(entry.facts[.issuer] == "portal" && entry.facts[.tokenKey] == "test")
        #expect(entry.facts[.credential] == fixture.credential.credential.name)
        #expect(entry.facts[.found] == "content movie-1, kid 00112233-4455-6677-8899-aabbccddeeff")
        #expect(entry.facts[.expected] == "content movie-2")
        #expect(entry.facts[.cause] == "no right of the token covers the content")
        #expect(try LedgerEntry(parsing: entry.encoded()) == entry.bounded)
    }

    /// What the store remembers of a rental says why the right has ended.
    @Test func writesDownWhenARentalHasEnded() async throws {
        let pseudonyms = try SampleDecisions.pseudonyms()
        let fixture = try LicensingFixture(
            recorder: MemoryDecisionStore().recorder(),
            refusals: { loop in
                RefusalRecorder(ledger: ledger, pseudonyms: pseudonyms, perSecond: 10, on: loop, clock: clock)
            })
        var right = Right(.content("movie-1"))
        right.rental = RentalTerms(start: 86_400, play: 3600, finish: false)
        let token = try fixture.token([right], expiresIn: 86_400, subject: "viewer-1")
        for time in [0, 3600] as [Int64] {
            let message = try fixture.deviceRequest(.v1) {
                $0.playbackState = MediaPlaybackState(createdAt: 1, state: .playing, sessionID: 7 + UInt64(time))
            }.message
            let result = await fixture.issue(message, token: token, now: LicensingFixture.now + time)
            #expect(result.failure == (time == 0 ? nil : LicenseError.entitlement(.rightEnded)))
        }
        let entry = try #require(try await ledger.entries(atLeast: 1).first)
        let found = try #require(entry.facts[.found])
        #expect(entry.detail == "right_ended" && found.hasPrefix("a rental, first played at 2027-01-15T08:00:00Z"))
        #expect(found.hasSuffix("with its end at 2027-01-15T09:00:00Z"))
    }

    /// The refusal has the key id of the asset id, and the content that was meant.
    @Test(arguments: [
        ("00000000-0000-0000-0000-000000000001", [Right(.content("movie-1"))], "key_not_found"),
        ("00112233-4455-6677-8899-aabbccddeeff", [Right(.content("movie-2"))], "content_mismatch"),
    ])
    func writesDownBothNamesOfAnExplicitKeyID(keyID: String, rights: [Right], code: String) async throws {
        let (fixture, _) = try fixture(perSecond: 10)
        let content = code == "key_not_found" ? "movie-1" : "movie-2"
        let request = try fixture.deviceRequest(.v1, assetID: "skd://h/x?contentId=\(content)&kid=\(keyID)")
        _ = await fixture.issue(request.message, token: try fixture.token(rights))
        let entry = try #require(try await ledger.entries(atLeast: 1).first)
        #expect(entry.detail == code && entry.keyID?.description == keyID)
        #expect(entry.facts[.found]?.contains(keyID) == true, "\(entry.facts.all)")
        #expect(entry.facts[.expected]?.contains(content) == true, "\(entry.facts.all)")
    }

    /// What is left of a nearly full disk serves licenses. The first row after it counts the refusals without rows.
    @Test func writesNothingWhileTheDiskIsNearlyFull() async throws {
        let room = Mutex(false)
        let (fixture, recorder) = try fixture(perSecond: 10, hasRoom: { room.withLock { $0 } })
        try await refuse(fixture, times: 3)
        #expect(recorder.omittedCount == 3)
        room.withLock { $0 = true }
        try await refuse(fixture)
        let entries = try await ledger.entries(atLeast: 2)
        #expect(entries.count == 2 && recorder.omittedCount == 3)
    }

    @Test func writesDownRevokedTokens() async throws {
        let (fixture, _) = try fixture(perSecond: 10)
        var view = RevocationView()
        view.revoke(.token, "t-1", of: "portal")
        fixture.shared.revocations.replace(with: view)
        #expect(await fixture.claims(of: try fixture.token(tokenID: "t-1")).failure == .entitlement(.tokenRevoked))
        let entries = try await ledger.entries(atLeast: 1)
        #expect(entries.map(\.tokenID) == ["t-1"])
        #expect(entries.first?.facts[.found] == "revoked: the token t-1")
    }

    /// Requests without a good token add no rows.
    @Test func writesNothingWithoutAGoodToken() async throws {
        let (fixture, recorder) = try fixture(perSecond: 10)
        let message = try fixture.deviceRequest(.v1).message
        #expect(await fixture.issue(message, token: nil).failure == .tokenMissing)
        #expect(await fixture.issue(message, token: try fixture.token(expiresIn: -60)).failure != nil)
        #expect(await fixture.issue([1, 2, 3], token: try fixture.token()).failure != nil)
        try await refuse(fixture)
        #expect(try await ledger.entries(atLeast: 1).count == 1)
        #expect(recorder.omittedCount == 0)
    }

    @Test func countsWhatComesTooFast() async throws {
        let (fixture, recorder) = try fixture(perSecond: 1)
        try await refuse(fixture, times: 7)
        #expect(try await ledger.entries(atLeast: 2).map(\.kind) == [.licenseRefused, .licenseRefused])
        #expect(recorder.omittedCount == 5)
        clock.advance(by: .seconds(1))
        try await refuse(fixture)
        let later = try await ledger.entries(atLeast: 4).dropFirst(2)
        #expect(later.map(\.kind) == [.refusalsOmitted, .licenseRefused])
        #expect(later.first?.detail == "5" && recorder.omittedCount == 5)
    }

    /// A viewer that is refused without end leaves rows for others.
    @Test func aViewerCannotUseUpTheRows() async throws {
        let (fixture, recorder) = try fixture(perSecond: 10)
        try await refuse(fixture, subject: "noisy", times: 25)
        #expect(recorder.omittedCount == 20)
        try await refuse(fixture)
        let entries = try await ledger.entries(atLeast: 7)
        let other = try SampleDecisions.pseudonyms().subject(issuer: "portal", "viewer-1")
        #expect(entries.map(\.kind).last == .licenseRefused && entries.last?.subject == other)
        #expect(entries.dropLast().last?.detail == "20")
        clock.advance(by: .seconds(1))
        try await refuse(fixture, subject: "noisy", times: 2)
        #expect(recorder.omittedCount == 21)
    }

    /// Tokens without a subject share the rate of all rows.
    @Test func refusalsWithoutASubjectShareTheRows() async throws {
        let (fixture, recorder) = try fixture(perSecond: 10)
        try await refuse(fixture, subject: nil, times: 21)
        #expect(recorder.omittedCount == 1)
    }

    @Test func writesNoneWhereNoneIsWanted() async throws {
        let (fixture, recorder) = try fixture(perSecond: 0)
        try await refuse(fixture, times: 3)
        #expect(recorder.omittedCount == 3 && ledger.all.isEmpty)
    }

    /// A row that could not be written is included in the count of the next row.
    @Test func countsWhatCouldNotBeWritten() async throws {
        let (fixture, recorder) = try fixture(perSecond: 10)
        ledger.fail(with: .unavailable(.diskFull))
        try await refuse(fixture)
        try await ledger.waitUntil { recorder.omittedCount == 1 }
        ledger.fail(with: nil)
        try await refuse(fixture)
        #expect(try await ledger.entries(atLeast: 2).map(\.detail) == ["1", "content_mismatch"])
    }
}

/// A ledger in memory that can fail.
final class RecordingLedger: Ledger {
    private let state = Mutex<(entries: [LedgerEntry], failure: StoreError?)>(([], nil))

    var all: [LedgerEntry] { state.withLock { $0.entries } }

    func fail(with error: StoreError?) {
        state.withLock { $0.failure = error }
    }

    func append(_ entry: LedgerEntry) async throws(StoreError) {
        let failure = state.withLock { state in
            if state.failure == nil { state.entries.append(entry) }
            return state.failure
        }
        if let failure { throw failure }
    }

    /// Returns the entries as soon as there are at least `count` of them.
    func entries(atLeast count: Int) async throws -> [LedgerEntry] {
        try await waitUntil { self.all.count >= count }
        return all
    }

    func waitUntil(_ condition: () -> Bool) async throws {
        let clock = ContinuousClock()
        let end = clock.now + .seconds(60)
        while !condition() {
            try #require(clock.now < end, "it never came")
            try await Task.sleep(for: .milliseconds(2))
        }
    }
}
