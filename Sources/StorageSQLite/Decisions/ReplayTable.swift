import ContentKeys
import Records

/// Stores the requests that were decided, with their answers.
struct ReplayTable: ~Copyable {
    private var find, keep: SQLiteStatement

    static func prepare(on connection: inout SQLiteConnection) throws(StoreError) -> ReplayTable {
        try ReplayTable(
            find: connection.prepare("SELECT retry_until, kept_until, answer FROM replay WHERE request = ?1"),
            keep: connection.prepare(
                """
                INSERT INTO replay (request, token, retry_until, kept_until, answer) VALUES (?1, ?1, ?2, ?3, ?4)
                ON CONFLICT (request) DO UPDATE SET retry_until = ?2, kept_until = ?3, answer = ?4
                """))
    }

    /// Returns the outcome of a request that was decided before. Returns nil for a new request, and for one whose
    /// record has ended by `endTime`.
    mutating func outcome(
        of replay: ReplayRecord, at now: Int64, endTime: Int64
    ) throws(StoreError) -> DecisionOutcome? {
        try find.first(replay.request) { row throws(StoreError) in
            guard try row.integer(at: 1) > endTime else { return nil }
            guard try now < row.integer(at: 0) else { return .denied(.replayed) }
            return .repeated(answer: try row.bytes(at: 2))
        } ?? nil
    }

    mutating func keep(_ replay: ReplayRecord, at now: Int64) throws(StoreError) {
        try keep.run(replay.request, now + replay.retryWindow, replay.keptUntil, replay.answer)
    }
}
