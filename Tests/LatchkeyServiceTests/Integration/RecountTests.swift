import ContentKeys
import DatabaseSupport
import Entitlements
import Foundation
import KeyCrypto
import Records
import Telemetry
import TestSupport
import Testing

@testable import Licensing
@testable import StoragePostgreSQL
@testable import StorageSQLite

/// Counts that PostgreSQL lacks are restored from the node's own ledger.
@Suite(.needsPostgreSQL) struct RecountTests {
    private let folder: TemporaryDirectory
    private let settings: PostgreSQLSettings
    private let shared: PostgreSQLStore
    private let ledger: SQLiteDecisionStore
    private let mark = NodeMark()
    private let node: NodeID

    init() throws {
        let server = try #require(DatabaseServer.current)
        let schema = "test_" + UUID().uuidString.lowercased().replacing("-", with: "_")
        var limits = PostgreSQLLimits()
        limits.call = .seconds(60)
        settings = PostgreSQLSettings(
            url: try PostgreSQLURL(parsing: "\(server.url)&schema=\(schema)"), password: try server.password(),
            limits: limits)
        folder = try TemporaryDirectory()
        shared = try PostgreSQLStore.open(settings, keyRing: SampleKeys.keyRing())
        node = try NodeID("node-1")
        let key = try HMACSHA256Key(SecretBytes(copying: [UInt8](repeating: 7, count: 32)))
        ledger = try SQLiteDecisionStore.open(
            path: folder.path("ledger.db"), chain: LedgerChain(key: key, node: node))
    }

    private func end() throws {
        ledger.stop()
        shared.close()
        try execute("DROP SCHEMA \(settings.url.schema) CASCADE")
    }

    private func execute(_ script: String) throws {
        let deadline = SystemMonotonicClock().monotonicTime + .seconds(60)
        try PostgreSQLConnection.connect(settings).execute(script, until: deadline)
    }

    private func integer(_ sql: String) throws -> Int64 {
        let deadline = SystemMonotonicClock().monotonicTime + .seconds(60)
        return try PostgreSQLConnection.connect(settings).query(sql, until: deadline)[0].integer(at: 0)
    }

    // Cells begin with a byte for their version. The next one of a request (kind 1) tells whether it is recorded, and
    // that of uses (kind 2) is their number.

    private var uses: Int64 {
        get throws { try integer("SELECT coalesce(sum(get_byte(value, 1)), 0)::int8 FROM cell WHERE kind = 2") }
    }

    private func decision(_ number: UInt64, limit: UInt32 = 100) -> LicenseDecision {
        // The database uses its own clock to decide whether a request is repeated soon enough.
        let now = SystemWallClock().wallTime.seconds
        var decision = LicenseDecision(
            now: now, replay: SampleDecisions.replay(number, answer: [UInt8](repeating: 3, count: 18)),
            tokenUse: SampleDecisions.use(1, limit: limit), entry: SampleDecisions.entry(number))
        decision.replay?.keptUntil = now + 600
        decision.replay?.answer = RecordedAnswer(license: decision.entry.license).bytes
        return decision
    }

    private func store(_ shared: any RecountedStore) -> SharedDecisionStore {
        SharedDecisionStore(
            shared: shared, ledger: ledger, onStoreOutage: .admit,
            limits: AdmissionLimits(perToken: 50, perSubject: 50), mark: mark)
    }

    private func recount() -> Recount { Recount(node: node, ledger: ledger, shared: shared, mark: mark) }

    @Test func countsWhatWasAdmittedOnce() async throws {
        let away = store(AbsentStore())
        for number in 1...5 as ClosedRange<UInt64> { #expect(try await away.commit(decision(number)) == .recorded) }
        #expect(away.counts.admitted == 5)
        #expect(try uses == 0)
        let report = try await recount().pass()
        #expect(report.counted == 5 && report.refused == 0)
        #expect(try uses == 5)
        // A second pass, and a pass after a restart of the node, change nothing.
        #expect(try await recount().pass() == Recount.Report())
        #expect(try uses == 5)
        // A repetition of an admitted request gets its license.
        let answer = try #require(decision(3).replay?.answer)
        #expect(try await store(shared).commit(decision(3)) == .repeated(answer: answer, isRecorded: true))
        try end()
    }

    /// The token is then spent, although more licenses were given than it allows.
    @Test func countsAdmittedUsesUpToTheLimit() async throws {
        // Another node has given the first use, which this node does not know in the outage.
        #expect(try await shared.settle(decision(1, limit: 3)) == .recorded)
        let away = store(AbsentStore())
        for number in 2...4 as ClosedRange<UInt64> { _ = try await away.commit(decision(number, limit: 3)) }
        let report = try await recount().pass()
        #expect(report.counted == 2 && report.refused == 1)
        #expect(try uses == 3)
        #expect(try await store(shared).commit(decision(9, limit: 3)) == .denied(.tokenUsed(limit: 3)))
        try end()
    }

    /// A database that has taken over from another one lacks the last commits.
    @Test func restoresWhatTheDatabaseHasLost() async throws {
        let store = store(shared)
        let recount = recount()
        _ = try await recount.pass()
        for number in 1...3 as ClosedRange<UInt64> { _ = try await store.commit(decision(number)) }
        _ = try await recount.pass()
        let kept = try integer("SELECT number FROM node_mark")
        for number in 4...9 as ClosedRange<UInt64> {
            _ = try await store.commit(decision(number))
            _ = try await recount.pass()
        }
        // Resets the database to its state after the third decision.
        try execute(
            """
            UPDATE node_mark SET number = \(kept); UPDATE cell SET value = set_byte(value, 1, 3) WHERE kind = 2;
            DELETE FROM cell WHERE kind = 1 AND get_byte(key, 31) > 3
            """)
        #expect(try uses == 3)
        let report = try await recount.pass()
        #expect(report.restored == 6)
        #expect(try uses == 9)
        #expect(try integer("SELECT count(*) FROM cell WHERE kind = 1") == 9)
        #expect(try await recount.pass() == Recount.Report())
        #expect(try uses == 9)
        try end()
    }

    /// The node may be restarted between the loss and its next pass.
    @Test func restoresAfterARestart() async throws {
        let store = store(shared)
        _ = try await recount().pass()
        for number in 1...4 as ClosedRange<UInt64> { _ = try await store.commit(decision(number)) }
        _ = try await recount().pass()
        _ = try await store.commit(decision(5))
        try execute("DELETE FROM node_mark; DELETE FROM cell")
        let restarted = Recount(node: node, ledger: ledger, shared: shared, mark: NodeMark())
        #expect(try await restarted.pass().restored == 5)
        #expect(try uses == 5)
        try end()
    }

    /// Another node has recorded the request meanwhile, so its use stays spent.
    @Test func givesBackNothingThatAnotherNodeHasRecorded() async throws {
        let decision = decision(1, limit: 1)
        #expect(try await shared.settle(decision) == .recorded)
        try execute("UPDATE cell SET value = set_byte(value, 1, 1) WHERE kind = 1")
        #expect(try await !shared.giveBack(decision))
        #expect(try uses == 1)
        try execute("UPDATE cell SET value = set_byte(value, 1, 0) WHERE kind = 1")
        #expect(try await shared.giveBack(decision))
        #expect(try uses == 0)
        try end()
    }
}

/// A database that does not answer.
private struct AbsentStore: RecountedStore {
    let newestConnection = 0
    let isReconnecting = false

    func settle(
        _ decision: LicenseDecision, on connections: ClosedRange<Int>?
    ) async throws(StoreError) -> DecisionOutcome {
        throw .unavailable(.unreachable)
    }

    func noteRecorded(_ request: Pseudonym) {}

    func settle(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome {
        throw .unavailable(.unreachable)
    }

    func giveBack(_ decision: LicenseDecision) async throws(StoreError) -> Bool { throw .unavailable(.unreachable) }

    func replaceMark(
        of node: NodeID, with mark: Int64, expected: Int64, on connections: ClosedRange<Int>?
    ) async throws(StoreError) -> Int64 {
        throw .unavailable(.unreachable)
    }
}
