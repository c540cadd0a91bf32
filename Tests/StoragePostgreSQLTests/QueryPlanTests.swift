import ContentKeys
import DatabaseSupport
import Records
import TestSupport
import Testing

@testable import StoragePostgreSQL

/// No statement of a request may read a whole table. Otherwise its cost would grow with everything that was ever
/// stored.
@Suite(.needsPostgreSQL, .tags(.slow)) struct PostgreSQLQueryPlanTests {
    private let database: TestDatabase
    private let connection: PostgreSQLConnection

    init() throws {
        database = try TestDatabase()
        try database.open().close()
        connection = try database.connect()
        // The server reads a small table as a whole. If this is forbidden, it does so only if there is no other way.
        try connection.execute(
            "SET enable_seqscan = off; SET plan_cache_mode = force_generic_plan", until: TestDatabase.deadline)
    }

    /// Statements that run in no request, and whose purpose is to read a whole table.
    private static let scanning: Set<PreparedStatement> = [
        .countKeys, .forgetKeyEncryptionKeys, .sharedLedgerNodes,
    ]

    /// Statements that have no plan.
    private static let planless: Set<PreparedStatement> = [.begin, .commit, .rollBack]

    @Test(arguments: Set(PreparedStatement.allCases).subtracting(planless).sorted { $0.rawValue < $1.rawValue })
    func scansNothing(statement: PreparedStatement) throws {
        try connection.execute(
            "PREPARE \"\(statement.rawValue)\" AS \(statement.sql)", until: TestDatabase.deadline)
        let count = try connection.query(
            "SELECT cardinality(parameter_types)::int8 FROM pg_prepared_statements WHERE name = $1",
            [.text(statement.rawValue)], until: TestDatabase.deadline
        )[0].integer(at: 0)
        let nulls = [String](repeating: "NULL", count: Int(count)).joined(separator: ", ")
        let values = count > 0 ? "(\(nulls))" : ""
        let result = try connection.query(
            "EXPLAIN (COSTS OFF) EXECUTE \"\(statement.rawValue)\"\(values)", until: TestDatabase.deadline)
        let plan = try result.rows { row throws(StoreError) in try row.text(at: 0) }
        let tables = plan.count { $0.contains("Seq Scan") }
        let indexes = plan.count { $0.contains("Index Scan") || $0.contains("Index Only Scan") }
        let conditions = plan.count { $0.contains("Index Cond:") }
        #expect(!plan.isEmpty)
        if Self.scanning.contains(statement) {
            #expect(tables > 0 || indexes > conditions, "remove it from the list of scanning statements")
        } else {
            #expect(tables == 0 && indexes == conditions, "\(plan.joined(separator: "\n"))")
        }
    }

    /// A plan does not show the statements inside a function. The server counts how often it has read each whole table.
    /// The tables of the settled time and of the tests' time have one row each.
    @Test func functionsScanNothing() throws {
        try expectNoScan(
            .revoke, [.text("jti"), .text(""), .text("t1"), .null, .integer(1), .text("")])
        let key = try StoredContentKey(
            sealing: SampleKeys.record(1, track: Track(.hd)), with: SampleKeys.keyRing().current)
        for byTrack in [true, false] { try expectNoScan(.storeKeys, NewKeys([key], byTrack: [byTrack]).values) }
        try expectNoScan(.liftRevocation, [.text("jti"), .text(""), .text("t1")])
    }

    private func expectNoScan(_ statement: PreparedStatement, _ values: [PostgreSQLValue]) throws {
        try connection.execute("BEGIN", until: TestDatabase.deadline)
        _ = try connection.query(statement.sql, values, until: TestDatabase.deadline)
        let scanned = try connection.query(
            """
            SELECT coalesce(string_agg(relname::text, ' '), '') FROM pg_stat_xact_user_tables
            WHERE seq_scan > 0 AND schemaname = $1 AND relname NOT IN ('settled_time', 'test_time')
            """, [.text(database.schema)], until: TestDatabase.deadline)
        #expect(try scanned[0].text(at: 0) == "", "\(statement)")
        try connection.execute("COMMIT", until: TestDatabase.deadline)
    }
}
