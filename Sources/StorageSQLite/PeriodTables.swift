import ContentKeys

/// Reads live contents and their periods, on a connection that reads content keys.
struct PeriodReader: ~Copyable {
    private var content, page, newest, keys, ends: SQLiteStatement

    static func prepare(on connection: inout SQLiteConnection) throws(StoreError) -> PeriodReader {
        try PeriodReader(
            content: connection.prepare("SELECT \(LiveContent.columns) FROM live_content WHERE content_id = ?1"),
            page: connection.prepare(
                "SELECT \(LiveContent.columns) FROM live_content WHERE content_id > ?1 ORDER BY content_id LIMIT ?2"),
            newest: connection.prepare(
                """
                SELECT period_index,
                    (SELECT starts_at FROM key_period
                        WHERE content_id = ?1 AND period_index = content_key.period_index),
                    (SELECT ends_at FROM key_period
                        WHERE content_id = ?1 AND period_index = content_key.period_index)
                FROM content_key WHERE content_id = ?1 AND period_index IS NOT NULL AND state = 'live'
                GROUP BY period_index ORDER BY period_index DESC LIMIT ?2
                """),
            keys: connection.prepare(
                """
                SELECT \(ContentKeyAttributes.columns) FROM content_key
                WHERE content_id = ?1 AND period_index BETWEEN ?2 AND ?3 LIMIT ?4
                """),
            ends: connection.prepare(
                """
                SELECT content_id, ends_at FROM key_period WHERE ends_at > ?1 AND EXISTS (
                    SELECT 1 FROM content_key WHERE content_key.content_id = key_period.content_id
                        AND content_key.period_index = key_period.period_index AND state = 'live')
                ORDER BY ends_at DESC LIMIT ?2
                """))
    }

    mutating func livePeriods(of contentID: ContentID) throws(StoreError) -> LivePeriods? {
        guard let content = try liveContent(contentID) else { return nil }
        return LivePeriods(content, periods: content.schedule == nil ? try periods(of: contentID) : [])
    }

    private mutating func liveContent(_ contentID: ContentID) throws(StoreError) -> LiveContent? {
        try content.first(contentID, read: LiveContent.init(reading:))
    }

    mutating func liveContents(after last: ContentID?, limit: Int) throws(StoreError) -> [LiveContent] {
        try page.rows(last?.text ?? "", limit, read: LiveContent.init(reading:))
    }

    mutating func periods(of contentID: ContentID) throws(StoreError) -> [KnownPeriod] {
        try newest.rows(contentID, LivePeriods.countMaximum) { row throws(StoreError) in
            guard let index = UInt32(exactly: try row.integer(at: 0)) else { throw .recordMalformed }
            return KnownPeriod(index: index, start: try row.optionalInteger(at: 1), end: try row.optionalInteger(at: 2))
        }
    }

    mutating func keys(
        of contentID: ContentID, in periods: ClosedRange<UInt32>, limit: Int
    ) throws(StoreError) -> [ContentKeyAttributes] {
        return try keys.rows(
            contentID, periods.lowerBound, periods.upperBound, limit, read: ContentKeyAttributes.init(reading:))
    }

    mutating func ends(after time: Int64, limit: Int) throws(StoreError) -> [ContentID: Int64] {
        defer { ends.reset() }
        try ends.bind(time, limit)
        var found: [ContentID: Int64] = [:]
        while try ends.step() {
            let contentID = try ends.contentID(at: 0)
            // The rows come in descending order of their ends, so the first row of a content has its latest end.
            if found[contentID] == nil { found[contentID] = try ends.integer(at: 1) }
        }
        return found
    }
}

/// Writes live contents and the times of periods. Each call runs within a transaction.
struct PeriodWriter: ~Copyable {
    private var insert, update, note: SQLiteStatement

    static func prepare(on connection: inout SQLiteConnection) throws(StoreError) -> PeriodWriter {
        try PeriodWriter(
            insert: connection.prepare(
                """
                INSERT INTO live_content (\(LiveContent.columns))
                VALUES (?1, ?2, 1, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT (content_id) DO NOTHING RETURNING revision
                """),
            update: connection.prepare(
                """
                UPDATE live_content SET window_periods = ?2, revision = revision + 1, ended_at = ?4, first_index = ?5,
                    first_start = ?6, period_seconds = ?7, periods_ahead = ?8, tracks = ?9, scheme = ?10
                WHERE content_id = ?1 AND revision = ?3 RETURNING revision
                """),
            note: connection.prepare(
                """
                INSERT INTO key_period (content_id, period_index, starts_at, ends_at) VALUES (?1, ?2, ?3, ?4)
                ON CONFLICT (content_id, period_index) DO UPDATE SET
                    starts_at = coalesce(excluded.starts_at, starts_at), ends_at = coalesce(excluded.ends_at, ends_at)
                """))
    }

    /// Stores the content. Returns false if the stored content has another revision than the given one.
    mutating func set(_ content: LiveContent) throws(StoreError) -> Bool {
        let columns = LiveContentColumns(content)
        return content.revision == 0 ? try insert.set(columns) : try update.set(columns)
    }

    mutating func note(_ period: KnownPeriod, of contentID: ContentID) throws(StoreError) {
        try note.run(contentID, period.index, period.start, period.end)
    }
}

extension SQLiteStatement {
    /// Runs a statement that returns a row if it has changed one. Returns whether it has.
    fileprivate mutating func set(_ columns: LiveContentColumns) throws(StoreError) -> Bool {
        try run(
            columns.contentID, columns.window, columns.revision, columns.endedAt, columns.firstIndex,
            columns.firstStart, columns.length, columns.ahead, columns.tracks, columns.scheme) > 0
    }
}

extension LiveContent {
    fileprivate static let columns: SQL = """
        content_id, window_periods, revision, ended_at, first_index, first_start, period_seconds, periods_ahead, \
        tracks, scheme
        """
}
