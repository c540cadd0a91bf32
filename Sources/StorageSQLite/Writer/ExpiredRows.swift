import ContentKeys
import Synchronization

/// Deletes ended rows in small pieces, one table after the other. A pass over all tables is a round.
struct ExpiredRows: ~Copyable {
    /// The largest number of rows in a piece. All rows of a piece are of one table.
    static let pieceSize: Int64 = 256
    /// The time from the start of one round to the start of the next, in seconds.
    static let interval: Int64 = 30

    private var deletes: [Delete]
    private var table = 0
    /// When the current round began. Its first tables were searched at that time, so the pause counts from it.
    private var roundStart = Int64.min
    private var pauseUntil = Int64.min

    init(_ connection: inout SQLiteConnection) throws(StoreError) {
        var deletes: [Delete] = []
        for sql in Self.statements { deletes.append(Delete(try connection.prepare(sql))) }
        self.deletes = deletes
    }

    /// Whether there may be rows to delete.
    func isDue(at now: Int64) -> Bool { now >= pauseUntil }

    /// Deletes one piece of one table. Returns the number of deleted rows.
    mutating func deletePiece(at now: Int64) throws(StoreError) -> Int {
        if table == 0 { roundStart = now }
        let count = try deletes[table].run(now)
        if count < Self.pieceSize { table += 1 }
        if table == deletes.count {
            table = 0
            pauseUntil = roundStart + Self.interval
        }
        return count
    }

    private static let statements: [StaticString] = [
        "DELETE FROM replay WHERE number IN (SELECT number FROM replay WHERE kept_until <= ?1 LIMIT ?2) RETURNING 1",
        """
        DELETE FROM renewal_session WHERE session IN
            (SELECT session FROM renewal_session WHERE kept_until <= ?1 LIMIT ?2) RETURNING 1
        """,
        """
        DELETE FROM token_use WHERE (token, kid) IN
            (SELECT token, kid FROM token_use WHERE kept_until <= ?1 LIMIT ?2) RETURNING 1
        """,
        """
        DELETE FROM device WHERE (owner, device) IN
            (SELECT owner, device FROM device WHERE kept_until <= ?1 AND kept_until < 9223372036854775807 LIMIT ?2)
            RETURNING 1
        """,
        """
        DELETE FROM slot WHERE (playback_group, number) IN
            (SELECT playback_group, number FROM slot WHERE held_until <= ?1 LIMIT ?2) RETURNING 1
        """,
        """
        DELETE FROM evicted_slot WHERE (playback_group, device, playback) IN
            (SELECT playback_group, device, playback FROM evicted_slot WHERE held_until <= ?1 LIMIT ?2) RETURNING 1
        """,
        """
        DELETE FROM slot_group WHERE playback_group IN
            (SELECT playback_group FROM slot_group WHERE held_until <= ?1 LIMIT ?2) RETURNING 1
        """,
        "DELETE FROM rental WHERE name IN (SELECT name FROM rental WHERE kept_until <= ?1 LIMIT ?2) RETURNING 1",
        """
        DELETE FROM challenge WHERE (holder, challenge) IN
            (SELECT holder, challenge FROM challenge WHERE expires_at <= ?1 LIMIT ?2) RETURNING 1
        """,
        """
        DELETE FROM revoked WHERE (kind, issuer, value) IN
            (SELECT kind, issuer, value FROM revoked WHERE until <= ?1 LIMIT ?2) RETURNING 1
        """,
    ]

    /// A statement as an element of an array, which cannot hold noncopyable values.
    private final class Delete: Sendable {
        private let statement: Mutex<SQLiteStatement>

        init(_ statement: consuming sending SQLiteStatement) {
            self.statement = Mutex(statement)
        }

        func run(_ now: Int64) throws(StoreError) -> Int {
            try statement.withLock { statement throws(StoreError) in
                defer { statement.reset() }
                try statement.bind(now, at: 1)
                try statement.bind(ExpiredRows.pieceSize, at: 2)
                var count = 0
                while try statement.step() { count += 1 }
                return count
            }
        }
    }
}
