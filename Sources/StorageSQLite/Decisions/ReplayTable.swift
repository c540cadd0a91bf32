import ContentKeys
import Records

/// Stores the requests that were decided, with their answers.
struct ReplayTable: ~Copyable {
    private var find: SQLiteStatement
    private var keep: SQLiteStatement

    init(_ connection: inout SQLiteConnection) throws(StoreError) {
        let find = try connection.prepare(
            "SELECT token, retry_until, kept_until, answer, party FROM replay WHERE request = ?1")
        let keep = try connection.prepare(
            """
            INSERT INTO replay (request, token, retry_until, kept_until, answer, party) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (request) DO UPDATE SET token = ?2, retry_until = ?3, kept_until = ?4, answer = ?5, party = ?6
            """)
        self.find = find
        self.keep = keep
    }

    /// Returns the outcome of a request that was decided before. Returns nil for a new request, and for one whose
    /// record has ended by `endTime`.
    mutating func outcome(
        of replay: ReplayRecord, at now: Int64, endTime: Int64
    ) throws(StoreError) -> DecisionOutcome? {
        defer { find.reset() }
        try find.bind(replay.request, at: 1)
        guard try find.step(), try find.integer(at: 2) > endTime else { return nil }
        let party = find.isNull(at: 4) ? nil : try find.bytes(at: 4)
        let isSameParty = party != nil && party == replay.party?.bytes
        let isSameToken = try find.bytes(at: 0) == replay.token.bytes
        guard isSameParty || isSameToken, try now < find.integer(at: 1) else { return .denied(.replayed) }
        return .repeated(answer: try find.bytes(at: 3))
    }

    mutating func keep(_ replay: ReplayRecord, at now: Int64) throws(StoreError) {
        defer { keep.reset() }
        try keep.bind(replay.request, at: 1)
        try keep.bind(replay.token, at: 2)
        try keep.bind(now + replay.retryWindow, at: 3)
        try keep.bind(replay.keptUntil, at: 4)
        try keep.bind(replay.answer, at: 5)
        if let party = replay.party { try keep.bind(party, at: 6) } else { try keep.bind(nil as Int64?, at: 6) }
        _ = try keep.step()
    }
}
