import ContentKeys
import DatabaseSupport
import EventLoops
import TestSupport
import Testing

@testable import StoragePostgreSQL

@Suite(.needsPostgreSQL, .serialized) struct PostgreSQLSchemaTests {
    let database: TestDatabase

    init() throws {
        database = try TestDatabase()
    }

    func migrate(_ steps: [PostgreSQLSchema.Migration] = PostgreSQLSchema.migrations) throws {
        try PostgreSQLSchemaConnection(database.connect(), schema: database.schema, until: TestDatabase.deadline)
            .migrate(steps)
    }

    private static let newest = Int64(PostgreSQLSchema.migrations.count)

    /// Returns a step that this program does not know.
    private static func further(_ script: String, oldestProgram: Int64 = 1) -> PostgreSQLSchema.Migration {
        PostgreSQLSchema.Migration(number: newest + 1, oldestProgram: oldestProgram, script: script)
    }

    @Test func changesNothingTheSecondTime() throws {
        try migrate()
        let tables = "SELECT sum(oid::int8)::int8 FROM pg_class WHERE relnamespace = '\(database.schema)'::regnamespace"
        let before = try database.integer(tables)
        try migrate()
        #expect(try database.integer(tables) == before)
        #expect(try database.integer("SELECT count(*) FROM schema_version") == Self.newest)
    }

    @Test func runsOnlyTheStepsThatAreMissing() throws {
        try migrate()
        let more = PostgreSQLSchema.migrations + [Self.further("CREATE TABLE extra (x int8)")]
        try migrate(more)
        try migrate(more)
        #expect(try database.integer("SELECT count(*) FROM extra") == 0)
        #expect(try database.integer("SELECT max(number) FROM schema_version") == Self.newest + 1)
    }

    @Test func worksWithANewerSchemaThatAllowsIt() async throws {
        try migrate(PostgreSQLSchema.migrations + [Self.further("ALTER TABLE content_key ADD COLUMN extra text")])
        try await database.withStore { store async throws in
            #expect(try await store.list(of: nil, after: nil, limit: 1) == [])
        }
    }

    @Test func refusesANewerSchemaThatDoesNot() throws {
        try migrate(
            PostgreSQLSchema.migrations + [Self.further("CREATE TABLE extra (x int8)", oldestProgram: Self.newest + 1)])
        #expect(throws: PostgreSQLOpeningError.schemaTooNew(found: Self.newest + 1, supported: Self.newest)) {
            try migrate()
        }
        #expect(throws: PostgreSQLOpeningError.schemaTooNew(found: Self.newest + 1, supported: Self.newest)) {
            try database.open().close()
        }
    }

    @Test func leavesNothingOfAStepThatFails() throws {
        let step = Self.further("CREATE TABLE extra (x int8); CREATE TABLE cell (x int8)")
        #expect(throws: PostgreSQLOpeningError.failed(.refused(SQLState("42P07")))) {
            try migrate(PostgreSQLSchema.migrations + [step])
        }
        #expect(
            try database.integer("SELECT count(*) FROM pg_namespace WHERE nspname = '\(database.schema)'") == 0)
        try migrate()
        #expect(try database.integer("SELECT count(*) FROM content_key") == 0)
    }

    @Test func refusesTablesOfAnotherProgramAndLeavesThemAlone() throws {
        try database.execute("CREATE SCHEMA \(database.schema); CREATE TABLE \(database.schema).theirs (x int8)")
        #expect(throws: PostgreSQLOpeningError.foreignSchema(database.schema)) { try migrate() }
        let tables = "SELECT count(*) FROM pg_class WHERE relnamespace = '\(database.schema)'::regnamespace"
        #expect(try database.integer(tables) == 1)
    }

    /// A program before the first release kept its steps in another table.
    @Test func refusesASchemaOfBeforeTheFirstReleaseAndLeavesItAlone() throws {
        let schema = database.schema
        try database.execute(
            """
            CREATE SCHEMA \(schema); CREATE TABLE \(schema).replay (request bytea PRIMARY KEY);
            CREATE TABLE \(schema).schema_migration (number int8 PRIMARY KEY, oldest_program int8 NOT NULL);
            INSERT INTO \(schema).schema_migration VALUES (14, 1)
            """)
        #expect(throws: PostgreSQLOpeningError.retiredSchema(schema)) { try migrate() }
        #expect(throws: PostgreSQLOpeningError.retiredSchema(schema)) { try database.open().close() }
        let tables = "SELECT count(*) FROM pg_class WHERE relnamespace = '\(schema)'::regnamespace AND relkind = 'r'"
        #expect(try database.integer(tables) == 2)
    }

    @Test func usesASchemaThatAnAdministratorHasMade() throws {
        try database.execute("CREATE SCHEMA \(database.schema)")
        try migrate()
        #expect(try database.integer("SELECT count(*) FROM content_key") == 0)
    }

    @Test func isDoneOnceByManyNodesThatStartTogether() async throws {
        try await withThrowingTaskGroup { group in
            for _ in 0..<6 { group.addTask { try database.open().close() } }
            try await group.waitForAll()
        }
        #expect(try database.integer("SELECT count(*) FROM schema_version") == Self.newest)
        #expect(try database.integer("SELECT count(*) FROM key_encryption_key") == 1)
    }

    @Test func refusesAnotherKeyEncryptionKey() throws {
        try database.open().close()
        #expect(throws: PostgreSQLOpeningError.keyEncryptionKeyDiffers) {
            try PostgreSQLStore.open(
                database.settings(), keyRing: SampleKeys.keyRing(0x43))
        }
        try database.open().close()
    }

    /// Every look-up uses an index, even for small tables: the test turns sequential scans off.
    @Test(
        arguments: [
            "SELECT sealed FROM content_key WHERE kid = ''",
            "SELECT sealed FROM asset_alias JOIN content_key USING (kid) WHERE alias = ''",
            "SELECT sealed FROM content_key WHERE content_id = '' AND state = 'live' LIMIT 2",
            "SELECT kid FROM content_key WHERE (content_id, kid) > ('', '') ORDER BY content_id, kid LIMIT 3",
            "SELECT * FROM cell WHERE kind = 1 AND key = ''", "SELECT * FROM cell WHERE ends_on < 7",
            "SELECT * FROM cell WHERE owner = '' AND kind = 4 ORDER BY key",
            "SELECT max(last) FROM ledger_batch WHERE node = ''",
        ])
    func usesAnIndexForEveryLookUp(sql: String) throws {
        try migrate()
        let connection = try database.connect()
        try connection.execute("SET enable_seqscan = off", until: TestDatabase.deadline)
        let plan = try connection.query("EXPLAIN \(sql)", until: TestDatabase.deadline)
        #expect(plan.rowCount > 0)
        for row in 0..<plan.rowCount { #expect(try !plan[row].text(at: 0).contains("Seq Scan")) }
    }
}
