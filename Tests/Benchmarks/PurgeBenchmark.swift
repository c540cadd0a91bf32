import ByteCoding
import EventLoops
import KeyCrypto
import Records
import StorageSQLite
import Telemetry
import TestSupport

/// Measures how long a decision takes to commit while a month of the ledger is indexed and purged, relative to the time
/// without that.
struct PurgeBenchmark {
    private static let goal = 1.5
    private let plan: BenchmarkPlan
    private let rowCount: Int
    private let chain: LedgerChain

    init(_ plan: BenchmarkPlan) throws {
        self.plan = plan
        rowCount = plan.isShort ? 300_000 : 2_000_000
        chain = LedgerChain(
            key: try HMACSHA256Key(SecretBytes(copying: [UInt8](repeating: 7, count: 32))), node: try NodeID("bench"))
    }

    private static let month: Int64 = 30 * 86_400

    func run() throws {
        let folder = try TemporaryDirectory()
        let path: String = folder.path("latchkey.db")
        let group = try EventLoopGroup(count: 1)
        defer { group.stop(within: .seconds(5)) }
        let loop = group.loops[0]
        let store = try SQLiteDecisionStore.open(path: path, chain: chain, loops: [loop])
        defer { store.stop() }
        try fill(store, loop, path)

        // One client stays well below the disk's maximum, because the benchmark measures waiting, not throughput.
        let load = ConcurrentLoad(loop, inFlight: 1)
        func measure(_ duration: Duration) -> [Double] {
            load.latencies(for: duration) { number in
                _ = try await store.commit(Self.decision(number, now: Self.month))
            }
        }
        _ = measure(.seconds(1))
        var (before, during, purged) = ([Double](), [Double](), 0)
        // Rounds alternate, because the machine's speed varies.
        for _ in 0..<max(plan.rounds, 3) {
            before += measure(.seconds(plan.secondsPerRound))
            let purge = try BackgroundPurge(path: path, chain: chain, now: Self.time(Self.month))
            during += measure(.seconds(plan.secondsPerRound))
            purged += try purge.stop()
        }
        let p99 = (before: Self.percentile(before, 0.99), during: Self.percentile(during, 0.99))
        let p50 = (before: Self.percentile(before, 0.5), during: Self.percentile(during, 0.5))
        print(
            """
            purge: \(purged) of \(rowCount) rows of a month; commit p99 \(formatted(p99.before * 1000, decimals: 2)) ms before, \
            \(formatted(p99.during * 1000, decimals: 2)) ms meanwhile, \(formatted(p99.during / p99.before, decimals: 2)) times \
            (goal at most \(Self.goal)); median \(formatted(p50.before * 1000, decimals: 2)) and \
            \(formatted(p50.during * 1000, decimals: 2)) ms
            """)
    }

    /// Writes a month of rows and their index.
    private func fill(_ store: SQLiteDecisionStore, _ loop: LoopContext, _ path: String) throws {
        let start = ContinuousClock.now
        let step = Self.month / Int64(rowCount) + 1
        // This number in flight gives batches as large as those of a busy node.
        let writing = ConcurrentLoad(loop, inFlight: 64)
        while store.statistics.rowCount < rowCount {
            _ = writing.rate(for: .milliseconds(500)) { number in
                var entry = SampleDecisions.entry(number)
                entry.at = min(Int64(number) * step, Self.month - 1)
                try await store.append(entry)
            }
        }
        var maintenance = try LedgerMaintenance.open(path: path, chain: chain, retention: .max / 2)
        while try maintenance.pass(now: Self.time(0)).isUnfinished {}
        let seconds = start.duration(to: .now) / .seconds(1)
        print("purge: \(store.statistics.rowCount) rows written and indexed in \(formatted(seconds, decimals: 1)) s")
    }

    static func time(_ seconds: Int64) -> UnixTime {
        guard let time = UnixTime(seconds: seconds) else { preconditionFailure("a time of this century") }
        return time
    }

    private static func percentile(_ values: [Double], _ share: Double) -> Double {
        let sorted = values.sorted()
        return sorted[min(Int(Double(sorted.count) * share), sorted.count - 1)]
    }

    private static func decision(_ number: UInt64, now: Int64) -> LicenseDecision {
        var entry = SampleDecisions.entry(number)
        entry.at = now
        return LicenseDecision(
            now: now,
            replay: SampleDecisions.replay(number, keptUntil: now + 3600, answer: [UInt8](repeating: 7, count: 64)),
            tokenUse: SampleDecisions.use(number, limit: 3, keptUntil: now + 3600),
            slotClaims: [SampleDecisions.slot(group: number, device: number, session: number, heldUntil: now + 3600)],
            entry: entry)
    }
}

/// A thread that purges everything older than the month in slices, with a rest after each, as the daemon's keeper does.
private final class BackgroundPurge: Sendable {
    private struct State {
        var isStopped = false
        var purgedCount = 0
        var failure: (any Error)?
    }

    private let state: Monitor<State>
    private let thread: JoinableThread

    init(path: String, chain: LedgerChain, now: UnixTime) throws {
        let state = Monitor(State())
        self.state = state
        thread = JoinableThread(
            try NativeThread(name: "purge") {
                do {
                    var maintenance = try LedgerMaintenance.open(path: path, chain: chain, retention: 0)
                    while state.update({ !$0.isStopped }) {
                        let start = SystemMonotonicClock().monotonicTime
                        let pass = try maintenance.pass(now: now)
                        state.update { $0.purgedCount += pass.purgedCount }
                        if !pass.isUnfinished { return }
                        let end = SystemMonotonicClock().monotonicTime
                        _ = state.wait(until: end + (end - start) * LedgerMaintenance.restFactor) {
                            $0.isStopped ? true : nil
                        }
                    }
                } catch {
                    state.update { $0.failure = error }
                }
            })
    }

    /// Ends the thread, and returns the number of purged rows.
    func stop() throws -> Int {
        state.update { $0.isStopped = true }
        thread.join()
        let (count, failure) = state.update { ($0.purgedCount, $0.failure) }
        if let failure { throw failure }
        return count
    }
}
