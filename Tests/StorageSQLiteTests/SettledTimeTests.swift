import ByteCoding
import ContentKeys
import Records
import Synchronization
import TestSupport
import Testing

@testable import StorageSQLite

/// A store ends records by the settled time, even if the times of requests are wrong.
@Suite struct SettledTimeTests {
    let folder: TemporaryFolder
    private let time = Time()

    private static let ahead: Int64 = 60 * 86_400

    /// The time of the node's clock.
    private final class Time: Sendable {
        private let state = Mutex(SettledTime(end: 0, deletion: 0))

        var now: SettledTime {
            get { state.withLock { $0 } }
            set { state.withLock { $0 = newValue } }
        }
    }

    init() throws {
        folder = try TemporaryFolder()
    }

    private func open() throws -> SQLiteDecisionStore {
        var options = SQLiteDecisionStore.Options()
        options.settledTime = { [time] in time.now }
        return try SQLiteDecisionStore.open(path: folder.database, chain: SampleLedger.chain(), options: options)
    }

    private static func spend(_ number: UInt64, at now: Int64) -> LicenseDecision {
        LicenseDecision(
            now: now, replay: SampleDecisions.replay(number, keptUntil: 1000),
            tokenUse: SampleDecisions.use(limit: 1, keptUntil: 1000),
            devicePlaces: [SampleDecisions.place(device: number, limit: 1, keptUntil: 1000)],
            entry: SampleDecisions.entry(number))
    }

    private func count(_ kind: CellKey.Kind) throws -> Int64 {
        var connection = try SQLiteConnection.open(path: folder.database, busyTimeoutMilliseconds: 1000)
        var statement = try connection.prepare("SELECT count(*) FROM cell WHERE kind = ?1")
        return try statement.readInteger(kind.rawValue)
    }

    /// Fault: a clock that was 60 days ahead for a few seconds made spent tokens usable again, and freed places.
    @Test func aClockAheadMakesNothingGoodAgain() async throws {
        let store = try open()
        #expect(try await store.commit(Self.spend(1, at: 0)) == .recorded)
        time.now = SettledTime(end: 7, deletion: nil)
        #expect(try await store.commit(Self.spend(1, at: Self.ahead)) == .denied(.replayed))
        #expect(try await store.commit(Self.spend(2, at: Self.ahead)) == .denied(.tokenUsed(limit: 1)))
        var other = Self.spend(3, at: Self.ahead)
        other.tokenUse = nil
        #expect(try await store.commit(other) == .denied(.deviceLimit(limit: 1)))
        time.now = SettledTime(end: 14, deletion: 14)
        #expect(try await store.commit(Self.spend(2, at: 14)) == .denied(.tokenUsed(limit: 1)))
        store.stop()
        #expect(store.statistics.forgottenCount == 0)
        for kind in [.request, .uses, .devices] as [CellKey.Kind] { #expect(try count(kind) == 1) }
    }

    /// A tool beside the daemon has a clock of its own, which may be wrong.
    @Test func aStoreThatKnowsNoSettledTimeDeletesNothing() async throws {
        let store = try SQLiteDecisionStore.open(path: folder.database, chain: SampleLedger.chain())
        #expect(try await store.commit(Self.spend(1, at: 0)) == .recorded)
        for _ in 0..<20 {
            try await store.revoke(
                Revocation(kind: .signingKey, value: "k", until: nil, revokedAt: Self.ahead, reason: ""))
        }
        store.stop()
        #expect(store.statistics.forgottenCount == 0)
        #expect(try count(.uses) == 1)
    }

    @Test func deletesWhenThatIsAllowedAgain() async throws {
        let store = try open()
        #expect(try await store.commit(Self.spend(1, at: 0)) == .recorded)
        time.now = SettledTime(end: 7200, deletion: nil)
        for _ in 0..<20 { try await store.append(SampleDecisions.entry(0, at: 7200)) }
        #expect(store.statistics.forgottenCount == 0)
        time.now = SettledTime(end: 7200, deletion: 7200)
        var rounds = 0
        while store.statistics.forgottenCount < 3, rounds < 100_000 {
            rounds += 1
            try await store.append(SampleDecisions.entry(0, at: 7200))
        }
        #expect(store.statistics.forgottenCount == 3)
        store.stop()
    }

    // MARK: What the store keeps of the clock

    private static func record(_ settled: Int64, reference: Int64? = nil, acceptance: Int64 = 0) -> ClockRecord {
        ClockRecord(
            settled: settled, reference: reference ?? settled, standing: "trusted",
            acceptance: ClockAcceptance(number: acceptance, offset: 0))
    }

    @Test func keepsTheHighestSettledTimeOverARestart() async throws {
        var store = try open()
        #expect(try store.clockRecord() == nil, "a new store has no record")
        try await store.keep(Self.record(500))
        try await store.keep(Self.record(400))
        store.stop()
        store = try open()
        #expect(try store.clockRecord() == ClockRecord(settled: 500, reference: 400, standing: "trusted"))
        store.stop()
    }

    /// A command may have written entries before the daemon has started for the first time.
    @Test func knowsTheTimeOfItsNewestEntry() async throws {
        let store = try open()
        try await store.append(SampleDecisions.entry(1, at: 300))
        try await store.append(SampleDecisions.entry(2, at: 700))
        #expect(try store.clockRecord() == ClockRecord(settled: 700, reference: 700, standing: ""))
        store.stop()
    }

    @Test func anAcceptanceIsARowAndIsNotUndone() async throws {
        let store = try open()
        try await store.keep(Self.record(500))
        try await store.acceptClock(
            offset: 77, LedgerEntry(kind: .clockAccepted, at: 100, license: SampleDecisions.license(9)))
        let accepted = try #require(try store.clockRecord())
        #expect(accepted.settled == 500 && accepted.reference == 100)
        #expect(accepted.acceptance == ClockAcceptance(number: 1, offset: 77))
        try await store.keep(Self.record(501, reference: 501))
        #expect(try store.clockRecord()?.reference == 100, "the daemon has not read the acceptance yet")
        try await store.keep(Self.record(502, reference: 101, acceptance: 1))
        #expect(try store.clockRecord()?.reference == 101)
        #expect(try store.clockRecord()?.settled == 502)
        store.stop()
        #expect(try SampleLedger.verify(folder.database).count == 1)
    }
}
