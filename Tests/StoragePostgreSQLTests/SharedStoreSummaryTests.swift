import ContentKeys
import DatabaseSupport
import Records
import TestSupport
import Testing

@testable import StoragePostgreSQL

@Suite(.needsPostgreSQL, .serialized) struct SharedStoreSummaryTests {
    let database: TestDatabase

    init() throws {
        database = try TestDatabase()
    }

    @Test func tellsWhatIsStoredAndChangesNothing() async throws {
        let empty = try SharedStoreSummary.read(database.settings())
        #expect((empty.schema, empty.keyCount, empty.nodes) == (0, 0, []))
        try await database.withStore { store async throws in
            _ = try await store.insert(SampleKeys.record(1))
            try await store.register(try NodeID("a-node"), label: "edge-1", nil)
            _ = try await store.advanceSettledTime(to: 1_700_000_000)
        }
        let summary = try SharedStoreSummary.read(database.settings())
        #expect(summary.schema == SharedStoreSummary.knownSchema)
        #expect((summary.oldestProgram, summary.keyCount) == (1, 1))
        #expect(summary.size > 0)
        #expect(summary.server >= 130_000)
        #expect(summary.nodes == [SharedStoreSummary.Node(node: "a-node", label: "edge-1", last: 0)])
        #expect(try database.integer("SELECT count(*) FROM schema_version") == summary.schema)
    }

    @Test func refusesTablesOfAnotherProgram() throws {
        try database.execute("CREATE SCHEMA \(database.schema)")
        try database.execute("CREATE TABLE \(database.schema).strange (x int8)")
        #expect(throws: PostgreSQLOpeningError.foreignSchema(database.schema)) {
            try SharedStoreSummary.read(database.settings())
        }
    }
}
