import ContentKeys
import Records

/// Deletes ended rows in small pieces, one table after the other. A pass over all tables is a round.
struct ExpiredRows: ~Copyable {
    /// The largest number of rows in a piece. All rows of a piece are of one table.
    static let pieceSize = 256
    /// The time from the start of one round to the start of the next, in seconds.
    static let interval: Int64 = 30

    private var deletes: InlineArray<2, SQLiteStatement>
    private var table = 0
    /// When the current round began. Its first tables were searched at that time, so the pause counts from it.
    private var roundStart = Int64.min
    private var pauseUntil = Int64.min

    static func prepare(on connection: inout SQLiteConnection) throws(StoreError) -> ExpiredRows {
        ExpiredRows(deletes: try .init { index throws(StoreError) in try connection.prepare(statements[index]) })
    }

    /// Whether there may be rows to delete.
    func isDue(at now: Int64) -> Bool { now >= pauseUntil }

    /// Deletes one piece of one table. Returns the number of deleted rows.
    mutating func deletePiece(at now: Int64) throws(StoreError) -> Int {
        if table == 0 { roundStart = now }
        let count = try deletes[table].run(now, Self.pieceSize)
        if count < Self.pieceSize { table += 1 }
        if table == deletes.count {
            table = 0
            pauseUntil = roundStart + Self.interval
        }
        return count
    }

    /// Cells end at whole hours, and the largest hour never comes.
    ///
    /// The order of `name, kind` matters. SQLite compares both columns as it compares the first one. With `kind`, a
    /// number, it could not look up names, which are bytes, and would read all cells.
    private static let statements: InlineArray<2, SQL> = [
        deletion(from: "cell", "name, kind", if: "ends_on <= min(?1 / 3600, 2147483646)"),
        deletion(from: "revoked", "kind, issuer, value", if: "until <= ?1"),
    ]

    private static func deletion(from table: SQL, _ key: SQL, if hasEnded: SQL) -> SQL {
        """
        DELETE FROM \(table) WHERE (\(key)) IN (SELECT \(key) FROM \(table) WHERE \(hasEnded) LIMIT ?2) RETURNING 1
        """
    }
}
