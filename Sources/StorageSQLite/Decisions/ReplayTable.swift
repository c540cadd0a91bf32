import ContentKeys
import Records

/// Stores the requests that were decided, with their answers.
struct ReplayTable: ~Copyable {
    private var find: SQLiteStatement
    private var keep: SQLiteStatement

    init(_ connection: inout SQLiteConnection) {
        find = connection.statement("SELECT retry_until, kept_until, answer FROM replay WHERE request = ?1")
        keep = connection.statement(
            """
            INSERT INTO replay (request, token, retry_until, kept_until, answer) VALUES (?1, ?1, ?2, ?3, ?4)
            ON CONFLICT (request) DO UPDATE SET retry_until = ?2, kept_until = ?3, answer = ?4
            """)
    }

    /// Returns the outcome of a request that was decided before. Returns nil for a new request, and for one whose
    /// record has ended by `endTime`.
    mutating func outcome(
        of replay: ReplayRecord, at now: Int64, endTime: Int64
    ) throws(StoreError) -> DecisionOutcome? {
        defer { find.reset() }
        try find.bind(replay.request, at: 1)
        guard try find.step(), try find.integer(at: 1) > endTime else { return nil }
        guard try now < find.integer(at: 0) else { return .denied(.replayed) }
        return .repeated(answer: try find.bytes(at: 2))
    }

    mutating func keep(_ replay: ReplayRecord, at now: Int64) throws(StoreError) {
        defer { keep.reset() }
        try keep.bind(replay.request, at: 1)
        try keep.bind(now + replay.retryWindow, at: 2)
        try keep.bind(replay.keptUntil, at: 3)
        try keep.bind(replay.answer, at: 4)
        _ = try keep.step()
    }
}
