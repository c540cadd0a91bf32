import ContentKeys
import Testing

@testable import StorageSQLite

@Suite struct SQLiteConnectionTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try DatabaseFile.prepare(folder.database)
    }

    @Test func syncsEveryCommitAndMindsForeignKeys() throws {
        var connection = try SQLiteConnection.open(path: folder.database, busyTimeoutMilliseconds: 1)
        try connection.useWriteAheadLog()
        // FULL is 2 (sqlite.org/pragma.html#pragma_synchronous).
        #expect(try connection.readInteger("PRAGMA synchronous") == 2)
        #expect(try connection.readInteger("PRAGMA foreign_keys") == 1)
        #expect(try connection.readInteger("PRAGMA trusted_schema") == 0)
    }

    @Test func doesNotMakeAFile() throws {
        #expect(throws: StoreError.unavailable(.notWritable)) {
            _ = try SQLiteConnection.open(path: folder.path + "/other.db", busyTimeoutMilliseconds: 1)
        }
    }

    @Test func refusesToWriteTheSchemasOwnTables() throws {
        var connection = try SQLiteConnection.open(path: folder.database, busyTimeoutMilliseconds: 1)
        try connection.execute("CREATE TABLE t (x); PRAGMA writable_schema = ON")
        #expect(throws: StoreError.self) { try connection.execute("UPDATE sqlite_schema SET sql = 'x'") }
    }

    @Test func givesValuesOfTheRightTypeAlone() throws {
        var connection = try SQLiteConnection.open(path: folder.database, busyTimeoutMilliseconds: 1)
        var statement = try connection.prepare("SELECT 1, 'text', x'0102', NULL, x''")
        #expect(try statement.step())
        #expect(try statement.integer(at: 0) == 1)
        #expect(try statement.text(at: 1) == "text")
        #expect(try statement.bytes(at: 2) == [1, 2])
        let isNull = statement.isNull(at: 3)
        #expect(isNull)
        #expect(try statement.bytes(at: 4) == [])
        var refusals = 0
        do throws(StoreError) { _ = try statement.integer(at: 1) } catch .recordMalformed { refusals += 1 }
        do throws(StoreError) { _ = try statement.text(at: 0) } catch .recordMalformed { refusals += 1 }
        do throws(StoreError) { _ = try statement.bytes(at: 3) } catch .recordMalformed { refusals += 1 }
        #expect(refusals == 3)
        #expect(try !statement.step())
    }

    @Test(
        arguments: [
            (5, .busy), (6, .busy), (261, .busy), (13, .diskFull), (8, .notWritable), (14, .notWritable),
            (1034, .inputOutput),
            (11, .damaged), (26, .damaged), (7, .other(code: 7)), (19, .other(code: 19)),
        ] as [(Int32, StoreOutage)])
    func sortsResultCodes(code: Int32, outage: StoreOutage) {
        #expect(StoreOutage(code: code) == outage)
    }
}
