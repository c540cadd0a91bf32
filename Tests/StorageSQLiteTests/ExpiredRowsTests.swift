import ContentKeys
import Testing

@testable import StorageSQLite

/// Tests of the rounds that delete ended rows.
@Suite struct ExpiredRowsTests {
    let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        try DatabaseFile.prepare(folder.database)
    }

    /// Fault: the pause counted from the end of a round. Rows that ended during a round, after their table had been
    /// searched, were then deleted too late.
    @Test func theNextRoundCountsFromTheStartOfTheLast() throws {
        var connection = try SQLiteConnection.open(path: folder.database, busyTimeoutMilliseconds: 1000)
        try connection.migrate(path: folder.database)
        try connection.execute(
            """
            INSERT INTO cell (kind, name, value, ends_on) VALUES (1, zeroblob(32), x'', 1)
            """)
        var rows = try ExpiredRows.prepare(on: &connection)
        var count = try rows.deletePiece(at: 0)
        #expect(count == 0, "the table of cells is searched before the row has ended")
        while rows.isDue(at: 7000) { count += try rows.deletePiece(at: 7000) }
        #expect(count == 1)
    }

    /// A cell ends when its hour has come. The largest hour stands for the end of all times.
    @Test func aCellIsDeletedWhenItsHourHasComeWhole() throws {
        var connection = try SQLiteConnection.open(path: folder.database, busyTimeoutMilliseconds: 1000)
        try connection.migrate(path: folder.database)
        try connection.execute(
            """
            INSERT INTO cell (kind, name, value, ends_on)
                VALUES (1, zeroblob(32), x'', 2), (2, zeroblob(32), x'', 2), (2, randomblob(32), x'', 3),
                    (3, zeroblob(32), x'', 2147483647)
            """)
        let counts = try ([7199, 7200, 10_799, 10_800, .max] as [Int64]).map { now in
            var rows = try ExpiredRows.prepare(on: &connection)
            return try rows.deletePiece(at: now)
        }
        #expect(counts == [0, 2, 0, 1, 0])
        #expect(try connection.readInteger("SELECT kind FROM cell") == 3)
    }

    @Test func aRoundThatIsOverIsFollowedByAPause() throws {
        var connection = try SQLiteConnection.open(path: folder.database, busyTimeoutMilliseconds: 1000)
        try connection.migrate(path: folder.database)
        var rows = try ExpiredRows.prepare(on: &connection)
        while rows.isDue(at: 2000) { _ = try rows.deletePiece(at: 2000) }
        let (isDueEarly, isDueInTime) = (
            rows.isDue(at: 1999 + ExpiredRows.interval), rows.isDue(at: 2000 + ExpiredRows.interval)
        )
        #expect(!isDueEarly && isDueInTime)
    }
}
