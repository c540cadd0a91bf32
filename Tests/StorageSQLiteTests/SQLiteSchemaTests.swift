import ContentKeys
import TestSupport
import Testing

@testable import StorageSQLite

@Suite struct SQLiteSchemaTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try DatabaseFile.prepare(folder.database)
    }

    func connect() throws -> SQLiteConnection {
        try SQLiteConnection.open(path: folder.database, busyTimeoutMilliseconds: 1000)
    }

    func migrate(_ steps: [SQLiteSchema.Migration] = SQLiteSchema.migrations) throws {
        var connection = try connect()
        try connection.migrate(steps, path: folder.database)
    }

    private static let newest = Int64(SQLiteSchema.migrations.count)

    /// Returns a step that this program does not know.
    private static func further(_ script: SQL, oldestProgram: Int64 = 1) -> SQLiteSchema.Migration {
        SQLiteSchema.Migration(number: newest + 1, oldestProgram: oldestProgram, script: script)
    }

    func integer(_ sql: SQL) throws -> Int64 {
        var connection = try connect()
        return try connection.readInteger(sql)
    }

    @Test func changesNothingTheSecondTime() throws {
        try migrate()
        let version = try integer("PRAGMA schema_version")
        try migrate()
        #expect(try integer("PRAGMA schema_version") == version)
        #expect(try integer("SELECT count(*) FROM schema_version") == Int64(SQLiteSchema.migrations.count))
        #expect(try integer("PRAGMA application_id") == SQLiteSchema.applicationID)
    }

    @Test func runsOnlyTheStepsThatAreMissing() throws {
        try migrate()
        let more =
            SQLiteSchema.migrations + [
                Self.further("CREATE TABLE extra (x INTEGER) STRICT;")
            ]
        try migrate(more)
        try migrate(more)
        #expect(try integer("SELECT count(*) FROM extra") == 0)
        #expect(try integer("SELECT max(number) FROM schema_version") == Self.newest + 1)
    }

    @Test func worksWithANewerSchemaThatAllowsIt() async throws {
        try migrate(
            SQLiteSchema.migrations + [Self.further("CREATE TABLE extra (x)")])
        let store = try SQLiteKeyStore.open(
            path: folder.database, keyRing: SampleKeys.keyRing(), maximumReaders: 1)
        #expect(try await store.insert(SampleKeys.record(1)) == .stored)
    }

    @Test func refusesANewerSchemaThatDoesNot() throws {
        try migrate(
            SQLiteSchema.migrations + [Self.further("CREATE TABLE extra (x)", oldestProgram: Self.newest + 1)])
        #expect(throws: StorageOpeningError.schemaTooNew(found: Self.newest + 1, supported: Self.newest)) {
            try migrate()
        }
    }

    @Test func leavesNothingOfAStepThatFails() throws {
        let broken =
            SQLiteSchema.migrations + [
                Self.further("CREATE TABLE extra (x); CREATE TABLE content_key (x)")
            ]
        #expect(throws: StorageOpeningError.self) { try migrate(broken) }
        #expect(try integer("SELECT count(*) FROM sqlite_schema") == 0)
        #expect(try integer("PRAGMA application_id") == 0)
        try migrate()
        #expect(try integer("SELECT count(*) FROM content_key") == 0)
    }

    @Test func refusesADatabaseOfAnotherProgramAndLeavesItAlone() throws {
        var connection = try connect()
        try connection.execute("CREATE TABLE theirs (x)")
        #expect(throws: StorageOpeningError.foreignDatabase(path: folder.database)) { try migrate() }
        try connection.execute("DROP TABLE theirs; PRAGMA application_id = 7")
        #expect(throws: StorageOpeningError.foreignDatabase(path: folder.database)) { try migrate() }
        #expect(Files.mode(folder.database + "-wal") == nil)
    }

    /// The tables of a version before the first release are not changed, and are not taken for those of this one.
    @Test func refusesADatabaseOfAnEarlierProgramAndLeavesItAlone() throws {
        var connection = try connect()
        try connection.execute(
            """
            PRAGMA application_id = 1280590664;
            CREATE TABLE schema_migration (number INTEGER NOT NULL PRIMARY KEY, oldest_program INTEGER NOT NULL) STRICT;
            INSERT INTO schema_migration (number, oldest_program) VALUES (14, 1)
            """)
        let refusal = StorageOpeningError.retiredSchema(path: folder.database)
        #expect(throws: refusal) { try migrate() }
        #expect(throws: refusal) { try StoreSummary.read(path: folder.database) }
        #expect(throws: refusal) { try DatabaseCopy.make(of: folder.database, at: folder.database + "-copy") }
        #expect(try integer("SELECT count(*) FROM sqlite_schema") == 1)
        #expect(Files.mode(folder.database + "-wal") == nil)
    }

    /// All statements are prepared when a store opens, also those that only some requests need.
    @Test func aStoreThatLacksATableIsNotOpened() throws {
        let chain = try SampleLedger.chain()
        try SQLiteDecisionStore.open(path: folder.database, chain: chain).stop()
        var connection = try connect()
        try connection.execute("DROP TABLE cell")
        #expect(throws: StorageOpeningError.store(.unavailable(.other(code: 1)))) {
            try SQLiteDecisionStore.open(path: folder.database, chain: chain)
        }
    }

    @Test func refusesAFileThatIsNoDatabase() throws {
        try #require(Files.write([UInt8](repeating: 0x61, count: 4096), to: folder.database))
        #expect(throws: StorageOpeningError.store(.unavailable(.damaged))) {
            try SQLiteKeyStore.open(
                path: folder.database, keyRing: SampleKeys.keyRing(), maximumReaders: 1)
        }
    }

    @Test func usesAnIndexForEveryLookUp() throws {
        try migrate()
        var connection = try connect()
        let plans: [SQL] = [
            "EXPLAIN QUERY PLAN SELECT sealed FROM content_key WHERE kid = ?1",
            "EXPLAIN QUERY PLAN SELECT sealed FROM asset_alias JOIN content_key USING (kid) WHERE alias = ?1",
            "EXPLAIN QUERY PLAN SELECT sealed FROM content_key WHERE content_id = ?1 AND state = 'live' LIMIT 2",
            "EXPLAIN QUERY PLAN SELECT kid FROM content_key WHERE (content_id, kid) > (?1, ?2) ORDER BY content_id, kid",
            "EXPLAIN QUERY PLAN SELECT kid FROM content_key WHERE content_id = ?1 AND kid > ?2 ORDER BY kid",
        ]
        for plan in plans {
            var statement = try connection.prepare(plan)
            var stepCount = 0
            while try statement.step() {
                stepCount += 1
                #expect(try statement.text(at: 3).hasPrefix("SEARCH"))
            }
            #expect(stepCount > 0)
        }
    }
}
