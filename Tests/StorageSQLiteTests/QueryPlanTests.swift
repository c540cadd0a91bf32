import ByteCoding
private import CSQLite
import ContentKeys
import KeyCrypto
import Records
import TestSupport
import Testing

@testable import StorageSQLite

/// No statement of a request may read a whole table. Otherwise its cost would grow with everything that was ever
/// stored.
@Suite struct QueryPlanTests {
    private let fixture: LedgerFixture

    init() throws {
        fixture = try LedgerFixture()
    }

    /// Statements that run in no request, and whose purpose is to read a whole table.
    private static let scanning = ["SELECT count(*) FROM content_key", "DELETE FROM key_encryption_key"]

    /// The rows of a recursive statement itself, which are no table.
    private static let recursive: Set = ["SCAN content", "SCAN (subquery-1)"]

    private func connect() throws -> SQLiteConnection {
        try SQLiteConnection.open(path: fixture.path, busyTimeoutMilliseconds: 5000)
    }

    @Test func theWriterScansNothing() throws {
        let writer = try BatchWriter.prepare(on: connect(), fixture.chain, settledTime: { .undeleted })
        try check(writer.connection.preparedTexts, atLeast: 20)
    }

    /// A statement that used only the kind would read all cells of the kind.
    @Test func cellsAreFoundByAllColumnsOfAnIndex() throws {
        let writer = try BatchWriter.prepare(on: connect(), fixture.chain, settledTime: { .undeleted })
        let reader = try CellReader.prepare(on: connect())
        let texts = (writer.connection.preparedTexts + reader.connection.preparedTexts).filter {
            $0.contains("FROM cell ") || $0.hasPrefix("UPDATE cell ")
        }
        #expect(texts.count == 6)
        for text in texts {
            let plan = try Self.plan(of: text, in: fixture.path)
            let search = try #require(plan.first, "\(text)")
            #expect(
                search.hasSuffix("kind=? AND name=?)") || search.hasSuffix("kind=? AND name>?)"), "\(text): \(search)")
        }
    }

    @Test func readersOfKeysScanNothing() throws {
        _ = try SQLiteKeyStore.open(path: fixture.path, keyRing: SampleKeys.keyRing(), maximumReaders: 1)
        try check(KeyReader.prepare(on: connect()).connection.preparedTexts, atLeast: 6)
        try check(KeyWriter.prepare(on: connect()).connection.preparedTexts, atLeast: 4)
        let maintenance = try SQLiteKeyMaintenance.open(path: fixture.path, keyRing: SampleKeys.keyRing())
        try check(maintenance.connection.preparedTexts, atLeast: 8)
    }

    @Test func readersOfRevocationsScanNothing() throws {
        try check(RevocationReader.prepare(on: connect()).connection.preparedTexts, atLeast: 6)
    }

    @Test func readersOfTheLedgerScanNothing() throws {
        try check(LedgerReader.prepare(on: connect()).connection.preparedTexts, atLeast: 4)
        try check(LedgerAppender.open(path: fixture.path, chain: fixture.chain).connection.preparedTexts, atLeast: 2)
        let index = try LedgerIndex.open(for: fixture.path)
        try check(index.connection.preparedTexts, atLeast: 6, in: LedgerIndex.path(of: fixture.path))
    }

    /// The look-ups of `/fps/licenses/query` and of the command.
    @Test(arguments: [300, 3000] as [Int64])
    func aLookUpReadsAsManyPagesHoweverLongTheLedgerIs(count: Int64) throws {
        try fixture.append(0..<count, batchSize: 100)
        var index = try LedgerIndex.open(for: fixture.path)
        var reader = try LedgerReader.open(path: fixture.path)
        while try index.catchUp(with: &reader, limit: 1000) > 0 {}
        var before = reader.connection.readPageCount
        let query = LedgerQuery(tokenID: "token-7")
        let newest = try reader.newest([query], index: &index, limit: 10, tailMaximum: 1000)
        #expect(newest.map(\.sequence) == [8])
        #expect(reader.connection.readPageCount - before < 40)
        before = reader.connection.readPageCount
        var found: [Int64] = []
        try reader.find(
            query, index: index, progress: { _ in Issue.record("it reads rows after the indexed ones") },
            visit: {
                found.append($0.sequence)
                return true
            })
        #expect(found == [8] && reader.connection.readPageCount - before < 40)
    }

    private func check(
        _ texts: [String], atLeast count: Int, in path: String? = nil, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        #expect(texts.count >= count, "no statement is missing", sourceLocation: sourceLocation)
        for text in texts where !text.hasPrefix("PRAGMA") {
            let plan = try Self.plan(of: text, in: path ?? fixture.path)
            var scans = plan.filter { $0.hasPrefix("SCAN") && $0 != "SCAN CONSTANT ROW" }
            if text.hasPrefix("WITH RECURSIVE content ") { scans.removeAll { Self.recursive.contains($0) } }
            let mayScan = Self.scanning.contains { text.hasPrefix($0) }
            #expect(scans.isEmpty != mayScan, "\(text): \(scans)", sourceLocation: sourceLocation)
        }
    }

    /// Returns SQLite's description of how it would run a statement.
    private static func plan(of text: String, in path: String) throws -> [String] {
        var database: OpaquePointer?
        try #require(unsafe sqlite3_open_v2(path, &database, SQLITE_OPEN_READONLY, nil) == SQLITE_OK)
        defer { unsafe sqlite3_close_v2(database) }
        var statement: OpaquePointer?
        let code = unsafe sqlite3_prepare_v2(database, "EXPLAIN QUERY PLAN " + text, -1, &statement, nil)
        try #require(code == SQLITE_OK, "\(text)")
        defer { unsafe sqlite3_finalize(statement) }
        var lines: [String] = []
        while unsafe sqlite3_step(statement) == SQLITE_ROW {
            if let line = unsafe sqlite3_column_text(statement, 3) { lines.append(unsafe String(cString: line)) }
        }
        return lines
    }
}

extension SQLiteConnection {
    /// The texts of all statements that are prepared on the connection.
    fileprivate var preparedTexts: [String] {
        var texts: [String] = []
        // SQLite keeps a statement and its text valid until the statement is released. Each text is copied.
        var statement = unsafe sqlite3_next_stmt(handle, nil)
        while let prepared = unsafe statement {
            if let text = unsafe sqlite3_sql(prepared) { texts.append(unsafe String(cString: text)) }
            unsafe statement = unsafe sqlite3_next_stmt(handle, prepared)
        }
        return texts
    }

    /// The number of pages that the connection has read since it was opened, from its cache or the file.
    fileprivate var readPageCount: Int {
        [SQLITE_DBSTATUS_CACHE_HIT, SQLITE_DBSTATUS_CACHE_MISS].reduce(0) { sum, counter in
            var (current, highest): (Int32, Int32) = (0, 0)
            // Both are local variables.
            let code = unsafe sqlite3_db_status(handle, counter, &current, &highest, 0)
            return code == SQLITE_OK ? sum + Int(current) : sum
        }
    }
}
