import ContentKeys
import EventLoops
import KeyCrypto
import Records
import StoragePostgreSQL
import TestSupport

/// Measures the decisions per second that PostgreSQL settles, alone and in shared transactions. The reference is the
/// commits per second of bare libpq on the same number of connections.
struct SettlementBenchmark {
    private static let goal = 0.7
    private let plan: BenchmarkPlan

    init(_ plan: BenchmarkPlan) {
        self.plan = plan
    }

    func run() async throws {
        guard let database = BenchmarkDatabase.find(for: "decisions", schema: "bench_decisions") else { return }
        let key = try AES256GCMKey(SecretBytes.random(count: 32))
        let ring = KeyRing(KeySealing(keyEncryptionKey: key, version: 1))
        let grouped = try PostgreSQLStore.open(database.settings { _ in }, keyRing: ring)
        defer { grouped.close() }
        let alone = try PostgreSQLStore.open(database.settings { $0.groupSize = 1 }, keyRing: ring)
        defer { alone.close() }
        let bare = try database.bare(
            connections: PostgreSQLLimits().writers,
            setUp: ["CREATE TABLE IF NOT EXISTS probe (id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY, body bytea)"],
            ["INSERT INTO probe (body) VALUES ($1) RETURNING id"])
        let group = try EventLoopGroup(count: 1)
        defer { group.stop(within: .seconds(5)) }
        for inFlight in [64, 512] {
            let load = ConcurrentLoad(group.loops[0], inFlight: inFlight)
            var rates: (grouped: [Double], alone: [Double], bare: [Double]) = ([], [], [])
            // Each store uses other numbers, because a decision can be settled only once.
            func settled(_ store: PostgreSQLStore, _ base: UInt64) -> Double {
                load.rate(for: .seconds(plan.secondsPerRound)) { number in
                    let outcome = try await store.settle(Self.decision(base + number))
                    guard outcome == .recorded else { throw BenchmarkError("\(outcome)") }
                }
            }
            for _ in 0..<plan.rounds {
                rates.bare.append(
                    try bare.rate(
                        for: .seconds(plan.secondsPerRound), inFlight: inFlight, statementCount: 1, rowsExpected: 1
                    ) {
                        [UInt8](repeating: 7, count: 100)
                    })
                rates.alone.append(settled(alone, UInt64(inFlight) << 32))
                rates.grouped.append(settled(grouped, UInt64(inFlight) << 32 + 1 << 48))
            }
            func ratio(_ rates: [Double], to others: [Double]) -> String {
                formatted(zip(rates, others).map { $0 / $1 }.median, decimals: 2)
            }
            print(
                """
                settlements, PostgreSQL, \(inFlight) at once: \(formatted(rates.grouped.median))/s in shared transactions, \
                \(formatted(rates.alone.median))/s alone (\(ratio(rates.grouped, to: rates.alone)) times); bare libpq commits \
                \(formatted(rates.bare.median)) rows/s: \(ratio(rates.grouped, to: rates.bare)) of it (goal \(Self.goal))
                """)
        }
    }

    /// Decisions for different viewers, so that no two wait for the same lock.
    private static func decision(_ number: UInt64) -> LicenseDecision {
        var replay = SampleDecisions.replay(number, answer: [UInt8](repeating: 7, count: 64))
        replay.request = SampleDecisions.spread(.request, number)
        var use = SampleDecisions.use(number, limit: 3)
        use.token = SampleDecisions.spread(.token, number)
        var slot = SampleDecisions.slot(group: number, device: number, session: number)
        slot.group = SampleDecisions.spread(.group, number)
        return LicenseDecision(
            now: 0, replay: replay, tokenUse: use, slotClaims: [slot], entry: SampleDecisions.entry(number))
    }
}
