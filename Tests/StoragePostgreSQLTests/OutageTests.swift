import ContentKeys
import DatabaseSupport
import EventLoops
import Records
import Synchronization
import TestSupport
import Testing

@testable import StoragePostgreSQL

@Suite(.tags(.startsProcesses), .needsPostgreSQL, .serialized) struct OutageTests {
    private static func use(_ number: UInt64, token: UInt64 = 1) -> LicenseDecision {
        LicenseDecision(
            now: 0, replay: SampleDecisions.replay(number, answer: Array("answer \(number)".utf8)),
            tokenUse: SampleDecisions.use(token, limit: .max), entry: SampleDecisions.entry(number))
    }

    /// There is no server on port 1.
    private func settingsOfNoServer() throws -> PostgreSQLSettings {
        PostgreSQLSettings(url: try PostgreSQLURL(parsing: "postgresql://u@127.0.0.1:1/d"), password: nil)
    }

    @Test func saysThatNobodyAnswers() throws {
        let error = try #require(throws: PostgreSQLOpeningError.self) {
            try PostgreSQLStore.open(settingsOfNoServer(), keyRing: SampleKeys.keyRing())
        }
        guard case .failed(.notConnected) = error else { return #expect(Bool(false), "\(error)") }
        #expect(error.mayPass)
    }

    @Test func startsWithoutTheDatabaseWhereThatIsAllowed() async throws {
        let store = try PostgreSQLStore.open(
            settingsOfNoServer(), keyRing: SampleKeys.keyRing(), mayBeAway: true)
        defer { store.close() }
        for number in 0..<50 as Range<UInt64> {
            await #expect(throws: StoreError.unavailable(.unreachable)) {
                try await store.settle(Self.use(number))
            }
        }
        await #expect(throws: StoreError.unavailable(.unreachable)) {
            try await store.record(for: SampleKeys.reference("movie"))
        }
        #expect(!store.health.isReachable)
    }

    @Test func answersWhatIsAskedAfterItHasClosed() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        store.close()
        await #expect(throws: StoreError.unavailable(.unreachable)) { try await store.settle(Self.use(1)) }
    }

    /// Holds the cells of a decision in another session.
    private func holdLock(of decision: LicenseDecision, in database: TestDatabase) throws -> PostgreSQLConnection {
        let holder = try database.connect()
        let cells = CellParameters([.settle(decision)])
        try holder.execute("BEGIN", until: TestDatabase.deadline)
        _ = try holder.query(PreparedStatement.lockCells.sql, cells.forLocking, until: TestDatabase.deadline)
        return holder
    }

    @Test func waitsForALockNoLongerThanIsSet() async throws {
        let database = try TestDatabase()
        let store = try database.open { $0.lock = .milliseconds(50) }
        defer { store.close() }
        let holder = try holdLock(of: Self.use(1), in: database)
        await #expect(throws: StoreError.unavailable(.busy)) { try await store.settle(Self.use(1)) }
        try holder.execute("ROLLBACK", until: TestDatabase.deadline)
        #expect(try await store.settle(Self.use(1)) == .recorded)
    }

    /// If one decision of a shared transaction fails, the others are still decided, each of them once.
    @Test func onlyTheOneFailsThatWaitsForALock() async throws {
        let database = try TestDatabase()
        let store = try database.open {
            $0.lock = .milliseconds(200)
            $0.writers = 1
        }
        defer { store.close() }
        // Each decision has its own lock.
        func use(_ number: UInt64) -> LicenseDecision {
            var decision = Self.use(number)
            decision.replay?.request = SampleDecisions.spread(.request, number)
            decision.tokenUse?.token = SampleDecisions.spread(.token, number)
            return decision
        }
        let holder = try holdLock(of: use(1), in: database)
        let outcomes = await withTaskGroup(of: (UInt64, DecisionOutcome?).self) { group in
            for number in 1...40 as ClosedRange<UInt64> {
                let decision = use(number)
                group.addTask { (number, try? await store.settle(decision)) }
            }
            return await group.reduce(into: [UInt64: DecisionOutcome?]()) { $0[$1.0] = $1.1 }
        }
        #expect(outcomes[1] == .some(nil))
        for number in 2...40 as ClosedRange<UInt64> { #expect(outcomes[number] == .recorded) }
        #expect(try database.integer("SELECT count(*) FROM cell") == 2 * 39)
        try holder.execute("ROLLBACK", until: TestDatabase.deadline)
        #expect(try await store.settle(use(1)) == .recorded)
    }

    /// Calls without an answer end at their deadline. This is load and not an outage, because the server answers other
    /// calls.
    @Test func givesUpAtTheDeadlineAndGoesOnAfterwards() async throws {
        let database = try TestDatabase()
        let store = try database.open {
            $0.call = .milliseconds(300)
            $0.writers = 1
        }
        defer { store.close() }
        let holder = try holdLock(of: Self.use(1), in: database)
        await withTaskGroup { group in
            for number in 1...20 as ClosedRange<UInt64> {
                group.addTask {
                    await #expect(throws: StoreError.unavailable(.busy)) { try await store.settle(Self.use(number)) }
                }
            }
        }
        #expect(store.health.isReachable)
        try holder.execute("ROLLBACK", until: TestDatabase.deadline)
        var last: DecisionOutcome?
        for _ in 0..<200 where last == nil { last = try? await store.settle(Self.use(99)) }
        // A call that reached its deadline may have been decided nevertheless.
        #expect(last == .recorded || last == .repeated(answer: Array("answer 99".utf8)))
    }

    /// A server that accepts connections and does not answer is an outage, with and without requests, until it
    /// continues.
    @Test(.tags(.slow)) func takesASilentServerForAnOutage() async throws {
        let own = try OwnServer()
        defer { own.stop() }
        let database = try TestDatabase(on: own.server)
        let store = try database.open {
            $0.silence = .milliseconds(500)
            $0.probeEvery = .milliseconds(100)
            $0.connect = .seconds(2)
        }
        defer { store.close() }
        #expect(try await store.settle(Self.use(1)) == .recorded)
        try own.pause()
        #expect(await comes(to: false, store))
        #expect(store.health.isSilent)
        for number in 2..<50 as Range<UInt64> {
            await #expect(throws: StoreError.unavailable(.unreachable)) { try await store.settle(Self.use(number)) }
        }
        try own.goOn()
        #expect(await comes(to: true, store))
        let answer = await untilItWorks { try await store.settle(Self.use(99)) }
        #expect(answer == .recorded)
    }

    /// The server stops while the connection for signs of life is being made. Another connection then asks for signs of
    /// life.
    @Test(.tags(.slow)) func takesASilentServerForAnOutageWhileItConnects() async throws {
        let own = try OwnServer()
        defer { own.stop() }
        let database = try TestDatabase(on: own.server)
        let store = try database.open {
            $0.silence = .milliseconds(500)
            $0.probeEvery = .milliseconds(100)
            $0.connect = .seconds(300)
        }
        defer { store.close() }
        // The first connection exists when `open` returns. The others are still being made.
        try own.pause()
        #expect(await comes(to: false, store))
        #expect(store.health.isSilent)
        try own.goOn()
        #expect(await comes(to: true, store))
    }

    /// Calls that wait when the server falls silent are answered then, and not at their own deadlines.
    @Test(.tags(.slow)) func answersWhatWaitsForASilentServer() async throws {
        let own = try OwnServer()
        defer { own.stop() }
        let database = try TestDatabase(on: own.server)
        let store = try database.open {
            $0.silence = .milliseconds(500)
            $0.call = .seconds(300)
            $0.writers = 1
        }
        defer { store.close() }
        try own.pause()
        await withTaskGroup { group in
            for number in 1...100 as ClosedRange<UInt64> {
                group.addTask {
                    await #expect(throws: StoreError.unavailable(.unreachable)) {
                        try await store.settle(Self.use(number))
                    }
                }
            }
        }
        try own.goOn()
    }

    /// If the store reports that the server answers, each call gets an answer on any connection. No call fails because
    /// some connections still pause between their attempts.
    @Test(.tags(.slow)) func answersEachCallOnceTheServerIsBack() async throws {
        let own = try OwnServer()
        defer { own.stop() }
        let database = try TestDatabase(on: own.server)
        let store = try database.open {
            $0.writers = 8
            $0.reconnectAfter = .milliseconds(1)
        }
        defer { store.close() }
        for round in 0..<5 as Range<UInt64> {
            // A connection that is still being made could be finished after the crash, and lead to the server that is
            // gone.
            #expect(await comes(on: store) { $0.connected == $0.expected })
            let arrivals = store.health.arrivals
            try own.crash()
            #expect(await comes(on: store) { $0.arrivals > arrivals })
            try await withThrowingTaskGroup { group in
                for number in round * 16..<(round + 1) * 16 {
                    group.addTask {
                        let outcome = try await store.settle(Self.use(number, token: number))
                        #expect(outcome == .recorded)
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    private func comes(to isReachable: Bool, _ store: PostgreSQLStore) async -> Bool {
        await comes(on: store) { $0.isReachable == isReachable }
    }

    private func comes(on store: PostgreSQLStore, _ isWanted: (PostgreSQLHealth) -> Bool) async -> Bool {
        for _ in 0..<3000 where !isWanted(store.health) {
            // The pause only limits the polling rate; the result does not depend on it.
            try? await Task.sleep(for: .milliseconds(10))
        }
        return isWanted(store.health)
    }

    // MARK: Mistakes in the configuration

    private func openingError(_ change: (String) -> String) throws -> PostgreSQLOpeningError {
        let database = try TestDatabase()
        var settings = try database.settings()
        settings.url = try PostgreSQLURL(parsing: change("\(database.server.url)&schema=\(database.schema)"))
        return try #require(throws: PostgreSQLOpeningError.self) {
            try PostgreSQLStore.open(settings, keyRing: SampleKeys.keyRing(), mayBeAway: true).close()
        }
    }

    /// The server answers, so waiting would not help. The start fails and names the cause.
    @Test(arguments: [
        ("/latchkey?", "/no_such_database?", "3D000"), ("//latchkey@", "//no_such_role@", "28P01"),
    ])
    func namesAMissingDatabaseOrRole(old: String, new: String, state: String) throws {
        let error = try openingError { $0.replacing(old, with: new) }
        guard case .failed(.connectionRefused(let found, _)) = error else { return #expect(Bool(false), "\(error)") }
        #expect(found == SQLState(state) && !error.mayPass)
        #expect(error.explanation.contains(state) && error.failure.storeError == .unavailable(.misconfigured))
    }

    @Test func namesARoleWithoutRights() throws {
        let database = try TestDatabase()
        try database.execute(
            "CREATE SCHEMA \(database.schema); REVOKE CREATE ON SCHEMA \(database.schema) FROM latchkey")
        let error = try #require(throws: PostgreSQLOpeningError.self) {
            try PostgreSQLStore.open(database.settings(), keyRing: SampleKeys.keyRing(), mayBeAway: true).close()
        }
        #expect(error == .failed(.refused(SQLState("42501"))) && !error.mayPass)
    }

    @Test(arguments: ["42P05", "26000", "42501", "3D000", "28000"])
    func takesAMistakeForNoOutage(state: String) {
        #expect(PostgreSQLFailure.refused(SQLState(state)).storeError == .unavailable(.misconfigured))
        #expect(!PostgreSQLOpeningError.failed(.refused(SQLState(state))).mayPass)
    }

    @Test(arguments: [
        ("FATAL:  3D000: database \"x\" does not exist", "3D000"),
        ("connection to server at \"127.0.0.1\", port 5432 failed: FATAL:  28P01: password", "28P01"),
        ("ВАЖНО:  57P03: the database system is starting up", "57P03"),
        ("could not translate host name: Name or service not known", nil), ("port 50000: ABCDE", nil),
    ])
    func readsTheCodeInLibpqsText(text: String, state: String?) {
        #expect(SQLState(inVerboseMessage: text)?.description == state)
    }

    // MARK: What was spent

    @Test func givesAUseBackOnce() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        defer { store.close() }
        func use(_ number: UInt64) -> LicenseDecision {
            var decision = Self.use(number)
            decision.tokenUse?.limit = 1
            return decision
        }
        #expect(try await store.settle(use(1)) == .recorded)
        #expect(try await store.settle(use(2)) == .denied(.tokenUsed(limit: 1)))
        #expect(try await store.giveBack(use(1)))
        #expect(try await !store.giveBack(use(1)))
        #expect(try await store.settle(use(2)) == .recorded)
        // Another answer to the same request is not taken back.
        var other = use(2)
        other.replay?.answer = [9]
        #expect(try await !store.giveBack(other))
        #expect(try await store.settle(use(3)) == .denied(.tokenUsed(limit: 1)))
    }

    @Test func replacesAMarkOnlyIfNothingWasLost() async throws {
        let database = try TestDatabase()
        let store = try database.open()
        defer { store.close() }
        let node = try NodeID("node-1")
        #expect(try await store.replaceMark(of: node, with: 1, expected: 0, on: nil) == 0)
        #expect(try await store.replaceMark(of: node, with: 5, expected: 1, on: nil) == 1)
        // The mark is smaller than expected: the database has lost decisions, so the mark stays.
        #expect(try await store.replaceMark(of: node, with: 7, expected: 6, on: nil) == 5)
        #expect(try await store.replaceMark(of: node, with: 5, expected: 5, on: nil) == 5)
        #expect(try await store.replaceMark(of: NodeID("node-2"), with: 1, expected: 0, on: nil) == 0)
    }

    /// The server is killed and restarted five times while eight callers decide. Every acknowledged decision is stored,
    /// and each of them once: a decision whose outcome is not known is made again, and is then recognised.
    @Test(.tags(.slow)) func losesNothingWhenTheServerIsKilledUnderLoad() async throws {
        let own = try OwnServer()
        defer { own.stop() }
        let database = try TestDatabase(on: own.server)
        let store = try database.open { $0.call = .seconds(10) }
        defer { store.close() }
        let (kills, decisions) = (5, 1200 as UInt64)

        let (acknowledgements, report) = AsyncStream.makeStream(of: Void.self)
        let tally = Tally()
        try await withThrowingTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    while true {
                        let number = tally.next.add(1, ordering: .relaxed).oldValue
                        guard number < decisions else { return }
                        let outcome = try await Self.settle(number, on: store, tally)
                        #expect(outcome == .recorded || outcome == Self.answer(number))
                        report.yield()
                    }
                }
            }
            var (count, killed) = (0 as UInt64, 0)
            for await _ in acknowledgements {
                count += 1
                if count.isMultiple(of: decisions / UInt64(kills + 1)), killed < kills {
                    killed += 1
                    try own.crash()
                }
                if count == decisions { break }
            }
            try await group.waitForAll()
            #expect(killed == kills)
        }

        // Every decision is stored with its answer, and its use was counted once. The last kill may happen only now, if
        // the callers were faster than the task that counts them.
        for number in 0..<decisions { #expect(try await Self.settle(number, on: store, tally) == Self.answer(number)) }
        #expect(try database.integer("SELECT count(*) FROM cell WHERE kind = 1") == Int64(decisions))
        for token in 0..<10 as Range<UInt64> {
            var next = Self.use(decisions + token, token: token)
            next.tokenUse?.limit = UInt32(decisions / 10) + 1
            #expect(try await store.settle(next) == .recorded)
            next.replay = nil
            #expect(try await store.settle(next) == .denied(.tokenUsed(limit: UInt32(decisions / 10) + 1)))
        }
        let lost = tally.lost.load(ordering: .relaxed)
        print("outage: \(lost) answers were lost in \(kills) kills, and asked for again")
        #expect(lost > 0)
    }

    private final class Tally: Sendable {
        let next = Atomic<UInt64>(0)
        let lost = Atomic<Int>(0)
    }

    /// Repeats the decision until there is an answer, as a player does.
    private static func settle(
        _ number: UInt64, on store: PostgreSQLStore, _ tally: Tally
    ) async throws(StoreError) -> DecisionOutcome {
        while true {
            do throws(StoreError) {
                return try await store.settle(use(number, token: number % 10))
            } catch .unavailable(.unreachable) {
                tally.lost.add(1, ordering: .relaxed)
                // The pause only limits the load while calls fail immediately; the result does not depend on it.
                try? await Task.sleep(for: .milliseconds(20))
            }
        }
    }

    private static func answer(_ number: UInt64) -> DecisionOutcome {
        .repeated(answer: Array("answer \(number)".utf8))
    }

    @Test(.tags(.slow)) func shipsALedgerWhileTheServerIsKilled() async throws {
        let own = try OwnServer()
        defer { own.stop() }
        let database = try TestDatabase(on: own.server)
        let store = try database.open { $0.call = .seconds(10) }
        defer { store.close() }
        let outbox = try OutboxInMemory(batchSizes: [Int](repeating: 300, count: 40))
        let shipper = LedgerShipper(node: outbox.node, outbox: outbox, receiver: store)
        for round in 0..<4 {
            async let shipped = shipper.shipAll()
            try own.crash()
            _ = try? await shipped
            _ = await untilItWorks { try await shipper.shipAll() }
            try outbox.append(50 + round)
        }
        _ = await untilItWorks { try await shipper.shipAll() }
        let rows = outbox.rows
        #expect(await untilItWorks { try await store.shippedThrough(outbox.node) } == Int64(rows.count))
        let count = await untilItWorks { try database.integer("SELECT count(*) FROM ledger_entry") }
        #expect(count == Int64(rows.count))
        let size = await untilItWorks { try database.integer("SELECT sum(length(body))::int8 FROM ledger_entry") }
        #expect(size == Int64(rows.reduce(0) { $0 + $1.body.count }))
    }

    /// Repeats `body` until the server is back. Its processes may run for a moment after its first process was killed.
    private func untilItWorks<Result: Sendable>(_ body: () async throws -> Result) async -> Result? {
        for _ in 0..<3000 {
            if let result = try? await body() { return result }
            // The pause only limits the polling rate; the result does not depend on it.
            try? await Task.sleep(for: .milliseconds(20))
        }
        return nil
    }
}
