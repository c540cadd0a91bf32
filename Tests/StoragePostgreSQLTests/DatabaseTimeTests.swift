import ByteCoding
import ContentKeys
import DatabaseSupport
import Records
import Synchronization
import Telemetry
import TestSupport
import Testing

@testable import StoragePostgreSQL

/// Tests that the database ends records by its own clock and its settled time, even if a node's clock is wrong or the
/// database's clock is stepped.
@Suite(.needsPostgreSQL) struct DatabaseTimeTests {
    let database: TestDatabase

    private static let day: Int64 = 86_400

    init() throws {
        database = try TestDatabase()
    }

    private static func spend(_ number: UInt64, at now: Int64, keptUntil end: Int64 = 1000) -> LicenseDecision {
        LicenseDecision(
            now: now, replay: SampleDecisions.replay(number, keptUntil: end),
            tokenUse: SampleDecisions.use(limit: 1, keptUntil: end),
            devicePlaces: [SampleDecisions.place(device: number, limit: 1, keptUntil: end)],
            entry: SampleDecisions.entry(number))
    }

    /// Fault: if one node's clock was ahead, device places were freed and spent tokens became usable again for all
    /// nodes.
    @Test(arguments: [600, day, 500 * day])
    func aNodeAheadEndsNothing(ahead: Int64) async throws {
        try await database.withStore { store async throws in
            #expect(try await store.settle(Self.spend(1, at: 0)) == .recorded)
            #expect(try await store.settle(Self.spend(1, at: ahead)) != .recorded, "the request")
            #expect(try await store.settle(Self.spend(2, at: ahead)) == .denied(.tokenUsed(limit: 1)))
            var other = Self.spend(3, at: ahead)
            other.tokenUse = nil
            #expect(try await store.settle(other) == .denied(.deviceLimit(limit: 1)))
            #expect(try await store.forgetEnded() == 0)
        }
    }

    /// The database's own clock is stepped, and no node with a trusted clock has advanced the settled time after it.
    @Test(arguments: [600, day, 500 * day])
    func aDatabaseAheadEndsNothing(ahead: Int64) async throws {
        try await database.withStore { store async throws in
            #expect(try await store.settle(Self.spend(1, at: 0)) == .recorded)
            try database.setClock(ahead, settled: 100)
            #expect(try await store.settle(Self.spend(2, at: 0)) == .denied(.tokenUsed(limit: 1)))
            #expect(try await store.forgetEnded() == 0)
            try database.setClock(100, settled: 100)
            #expect(try await store.settle(Self.spend(2, at: 0)) == .denied(.tokenUsed(limit: 1)))
        }
    }

    @Test func whatHasEndedBySettledTimeIsForgotten() async throws {
        try await database.withStore { store async throws in
            #expect(try await store.settle(Self.spend(1, at: 0)) == .recorded)
            // Cells are deleted by whole hours.
            try database.setClock(3599, settled: 3599)
            #expect(try await store.forgetEnded() == 0)
            try database.setClock(3600, settled: 3600)
            #expect(try await store.forgetEnded() == 3)
            #expect(try await store.settle(Self.spend(1, at: 0)) == .recorded)
        }
    }

    /// The clock sets the ends of records. If the clock went back, the larger settled time ends no record that was made
    /// after that.
    @Test func aDatabaseBehindItsSettledTimeEndsNothingEarly() async throws {
        try await database.withStore { store async throws in
            try database.setClock(100, settled: 5000)
            #expect(try await store.settle(Self.spend(1, at: 100)) == .recorded)
            #expect(try await store.settle(Self.spend(2, at: 100)) == .denied(.tokenUsed(limit: 1)))
        }
    }

    @Test func revocationsHoldUntilTheSettledTime() async throws {
        try await database.withStore { store async throws in
            let revocation = Revocation(kind: .signingKey, value: "k", until: 1000, revokedAt: 0, reason: "")
            try await store.revoke(revocation)
            try database.setClock(60 * Self.day, settled: 100)
            #expect(try await store.forgetEnded() == 0)
            #expect(try await store.newestRevocations(limit: 10) == [revocation])
            try database.setClock(1000, settled: 1000)
            #expect(try await store.forgetEnded() == 1)
            #expect(try await store.newestRevocations(limit: 10) == [])
        }
    }

    // MARK: The settled time

    @Test func nodesAdvanceTheSettledTimeUpToTheClockAndNeverBack() async throws {
        try await database.withStore { store async throws in
            try database.setClock(1000, settled: 10)
            let settled = "SELECT at FROM settled_time"
            for (given, expected) in [(Int64?.none, Int64(10)), (500, 500), (400, 500), (7000, 1000), (nil, 1000)] {
                _ = try await store.advanceSettledTime(to: given)
                #expect(try database.integer(settled) == expected)
            }
        }
    }

    @Test func tellsItsTimeOnEveryConnectionBeforeItIsUsed() async throws {
        let readings = Mutex<[DatabaseTimeReading]>([])
        let store = try PostgreSQLStore.open(database.settings(), keyRing: SampleKeys.keyRing()) { reading in
            readings.withLock { $0.append(reading) }
        }
        defer { store.close() }
        let first = try #require(readings.withLock { $0.first })
        #expect(first.asked <= first.answered)
        let ownTime = ClockReading(wall: SystemWallClock().wallTime, boot: SystemBootClock().monotonicTime)
        let offset = (first.time - first.answered.nanoseconds) - ownTime.offset
        #expect(abs(offset) < 3600 * 1_000_000_000, "the same machine's clock in the same unit")
    }
}
