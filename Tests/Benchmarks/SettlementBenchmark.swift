import ContentKeys
import EventLoops
import Foundation
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
        let ring = try Self.ring()
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
                    let outcome = try await store.settle(Self.decision(base + number, viewer: base + number))
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

    /// Prints the figures of one run as a line of JSON, so that settlements.py can run two builds in turn.
    ///
    /// Without `count`, they are the settlements per second of 64 clients, for 20,000 subjects, for one, and for one on
    /// two nodes in turn, and the round trip of a statement that does nothing. With `count`, so many decisions of 1,000
    /// subjects are settled, for the statistics of the tables.
    func measure(count: Int?) throws {
        guard let database = BenchmarkDatabase.find(for: "settlements", schema: "bench_settlements") else { return }
        let ring = try Self.ring()
        let nodes = try (0..<2).map { _ in try PostgreSQLStore.open(database.settings { _ in }, keyRing: ring) }
        defer { for node in nodes { node.close() } }
        let group = try EventLoopGroup(count: 1)
        defer { group.stop(within: .seconds(5)) }
        let load = ConcurrentLoad(group.loops[0], inFlight: 64)
        let base = UInt64.random(in: 0..<1 << 54)
        func settled(for duration: Duration, subjects: UInt64, nodeCount: Int = 1) -> Int {
            load.latencies(for: duration) { number in
                let outcome = try await nodes[Int(number) % nodeCount].settle(
                    Self.decision(base + number, viewer: base + number % subjects))
                guard outcome == .recorded else { throw BenchmarkError("\(outcome)") }
            }.count
        }
        if let count {
            var number = 0
            while number < count { number += settled(for: .seconds(1), subjects: 1000) }
            return print(#"{"decisions":\#(number)}"#)
        }
        _ = settled(for: .seconds(1), subjects: 20_000)
        let seconds = plan.isShort ? 1 : 5
        let rates = [(20_000, 1), (1, 1), (1, 2)].map { subjects, nodeCount in
            Double(settled(for: .seconds(seconds), subjects: subjects, nodeCount: nodeCount)) / Double(seconds)
        }
        let bare = try database.bare(connections: 1, ["SELECT $1::bytea"])
        let statements = try bare.rate(for: .seconds(1), inFlight: 1, statementCount: 1, rowsExpected: 1) { [7] }
        let roundTrip = formatted(1000 / statements, decimals: 3)
        print(
            #"{"roundTrip":\#(roundTrip),"manySubjects":\#(formatted(rates[0])),"oneSubject":\#(formatted(rates[1])),"#
                + #""twoNodes":\#(formatted(rates[2]))}"#)
    }

    private static func ring() throws -> KeyRing {
        let key = try AES256GCMKey(SecretBytes.random(count: 32))
        return KeyRing(KeySealing(keyEncryptionKey: key, version: 1))
    }

    /// A new request of one of the viewer's four devices.
    private static func decision(_ number: UInt64, viewer: UInt64) -> LicenseDecision {
        let now = Int64(Date().timeIntervalSince1970)
        var replay = SampleDecisions.replay(
            number, keptUntil: now + 86_400, answer: [UInt8](repeating: 7, count: 64))
        replay.request = SampleDecisions.spread(.request, number)
        var use = SampleDecisions.use(viewer, limit: .max, keptUntil: now + 86_400)
        use.token = SampleDecisions.spread(.token, viewer)
        let device = UInt64.random(in: 0..<4)
        var place = SampleDecisions.place(owner: viewer, device: device, limit: 4, keptUntil: now + 30 * 86_400)
        place.owner = SampleDecisions.spread(.owner, viewer)
        var slot = SampleDecisions.slot(
            group: viewer, limit: 4, device: device, session: device, heldUntil: now + 300)
        slot.group = SampleDecisions.spread(.group, viewer)
        return LicenseDecision(
            now: now, replay: replay, tokenUse: use, devicePlaces: [place], slotClaims: [slot],
            entry: SampleDecisions.entry(number))
    }
}
