import ByteCoding
import EventLoops
import KeyCrypto
import Records
import StorageSQLite
import TestSupport

/// Measures decisions per second through the SQLite writer, with and without the ledger, and the rate and size of
/// ledger rows.
///
/// The callers are tasks on one loop, as in the daemon. Each waits for its commit before the next call.
struct DecisionBenchmark {
    private static let goal = 0.8
    private static let rowsGoal = 50_000.0
    private let plan: BenchmarkPlan

    init(_ plan: BenchmarkPlan) {
        self.plan = plan
    }

    func run() async throws {
        let group = try EventLoopGroup(count: 1)
        defer { group.stop(within: .seconds(5)) }
        for inFlight in [64, 1024] {
            try await compareLedger(group.loops[0], inFlight: inFlight)
            try await measureRows(group.loops[0], inFlight: inFlight)
        }
    }

    /// Compares decisions that spend a token's use and a slot and that can be repeated. Rounds alternate, because the
    /// machine's speed varies.
    private func compareLedger(_ loop: LoopContext, inFlight: Int) async throws {
        var rates: (with: [Double], without: [Double]) = ([], [])
        let bench = try DecisionBench(loop, inFlight: inFlight)
        for _ in 0..<plan.rounds {
            let store = bench.store
            rates.with.append(
                bench.rate(for: .seconds(plan.secondsPerRound)) { number in
                    _ = try await store.commit(Self.decision(number))
                })
            rates.without.append(
                bench.rate(for: .seconds(plan.secondsPerRound)) { number in
                    _ = try await store.settle(Self.decision(number))
                })
        }
        let statistics = bench.store.statistics
        print(
            """
            decisions, \(inFlight) at once: \(formatted(rates.with.median)) with the ledger, \
            \(formatted(rates.without.median)) without, \
            \(formatted(zip(rates.with, rates.without).map { $0 / $1 }.median, decimals: 3)) of it (goal \(Self.goal)), \
            \(describe(statistics))
            """)
        bench.stop()
    }

    private func measureRows(_ loop: LoopContext, inFlight: Int) async throws {
        let bench = try DecisionBench(loop, inFlight: inFlight)
        let store = bench.store
        var rates: [Double] = []
        for _ in 0..<plan.rounds {
            rates.append(
                bench.rate(for: .seconds(plan.secondsPerRound)) { number in
                    try await store.append(Self.entry(number))
                })
        }
        let statistics = store.statistics
        let rowCount = statistics.rowCount
        bench.stop()
        print(
            """
            ledger, \(inFlight) at once: \(formatted(rates.median)) rows/s (goal \(Int(Self.rowsGoal))), best \
            \(formatted(rates.max() ?? 0)), \(describe(statistics)); \(bench.databaseSize / max(1, rowCount)) bytes of file a row
            """)
    }

    private func describe(_ statistics: WriterStatistics) -> String {
        let batchCount = max(1, statistics.batchCount)
        let milliseconds = statistics.batchTime / .milliseconds(1) / Double(batchCount)
        return "\(statistics.requestCount / batchCount) in a commit of \(formatted(milliseconds, decimals: 2)) ms"
    }

    private static func decision(_ number: UInt64) -> LicenseDecision {
        LicenseDecision(
            now: 0, replay: SampleDecisions.replay(number, answer: [UInt8](repeating: 7, count: 64)),
            tokenUse: SampleDecisions.use(number, limit: 3),
            slotClaims: [SampleDecisions.slot(group: number, device: number, session: number)], entry: entry(number))
    }

    private static func entry(_ number: UInt64) -> LedgerEntry {
        var entry = SampleDecisions.entry(number)
        entry.tokenID = "0f8fad5b-d9cb-469f-a165-70867728950e"
        return entry
    }
}

/// A store, and the tasks that call it.
private final class DecisionBench: Sendable {
    let store: SQLiteDecisionStore
    private let folder: TemporaryDirectory
    private let load: ConcurrentLoad

    init(_ loop: LoopContext, inFlight: Int) throws {
        folder = try TemporaryDirectory()
        load = ConcurrentLoad(loop, inFlight: inFlight)
        let key = try HMACSHA256Key(SecretBytes(copying: [UInt8](repeating: 7, count: 32)))
        store = try SQLiteDecisionStore.open(
            path: folder.path("latchkey.db"), chain: LedgerChain(key: key, node: NodeID("bench")), loops: [loop])
    }

    /// The calls per second.
    func rate(for duration: Duration, _ body: @escaping @Sendable (UInt64) async throws -> Void) -> Double {
        load.rate(for: duration, body)
    }

    func stop() {
        store.stop()
    }

    var databaseSize: Int { (try? folder.size("latchkey.db")) ?? 0 }
}
