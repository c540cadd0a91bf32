import ByteCoding
import ContentKeys
import DatabaseSupport
import Records
import StoreConformance
import TestSupport
import Testing

@testable import StoragePostgreSQL

@Suite(.needsPostgreSQL, .tags(.slow)) struct PostgreSQLStoreTests {
    let database: TestDatabase

    init() throws {
        database = try TestDatabase()
    }

    /// Limits the number of parallel tests to the server's connections.
    private static let gate = Gate(places: 8)

    /// One node, or two nodes that share the database.
    static let nodeCounts = [1, 2]

    func withNodes(_ count: Int, _ body: ([PostgreSQLStore]) async throws -> Void) async throws {
        try await Self.gate.pass {
            var nodes: [PostgreSQLStore] = []
            defer { for node in nodes { node.close() } }
            for _ in 0..<count { nodes.append(try database.open()) }
            try await body(nodes)
        }
    }

    @Test(arguments: LivePeriodConformance.Case.allCases)
    func keepsLivePeriods(by rule: LivePeriodConformance.Case) async throws {
        try await withNodes(1) { nodes async throws in
            try await LivePeriodConformance.run(rule) { nodes[0] }
        }
    }

    @Test(arguments: ContentKeyStoreConformance.Case.allCases)
    func keepsKeys(by rule: ContentKeyStoreConformance.Case) async throws {
        try await withNodes(1) { nodes async throws in
            try await ContentKeyStoreConformance.run(rule) { nodes[0] }
        }
    }

    @Test(arguments: KeyMaintenanceConformance.Case.allCases)
    func maintainsKeys(by rule: KeyMaintenanceConformance.Case) async throws {
        try await Self.gate.pass {
            var opened: [PostgreSQLStore] = []
            defer { for store in opened { store.close() } }
            func open(_ ring: KeyRing) throws -> PostgreSQLStore {
                let store = try PostgreSQLStore.open(database.settings { $0.writers = 1 }, keyRing: ring)
                opened.append(store)
                return store
            }
            try await withoutActuallyEscaping(open) { open in
                try await KeyMaintenanceConformance.run(
                    rule,
                    on: KeyMaintenanceConformance.Database(
                        store: { try open($0) }, maintenance: { try open($0) },
                        alter: { try alter($0, of: $1) }))
            }
        }
    }

    private func clocked(_ nodes: [PostgreSQLStore]) -> [ClockedNode] {
        nodes.map { ClockedNode(store: $0, database: database) }
    }

    @Test(arguments: KeyProviderConformance.Case.allCases)
    func providesKeys(by rule: KeyProviderConformance.Case) async throws {
        try await Self.gate.pass {
            var opened: [PostgreSQLStore] = []
            defer { for store in opened { store.close() } }
            func open() throws -> PostgreSQLStore {
                let store = try database.open()
                opened.append(store)
                return store
            }
            try await withoutActuallyEscaping(open) { open in
                try await KeyProviderConformance.run(
                    rule,
                    on: KeyProviderConformance.Database(
                        open: open, withdraw: { try await open().set(.withdrawn, of: $0) },
                        breakSeal: { keyID in
                            let altered = try database.connect().query(
                                """
                                UPDATE content_key SET sealed = decode(repeat('00', 60), 'hex')
                                WHERE kid = $1 RETURNING 1::int8
                                """, [.bytes(keyID.bytes)], until: TestDatabase.deadline)
                            #expect(altered.rowCount == 1)
                        }))
            }
        }
    }

    private func alter(_ alteration: KeyMaintenanceConformance.Alteration, of keyID: [UInt8]) throws {
        let (column, value): (String, PostgreSQLValue) =
            switch alteration {
            case .sealed(let bytes): ("sealed", .bytes(bytes))
            case .contentID(let text): ("content_id", .text(text))
            case .periodIndex(let index): ("period_index", .integer(index))
            case .scheme(let text): ("scheme", .text(text))
            case .keyID(let bytes): ("kid", .bytes(bytes))
            }
        let altered = try database.connect().query(
            "UPDATE content_key SET \(column) = $2 WHERE kid = $1 RETURNING 1::int8", [.bytes(keyID), value],
            until: TestDatabase.deadline)
        #expect(altered.rowCount == 1)
    }

    @Test(arguments: DecisionConformance.Case.allCases, nodeCounts)
    func decides(by rule: DecisionConformance.Case, nodeCount: Int) async throws {
        try await withNodes(nodeCount) { nodes async throws in
            try await DecisionConformance.run(rule, on: clocked(nodes))
        }
    }

    @Test(arguments: RevocationConformance.Case.allCases, nodeCounts)
    func revokes(by rule: RevocationConformance.Case, nodeCount: Int) async throws {
        try await withNodes(nodeCount) { try await RevocationConformance.run(rule, on: $0) }
    }

    @Test(arguments: AccountConformance.Case.allCases, nodeCounts)
    func managesAccounts(by rule: AccountConformance.Case, nodeCount: Int) async throws {
        try await withNodes(nodeCount) { try await AccountConformance.run(rule, on: $0) }
    }

    @Test(arguments: ChallengeConformance.Case.allCases, nodeCounts)
    func challenges(by rule: ChallengeConformance.Case, nodeCount: Int) async throws {
        try await withNodes(nodeCount) { try await ChallengeConformance.run(rule, on: clocked($0)) }
    }

    @Test(arguments: SlotReleaseConformance.Case.allCases, nodeCounts)
    func releasesSlots(by rule: SlotReleaseConformance.Case, nodeCount: Int) async throws {
        try await withNodes(nodeCount) { try await SlotReleaseConformance.run(rule, on: clocked($0)) }
    }

    @Test func keepsCellsAsTheRulesSay() async throws {
        try await withNodes(2) {
            try await AccountDifferential.run(count: TestLength.inputs(short: 2_000, long: 20_000), on: $0)
        }
    }

    @Test func keepsTheOrdersOfTwoPackagersApart() async throws {
        try await withNodes(2) { nodes async throws in
            try await PackagerOrders.run(
                count: TestLength.inputs(short: 100, long: 5_000), open: { nodes[0] },
                set: { try await nodes[1].set($0, of: $1) })
        }
    }

    @Test func showsANodeWhatAnotherStored() async throws {
        try await withNodes(2) { nodes async throws in
            let record = try SampleKeys.record(1, content: "mine")
            #expect(try await nodes[0].insert(record) == .stored)
            #expect(try await nodes[1].record(for: SampleKeys.reference("mine")) == record)
            #expect(try await nodes[1].insert(record) == .alreadyPresent)
        }
    }

    @Test func keepsEverythingAcrossReopening() async throws {
        let record = try SampleKeys.record(1, period: 4, leastHDCP: .type0, leastSecurityLevel: .baseline)
        for round in 0..<3 {
            try await withNodes(1) { nodes async throws in
                #expect(try await nodes[0].insert(record) == (round == 0 ? .stored : .alreadyPresent))
                #expect(try await nodes[0].record(for: SampleKeys.reference("movie")) == record)
            }
        }
    }

    /// Two nodes add the same alias for different keys at the same time. One key gets it, and every other call names
    /// this key.
    @Test func givesAnAliasToOneOfManyThatAskAtOnce() async throws {
        try await withNodes(2) { nodes async throws in
            let records = try (1...20).map { try SampleKeys.record($0, content: "c\($0)") }
            for record in records { _ = try await nodes[0].insert(record) }
            let alias = try AssetID(bytes: Array("shared".utf8))
            let stored = await withTaskGroup(of: Bool.self) { group in
                for (index, record) in records.enumerated() {
                    group.addTask { (try? await nodes[index % 2].addAlias(alias, to: record.keyID)) == .stored }
                }
                return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            #expect(stored == 1)
            let holder = try #require(try await nodes[1].record(for: AssetReference(alias)))
            await #expect(throws: StoreError.aliasTaken(by: holder.keyID)) {
                try await nodes[0].addAlias(
                    alias, to: try #require(records.first { $0.keyID != holder.keyID }).keyID)
            }
        }
    }

    @Test func forgetsOnlyWhatHasEnded() async throws {
        try await withNodes(1) { nodes async throws in
            let decision = LicenseDecision(
                now: 0, replay: SampleDecisions.replay(1), tokenUse: SampleDecisions.use(limit: 1),
                devicePlaces: [SampleDecisions.place(device: 1, limit: 1)],
                slotClaims: [SampleDecisions.slot(group: 1, limit: 1, device: 1, session: 1, content: 1)],
                entry: SampleDecisions.entry(1))
            #expect(try await nodes[0].settle(decision) == .recorded)
            #expect(try await nodes[0].forgetEnded() == 0)
            #expect(try await nodes[0].settle(decision) != .recorded)
            try database.setTime(.max)
            // The device's place never ends.
            #expect(try await nodes[0].forgetEnded() == 3)
            #expect(try await nodes[0].forgetEnded() == 0)
            try database.setTime(0)
            #expect(try await nodes[0].settle(decision) == .recorded)
        }
    }
}

/// A node's store that sets the database's clock to the time of each call. A real database has its own clock, which no
/// caller changes.
struct ClockedNode: SharedStateStore, ChallengeStore, PlaybackSlotStore {
    let store: PostgreSQLStore
    let database: TestDatabase

    private func set(_ time: Int64) {
        do { try database.setTime(time) } catch { Issue.record("the database's time was not set: \(error)") }
    }

    func settle(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome {
        set(decision.now)
        return try await store.settle(decision)
    }

    func noteRecorded(_ request: Pseudonym) { store.noteRecorded(request) }

    func release(_ claims: [SlotClaim], at now: Int64) async throws(StoreError) {
        set(now)
        try await store.release(claims, at: now)
    }

    func open(
        _ challenge: UInt64, for holder: Pseudonym, now: Int64, expiresAt: Int64, limit: Int
    ) async throws(StoreError) -> Bool {
        set(now)
        return try await store.open(challenge, for: holder, now: now, expiresAt: expiresAt, limit: limit)
    }

    func take(_ challenge: UInt64, from holder: Pseudonym, now: Int64) async throws(StoreError) -> Bool {
        set(now)
        return try await store.take(challenge, from: holder, now: now)
    }
}

/// Lets a limited number of tests run at the same time; the others wait for their turn.
actor Gate {
    private var places: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(places: Int) {
        self.places = places
    }

    nonisolated func pass<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        await enter()
        do {
            let result = try await body()
            await leave()
            return result
        } catch {
            await leave()
            throw error
        }
    }

    private func enter() async {
        if places > 0 {
            places -= 1
        } else {
            await withCheckedContinuation { waiting.append($0) }
        }
    }

    private func leave() {
        if waiting.isEmpty { places += 1 } else { waiting.removeFirst().resume() }
    }
}
