import ByteCoding
import ContentKeys
import Entitlements
import EventLoops
import Records
import Synchronization
import TestSupport
import Testing

@testable import Licensing

/// How licenses are decided in an outage (architecture, "When the database or the disk fails").
@Suite struct SharedDecisionStoreTests {
    private let shared = SharedStandIn()
    private let ledger = LedgerStandIn()
    private let clock = ManualClock()

    private func store(_ rule: SharedDecisionStore.OutageRule = .refuse) -> SharedDecisionStore {
        SharedDecisionStore(shared: shared, ledger: ledger, onStoreOutage: rule)
    }

    private static let request = Pseudonym(short: Bytes16(high: 6, low: 6))

    private func decision(spends: Bool, replayedUntil end: Int64?) throws -> LicenseDecision {
        var decision = try decision(spends: spends)
        decision.replay = ReplayRecord(
            request: Self.request, retryWindow: 120, keptUntil: 200,
            answer: RecordedAnswer(license: decision.entry.license, rightEnd: end).bytes)
        return decision
    }

    private func decision(spends: Bool) throws -> LicenseDecision {
        let entry = LedgerEntry(kind: .licenseIssued, at: 5, license: LicenseID(Bytes16(high: 1, low: 2)))
        guard spends else { return LicenseDecision(now: 5, entry: entry) }
        let token = try #require(Pseudonym([UInt8](repeating: 3, count: 32)))
        let use = TokenUse(token: token, keyID: KeyID(words: Bytes16(high: 4, low: 4)), limit: 3, keptUntil: 100)
        return LicenseDecision(now: 5, tokenUse: use, entry: entry)
    }

    @Test func writesDownWhatWasSettled() async throws {
        let decision = try decision(spends: true)
        #expect(try await store().commit(decision) == .recorded)
        #expect(shared.count == 1 && ledger.entries == [decision.entry])
    }

    @Test(arguments: [SharedDecisionStore.OutageRule.refuse, .admit])
    func asksTheDatabaseForNothingThatItDoesNotShare(rule: SharedDecisionStore.OutageRule) async throws {
        shared.answer(with: .failure(.unavailable(.unreachable)))
        let store = store(rule)
        #expect(try await store.commit(decision(spends: false)) == .recorded)
        #expect(shared.count == 0 && ledger.entries.count == 1 && store.counts.admitted == 0)
    }

    @Test func refusesInAnOutage() async throws {
        shared.answer(with: .failure(.unavailable(.unreachable)))
        let decision = try decision(spends: true)
        await #expect(throws: StoreError.unavailable(.unreachable)) { try await store().commit(decision) }
        #expect(ledger.entries.isEmpty)
    }

    @Test func admitsInAnOutageWhereItIsTold() async throws {
        shared.answer(with: .failure(.unavailable(.unreachable)))
        let store = store(.admit)
        #expect(try await store.commit(decision(spends: true)) == .recorded)
        #expect(ledger.entries.count == 1 && store.counts.admitted == 1)
        // The row says that it is uncounted, and the debt to the database is kept with it.
        #expect(ledger.entries.allSatisfy(\.isUncounted) && ledger.marks == [nil])
    }

    /// A renewal in an outage may be the first play of a rental. Then only this first play is owed to the database, and
    /// no other part of the decision.
    @Test func owesAFirstPlayThatARenewalToldInAnOutage() async throws {
        shared.answer(with: .failure(.unavailable(.unreachable)))
        var decision = try decision(spends: true)
        let name = try #require(Pseudonym([UInt8](repeating: 8, count: 32)))
        let claim = RentalClaim(
            name: name, owner: name, content: "movie-1", known: RentalRecord(openedAt: 1),
            record: RentalRecord(openedAt: 1, firstPlay: 5), keptUntil: 100)
        decision.rental = claim
        decision.sessionTokenUse = SessionTokenUse(session: name, generation: 1, keptUntil: 100)
        #expect(try await store().commit(decision) == .recorded)
        #expect(ledger.entries == [decision.entry.uncounted] && ledger.marks == [nil])
        let kept = try #require(ledger.kept.first)
        #expect(kept.rental == claim && kept.tokenUse == nil && kept.sessionTokenUse == nil)
    }

    /// A token gets no more than its own uses and the limit per token in an outage. A subject gets no more than the
    /// limit per subject.
    @Test(arguments: [(uses: UInt32(2), perToken: 5, perSubject: 50, given: 2), (9, 3, 50, 3), (9, 5, 4, 4)])
    func admitsNoMoreThanItsLimits(uses: UInt32, perToken: Int, perSubject: Int, given: Int) async throws {
        shared.answer(with: .failure(.unavailable(.unreachable)))
        let store = SharedDecisionStore(
            shared: shared, ledger: ledger, onStoreOutage: .admit,
            limits: AdmissionLimits(perToken: perToken, perSubject: perSubject), clock: clock)
        var refused = 0
        for number in 0..<20 as Range<UInt8> {
            var decision = try decision(spends: true)
            decision.tokenUse?.limit = uses
            decision.entry.subject = Pseudonym([UInt8](repeating: 9, count: 32))
            decision.replay = try replay(number)
            do throws(StoreError) { _ = try await store.commit(decision) } catch {
                #expect(error == .unavailable(.unreachable))
                refused += 1
            }
        }
        #expect(ledger.entries.count == given && refused == 20 - given)
        #expect(store.counts.admitted == UInt64(given) && store.counts.overLimit == UInt64(refused))
        // The database has counted the admitted licenses. Ten minutes later, an outage begins with its full limits.
        clock.advance(by: .seconds(599))
        try await store.counting {}
        var next = try decision(spends: true)
        next.tokenUse?.limit = uses
        next.replay = try replay(99)
        next.entry.subject = Pseudonym([UInt8](repeating: 9, count: 32))
        await #expect(throws: StoreError.unavailable(.unreachable)) { try await store.commit(next) }
        clock.advance(by: .seconds(1))
        ledger.loseKept()
        try await store.counting {}
        #expect(try await store.commit(next) == .recorded)
    }

    /// A use, a place or an answer that this node has given is known in an outage.
    @Test func admitsNothingThatItHasGivenItself() async throws {
        let store = store(.admit)
        var given = try decision(spends: true)
        let (owner, device) = (try Self.name(21), try Self.name(22))
        given.devicePlaces = [DevicePlace(owner: owner, device: device, limit: 1, keptUntil: 100)]
        given.tokenUse?.limit = 1
        given.replay = try replay(1)
        #expect(try await store.commit(given) == .recorded)
        shared.answer(with: .failure(.unavailable(.unreachable)))
        let answer = try #require(given.replay?.answer)
        #expect(try await store.commit(given) == .repeated(answer: answer, isRecorded: true))
        var again = given
        again.replay = try replay(2)
        await #expect(throws: StoreError.unavailable(.unreachable)) { try await store.commit(again) }
        again.tokenUse?.token = try Self.name(23)
        #expect(try await store.commit(again) == .recorded, "another token on the device that has the place")
        again.replay = try replay(3)
        again.tokenUse?.token = try Self.name(24)
        again.devicePlaces[0].device = try Self.name(25)
        await #expect(throws: StoreError.unavailable(.unreachable)) { try await store.commit(again) }
        #expect(store.counts.admitted == 1 && store.counts.overLimit == 2)
    }

    /// The database has settled a request, and its answer was lost. The device repeats the request later, and the use
    /// must not be given to another request meanwhile.
    @Test(arguments: [false, true])
    func admitsNothingThatTheDatabaseMayHaveGiven(isRecounted: Bool) async throws {
        let store = SharedDecisionStore(shared: shared, ledger: ledger, onStoreOutage: .admit, clock: clock)
        var lost = try decision(spends: true)
        lost.tokenUse?.limit = 1
        lost.replay = try replay(1)
        shared.answer(with: .failure(.recordMalformed))
        await #expect(throws: StoreError.recordMalformed) { try await store.commit(lost) }
        if isRecounted { try await store.counting {} }
        shared.answer(with: .failure(.unavailable(.unreachable)))
        var other = lost
        other.replay = try replay(2)
        await #expect(throws: StoreError.unavailable(.unreachable)) { try await store.commit(other) }
        // After the window the database gives the request no license any more.
        clock.advance(by: .seconds(11))
        #expect(try await store.commit(other) == .recorded)
    }

    /// The database answers again before it has counted what was admitted.
    @Test func givesNoUseThatItHasAdmittedBeforeThatIsCounted() async throws {
        let store = store(.admit)
        shared.answer(with: .failure(.unavailable(.unreachable)))
        var admitted = try decision(spends: true)
        admitted.tokenUse?.limit = 1
        admitted.replay = try replay(1)
        #expect(try await store.commit(admitted) == .recorded)
        shared.answer(with: .success(.recorded))
        var other = admitted
        other.replay = try replay(2)
        await #expect(throws: StoreError.unavailable(.unreachable)) { try await store.commit(other) }
        var stranger = other
        stranger.tokenUse?.token = try Self.name(26)
        #expect(try await store.commit(stranger) == .recorded)
        // Once it is counted, the database decides.
        try await store.counting {}
        #expect(try await store.commit(other) == .recorded)
    }

    /// The use of a repeated request is known, although its first answer was lost.
    @Test func knowsTheUseOfARepeatedRequest() async throws {
        let store = store(.admit)
        var repeated = try decision(spends: true)
        repeated.tokenUse?.limit = 1
        repeated.replay = try replay(1)
        let answer = try #require(repeated.replay?.answer)
        shared.answer(with: .success(.repeated(answer: answer)))
        #expect(try await store.commit(repeated) == .repeated(answer: answer, isRecorded: true))
        shared.answer(with: .failure(.unavailable(.unreachable)))
        var other = repeated
        other.replay = try replay(2)
        await #expect(throws: StoreError.unavailable(.unreachable)) { try await store.commit(other) }
    }

    /// A place in a group, and what was played of a rental.
    @Test func admitsNoPlaybackAndNoRentalAgain() async throws {
        let store = store(.admit)
        var given = try decision(spends: true)
        let (group, rented) = (try Self.name(31), try Self.name(32))
        let record = RentalRecord(openedAt: 1, firstPlay: 5)
        given.slotClaims = [
            SlotClaim(
                group: group, limit: 1, whenFull: .denyNew,
                playback: .init(device: try Self.name(33), session: 1, content: group), isConfirmed: true,
                heldUntil: 100)
        ]
        given.rental = RentalClaim(
            name: rented, owner: rented, content: "movie-1", known: nil, record: record, keptUntil: 100)
        given.replay = try replay(1)
        #expect(try await store.commit(given) == .recorded)
        shared.answer(with: .failure(.unavailable(.unreachable)))
        var next = given
        next.replay = try replay(2)
        #expect(try await store.commit(next) == .denied(.rentalDiffers(record)))
        next.rental?.known = record
        #expect(try await store.commit(next) == .recorded, "the same device goes on")
        next.replay = try replay(3)
        next.slotClaims[0].playback.device = try Self.name(34)
        await #expect(throws: StoreError.unavailable(.unreachable)) { try await store.commit(next) }
        next.now = 100
        #expect(try await store.commit(next) == .recorded, "the first playback is over")
    }

    private static func name(_ number: UInt8) throws -> Pseudonym {
        try #require(Pseudonym([UInt8](repeating: number, count: 32)))
    }

    // MARK: A lost connection

    /// The decision waits for the recount on the new connection, and is settled there.
    @Test(arguments: [SharedDecisionStore.OutageRule.refuse, .admit])
    func settlesOnceMoreOnAFreshConnection(rule: SharedDecisionStore.OutageRule) async throws {
        let group = try EventLoopGroup(count: 1)
        defer { group.stop(within: .seconds(1)) }
        let connections = SettledConnections(on: group.loops)
        connections.allow(upTo: 1)
        shared.reconnect()
        let store = SharedDecisionStore(
            shared: shared, ledger: ledger, onStoreOutage: rule, connections: connections)
        async let outcome = store.commit(decision(spends: true))
        // The recount ends while the decision waits, or before it.
        group.loops[0].execute { connections.allow(upTo: 2) }
        #expect(try await outcome == .recorded)
        #expect(shared.count == 1 && store.counts.admitted == 0 && ledger.entries.count == 1)
    }

    /// In an outage one decision waits, and the others do not.
    @Test(arguments: [false, true])
    func waitsOnceInAnOutage(isRefused: Bool) async throws {
        let group = try EventLoopGroup(count: 1)
        defer { group.stop(within: .seconds(1)) }
        let connections = SettledConnections(on: group.loops)
        if isRefused { shared.stayAway() }
        let store = SharedDecisionStore(shared: shared, ledger: ledger, connections: connections)
        for _ in 0..<3 {
            await #expect(throws: StoreError.unavailable(.unreachable)) {
                try await store.commit(decision(spends: true))
            }
        }
        #expect(shared.count == 0 && ledger.entries.isEmpty)
        connections.allow(upTo: 1)
        #expect(try await store.commit(decision(spends: true)) == .recorded)
    }

    @Test func admitsTheSameRequestOnce() async throws {
        shared.answer(with: .failure(.unavailable(.unreachable)))
        let store = store(.admit)
        var decision = try decision(spends: true)
        decision.replay = try replay(1)
        #expect(try await store.commit(decision) == .recorded)
        let answer = try #require(decision.replay?.answer)
        for _ in 0..<5 { #expect(try await store.commit(decision) == .repeated(answer: answer, isRecorded: true)) }
        #expect(store.counts.admitted == 1 && ledger.marks.count == 1)
    }

    private func replay(_ number: UInt8) throws -> ReplayRecord {
        let request = try #require(Pseudonym([UInt8](repeating: number, count: 32)))
        let license = LicenseID(Bytes16(high: 5, low: UInt64(number)))
        return ReplayRecord(
            request: request, retryWindow: 10, keptUntil: 100,
            answer: RecordedAnswer(license: license).bytes)
    }

    /// If the ledger does not take the license, its use is given back, and is available to the next request.
    @Test func givesBackWhatTheLedgerDoesNotTake() async throws {
        ledger.fail(with: .unavailable(.diskFull))
        let (store, decision) = (store(), try decision(spends: true))
        await #expect(throws: StoreError.unavailable(.diskFull)) { try await store.commit(decision) }
        #expect(shared.givenBack == 1 && store.counts.givenBack == 1)
        // A repeated request has spent nothing.
        let first = LicenseID(Bytes16(high: 9, low: 9))
        shared.answer(with: .success(.repeated(answer: RecordedAnswer(license: first).bytes)))
        await #expect(throws: StoreError.unavailable(.diskFull)) { try await store.commit(decision) }
        #expect(shared.givenBack == 1)
    }

    /// A running playback continues, even if the rule refuses new ones.
    @Test(arguments: [SharedDecisionStore.OutageRule.refuse, .admit])
    func renewsSessionsInAnOutage(rule: SharedDecisionStore.OutageRule) async throws {
        shared.answer(with: .failure(.unavailable(.unreachable)))
        var renewal = try decision(spends: true)
        renewal.sessionTokenUse = SessionTokenUse(
            session: try #require(Pseudonym([UInt8](repeating: 4, count: 32))), generation: 1, keptUntil: 100)
        let store = store(rule)
        for error in [StoreError.unavailable(.unreachable), .unavailable(.busy), .unavailable(.misconfigured)] {
            shared.answer(with: .failure(error))
            #expect(try await store.commit(renewal) == .recorded)
        }
        #expect(ledger.entries.count == 3 && ledger.entries.allSatisfy(\.isUncounted))
        #expect(store.counts.uncheckedRenewals == 3 && store.counts.admitted == 0)
        shared.answer(with: .failure(.unavailable(.damaged)))
        await #expect(throws: StoreError.unavailable(.damaged)) { try await store.commit(renewal) }
    }

    /// The first renewals wait a moment for a database that does not answer, and later ones do not wait.
    @Test func renewsWithoutWaitingForADatabaseThatHangs() async throws {
        let group = try EventLoopGroup(count: 1)
        defer { group.stop(within: .seconds(5)) }
        let patience = Patience(on: group.loops, limit: .milliseconds(20))
        let store = SharedDecisionStore(shared: shared, ledger: ledger, patience: patience)
        var renewal = try decision(spends: true)
        renewal.sessionTokenUse = SessionTokenUse(
            session: try #require(Pseudonym([UInt8](repeating: 4, count: 32))), generation: 1, keptUntil: 100)
        shared.hang()
        for _ in 0..<600 { #expect(try await store.commit(renewal) == .recorded) }
        #expect(patience.isOpen && patience.lateCount == 600 && store.counts.uncheckedRenewals == 600)
        // The number of questions without a waiting request is limited.
        #expect(shared.count <= Patience.questionsMaximum)
        shared.goOn()
        // The first answer in time closes the breaker.
        for _ in 0..<100_000 where patience.isOpen {
            _ = try await store.commit(renewal)
            await Task.yield()
        }
        #expect(!patience.isOpen)
        let unchecked = store.counts.uncheckedRenewals
        #expect(try await store.commit(renewal) == .recorded)
        #expect(store.counts.uncheckedRenewals == unchecked)
    }

    /// A client that overloads the database must not get licenses by doing so.
    @Test(arguments: [StoreError.unavailable(.busy), .unavailable(.damaged), .recordMalformed])
    func admitsNothingWhileTheDatabaseAnswers(error: StoreError) async throws {
        shared.answer(with: .failure(error))
        let (store, decision) = (store(.admit), try decision(spends: true))
        await #expect(throws: error) { try await store.commit(decision) }
        #expect(ledger.entries.isEmpty && store.counts.admitted == 0)
    }

    /// If the clocks of node and database differ, this is not an outage, under either rule for outages.
    @Test(arguments: [SharedDecisionStore.OutageRule.refuse, .admit])
    func countsNothingWhileTheClocksDiffer(rule: SharedDecisionStore.OutageRule) async throws {
        let store = SharedDecisionStore(shared: shared, ledger: ledger, onStoreOutage: rule, mayCount: { false })
        let decision = try decision(spends: true)
        await #expect(throws: StoreError.unavailable(.clockUntrusted)) { try await store.commit(decision) }
        #expect(shared.count == 0 && ledger.entries.isEmpty && store.counts.admitted == 0)
        #expect(try await store.commit(self.decision(spends: false)) == .recorded)
        var renewal = decision
        renewal.sessionTokenUse = SessionTokenUse(
            session: try #require(Pseudonym([UInt8](repeating: 4, count: 32))), generation: 1, keptUntil: 100)
        #expect(try await store.commit(renewal) == .recorded)
        #expect(shared.count == 0 && ledger.entries.count == 2 && store.counts.uncheckedRenewals == 1)
    }

    @Test(arguments: [SharedDecisionStore.OutageRule.refuse, .admit], [true, false])
    func givesNothingThatTheLedgerDoesNotTake(rule: SharedDecisionStore.OutageRule, spends: Bool) async throws {
        ledger.fail(with: .unavailable(.diskFull))
        let (store, decision) = (store(rule), try decision(spends: spends))
        await #expect(throws: StoreError.unavailable(.diskFull)) { try await store.commit(decision) }
        shared.answer(with: .failure(.unavailable(.unreachable)))
        await #expect(throws: StoreError.self) { try await store.commit(decision) }
        #expect(store.counts.admitted == 0)
    }

    @Test(arguments: [DecisionDenial.replayed, .tokenUsed(limit: 3), .slotEvicted])
    func writesDownNothingThatIsDenied(denial: DecisionDenial) async throws {
        shared.answer(with: .success(.denied(denial)))
        #expect(try await store(.admit).commit(decision(spends: true)) == .denied(denial))
        #expect(ledger.entries.isEmpty)
    }

    /// As after a crash between the commit and the ledger: the license that the client gets at last is in the ledger.
    @Test func writesDownARepetitionUnderItsFirstName() async throws {
        let first = LicenseID(Bytes16(high: 9, low: 9))
        let answer = RecordedAnswer(license: first).bytes
        shared.answer(with: .success(.repeated(answer: answer)))
        let outcome = try await store().commit(decision(spends: true, replayedUntil: nil))
        #expect(outcome == .repeated(answer: answer, isRecorded: true))
        #expect(ledger.entries.map(\.license) == [first])
        #expect(shared.noted == [Self.request], "no other node writes it again")
    }

    /// The ledger of this node or of another one has the entry already.
    @Test func writesDownARepetitionOnce() async throws {
        let answer = RecordedAnswer(license: LicenseID(Bytes16(high: 9, low: 9))).bytes
        shared.answer(with: .success(.repeated(answer: answer, isRecorded: true)))
        let outcome = try await store().commit(decision(spends: true, replayedUntil: nil))
        #expect(outcome == .repeated(answer: answer, isRecorded: true))
        #expect(ledger.entries.isEmpty && shared.noted.isEmpty)
    }

    /// The right of the first token ended much earlier, so its answer is none to this request. The ledger must not say
    /// that this token got the first license.
    @Test(arguments: [false, true])
    func writesDownNoRepetitionForALaterEnd(isRecorded: Bool) async throws {
        let answer = RecordedAnswer(license: LicenseID(Bytes16(high: 9, low: 9)), rightEnd: 10).bytes
        shared.answer(with: .success(.repeated(answer: answer, isRecorded: isRecorded)))
        let outcome = try await store().commit(decision(spends: true, replayedUntil: 131))
        #expect(outcome == .repeated(answer: answer, isRecorded: isRecorded))
        #expect(ledger.entries.isEmpty && shared.noted.isEmpty)
    }

    @Test func notesWhatIsInTheLedgerAndNothingElse() async throws {
        _ = try await store().commit(decision(spends: true, replayedUntil: nil))
        #expect(shared.noted == [Self.request])
        ledger.fail(with: .unavailable(.diskFull))
        await #expect(throws: StoreError.self) {
            try await store().commit(decision(spends: true, replayedUntil: nil))
        }
        #expect(shared.noted == [Self.request])
    }

    @Test func repeatsNothingThatItCannotRead() async throws {
        shared.answer(with: .success(.repeated(answer: [1, 2])))
        let decision = try decision(spends: true)
        await #expect(throws: StoreError.recordMalformed) { try await store().commit(decision) }
        #expect(ledger.entries.isEmpty)
    }
}

private final class SharedStandIn: RecountedStore {
    private struct State {
        var count = 0
        var outcome: Result<DecisionOutcome, StoreError> = .success(.recorded)
        var givenBack = 0
        var isHanging = false
        var hung: [CheckedContinuation<Void, Never>] = []
        var noted: [Pseudonym] = []
        var newestConnection = 1
        var isReconnecting = true
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.count } }
    var givenBack: Int { state.withLock { $0.givenBack } }

    /// The requests whose entries are known to be in a ledger.
    var noted: [Pseudonym] { state.withLock { $0.noted } }

    func noteRecorded(_ request: Pseudonym) {
        state.withLock { $0.noted.append(request) }
    }

    func hang() { state.withLock { $0.isHanging = true } }

    func goOn() {
        let hung = state.withLock { state in
            defer { (state.isHanging, state.hung) = (false, []) }
            return state.hung
        }
        for caller in hung { caller.resume() }
    }

    var newestConnection: Int { state.withLock { $0.newestConnection } }
    var isReconnecting: Bool { state.withLock { $0.isReconnecting } }

    /// Opens a new connection. Decisions fail on it until they are allowed there.
    func reconnect() { state.withLock { $0.newestConnection += 1 } }

    /// The server has refused a connection.
    func stayAway() { state.withLock { $0.isReconnecting = false } }

    func settle(
        _ decision: LicenseDecision, on connections: ClosedRange<Int>?
    ) async throws(StoreError) -> DecisionOutcome {
        guard connections?.contains(newestConnection) ?? true else { throw .unavailable(.unreachable) }
        return try await settle(decision)
    }

    func giveBack(_ decision: LicenseDecision) async throws(StoreError) -> Bool {
        state.withLock { $0.givenBack += 1 }
        return true
    }

    func replaceMark(
        of node: NodeID, with mark: Int64, expected: Int64, on connections: ClosedRange<Int>?
    ) async throws(StoreError) -> Int64 {
        expected
    }

    func answer(with outcome: Result<DecisionOutcome, StoreError>) {
        state.withLock { $0.outcome = outcome }
    }

    func settle(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome {
        let (outcome, isHanging) = state.withLock { state in
            state.count += 1
            return (state.outcome, state.isHanging)
        }
        if isHanging { await untilItGoesOn() }
        return try outcome.get()
    }

    private func untilItGoesOn() async {
        await withCheckedContinuation { caller in
            let isHanging = state.withLock { state in
                if state.isHanging { state.hung.append(caller) }
                return state.isHanging
            }
            if !isHanging { caller.resume() }
        }
    }
}

private final class LedgerStandIn: DecisionKeeping {
    private let state = Mutex<(entries: [LedgerEntry], marks: [Int64?], error: StoreError?)>(([], [], nil))
    private let decisions = Mutex<[LicenseDecision]>([])

    /// The decisions that were kept, in order.
    var kept: [LicenseDecision] { decisions.withLock { $0 } }

    var entries: [LedgerEntry] { state.withLock { $0.entries } }
    /// The marks of the kept decisions, in order.
    var marks: [Int64?] { state.withLock { $0.marks } }

    func append(
        _ entry: LedgerEntry, keeping decision: LicenseDecision, mark: Int64?
    ) async throws(StoreError) {
        try await append(entry)
        state.withLock { $0.marks.append(mark) }
        decisions.withLock { $0.append(decision) }
    }

    func owedDecisions(limit: Int) async throws(StoreError) -> [KeptDecision] { [] }

    func keptDecisions(
        from mark: Int64, behind last: Int64, limit: Int
    ) async throws(StoreError) -> [KeptDecision] {
        zip(marks, kept).enumerated().compactMap { index, one in
            let number = Int64(index) + 1
            return one.0 != nil && number > last ? KeptDecision(number: number, decision: one.1) : nil
        }
    }

    /// The decisions that were kept are as old as the ledger forgets them.
    func loseKept() {
        state.withLock { $0.marks = [] }
        decisions.withLock { $0 = [] }
    }

    func latestMark() async throws(StoreError) -> Int64 { 0 }
    func noteSettled(_ numbers: [Int64], mark: Int64) async throws(StoreError) {}
    func forgetKept(before mark: Int64) async throws(StoreError) {}

    func fail(with error: StoreError) {
        state.withLock { $0.error = error }
    }

    func append(_ entry: LedgerEntry) async throws(StoreError) {
        if let error = state.withLock({ $0.error }) { throw error }
        state.withLock { $0.entries.append(entry) }
    }
}
