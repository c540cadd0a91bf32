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
            INSERT INTO replay (request, token, retry_until, kept_until, answer)
                VALUES (zeroblob(32), zeroblob(32), 0, 1000, x'');
            """)
        var rows = try ExpiredRows.prepare(on: &connection)
        var count = try rows.deletePiece(at: 0)
        #expect(count == 0, "the table of replays is searched before the row has ended")
        while rows.isDue(at: 2000) { count += try rows.deletePiece(at: 2000) }
        #expect(count == 1)
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
