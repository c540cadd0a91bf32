import ContentKeys

/// Reads live contents and their periods, on a connection that reads content keys.
struct PeriodReader: ~Copyable {
    private var content: SQLiteStatement
    private var page: SQLiteStatement
    private var newest: SQLiteStatement
    private var keys: SQLiteStatement
    private var ends: SQLiteStatement

    init(_ connection: inout SQLiteConnection) {
        content = connection.statement(
            "SELECT \(LiveContent.columns) FROM live_content WHERE content_id = ?1")
        page = connection.statement(
            "SELECT \(LiveContent.columns) FROM live_content WHERE content_id > ?1 ORDER BY content_id LIMIT ?2")
        newest = connection.statement(
            """
            SELECT period_index,
                (SELECT starts_at FROM key_period WHERE content_id = ?1 AND period_index = content_key.period_index),
                (SELECT ends_at FROM key_period WHERE content_id = ?1 AND period_index = content_key.period_index)
            FROM content_key WHERE content_id = ?1 AND period_index IS NOT NULL AND state = 'live'
            GROUP BY period_index ORDER BY period_index DESC LIMIT ?2
            """)
        keys = connection.statement(
            """
            SELECT \(ContentKeyAttributes.columns) FROM content_key
            WHERE content_id = ?1 AND period_index BETWEEN ?2 AND ?3 LIMIT ?4
            """)
        ends = connection.statement(
            """
            SELECT content_id, ends_at FROM key_period WHERE ends_at > ?1 AND EXISTS (
                SELECT 1 FROM content_key WHERE content_key.content_id = key_period.content_id
                    AND content_key.period_index = key_period.period_index AND state = 'live')
            ORDER BY ends_at DESC LIMIT ?2
            """)
    }

    mutating func livePeriods(of contentID: ContentID) throws(StoreError) -> LivePeriods? {
        guard let content = try liveContent(contentID) else { return nil }
        return LivePeriods(content, periods: content.schedule == nil ? try periods(of: contentID) : [])
    }

    private mutating func liveContent(_ contentID: ContentID) throws(StoreError) -> LiveContent? {
        defer { content.reset() }
        try content.bind(contentID.text, at: 1)
        return try content.step() ? try LiveContent(reading: content) : nil
    }

    mutating func liveContents(after last: ContentID?, limit: Int) throws(StoreError) -> [LiveContent] {
        defer { page.reset() }
        try page.bind(last?.text ?? "", at: 1)
        try page.bind(Int64(limit), at: 2)
        var found: [LiveContent] = []
        while try page.step() { found.append(try LiveContent(reading: page)) }
        return found
    }

    mutating func periods(of contentID: ContentID) throws(StoreError) -> [KnownPeriod] {
        defer { newest.reset() }
        try newest.bind(contentID.text, at: 1)
        try newest.bind(Int64(LivePeriods.countMaximum), at: 2)
        var found: [KnownPeriod] = []
        while try newest.step() {
            guard let index = UInt32(exactly: try newest.integer(at: 0)) else { throw .recordMalformed }
            found.append(
                KnownPeriod(
                    index: index, start: newest.isNull(at: 1) ? nil : try newest.integer(at: 1),
                    end: newest.isNull(at: 2) ? nil : try newest.integer(at: 2)))
        }
        return found
    }

    mutating func keys(
        of contentID: ContentID, in periods: ClosedRange<UInt32>, limit: Int
    ) throws(StoreError) -> [ContentKeyAttributes] {
        defer { keys.reset() }
        try keys.bind(contentID.text, at: 1)
        try keys.bind(Int64(periods.lowerBound), at: 2)
        try keys.bind(Int64(periods.upperBound), at: 3)
        try keys.bind(Int64(limit), at: 4)
        var found: [ContentKeyAttributes] = []
        while try keys.step() { found.append(try ContentKeyAttributes(reading: keys)) }
        return found
    }

    mutating func ends(after time: Int64, limit: Int) throws(StoreError) -> [ContentID: Int64] {
        defer { ends.reset() }
        try ends.bind(time, at: 1)
        try ends.bind(Int64(limit), at: 2)
        var found: [ContentID: Int64] = [:]
        while try ends.step() {
            guard let contentID = try? ContentID(try ends.text(at: 0)) else { throw .recordMalformed }
            // The rows come in descending order of their ends, so the first row of a content has its latest end.
            if found[contentID] == nil { found[contentID] = try ends.integer(at: 1) }
        }
        return found
    }
}

/// Writes live contents and the times of periods. Each call runs within a transaction.
struct PeriodWriter: ~Copyable {
    private var insert: SQLiteStatement
    private var update: SQLiteStatement
    private var note: SQLiteStatement

    init(_ connection: inout SQLiteConnection) {
        insert = connection.statement(
            """
            INSERT INTO live_content (\(LiveContent.columns))
            VALUES (?1, ?2, 1, ?4, ?5, ?6, ?7, ?8, ?9, ?10) ON CONFLICT (content_id) DO NOTHING RETURNING revision
            """)
        update = connection.statement(
            """
            UPDATE live_content SET window_periods = ?2, revision = revision + 1, ended_at = ?4, first_index = ?5,
                first_start = ?6, period_seconds = ?7, periods_ahead = ?8, tracks = ?9, scheme = ?10
            WHERE content_id = ?1 AND revision = ?3 RETURNING revision
            """)
        note = connection.statement(
            """
            INSERT INTO key_period (content_id, period_index, starts_at, ends_at) VALUES (?1, ?2, ?3, ?4)
            ON CONFLICT (content_id, period_index) DO UPDATE
                SET starts_at = coalesce(excluded.starts_at, starts_at), ends_at = coalesce(excluded.ends_at, ends_at)
            """)
    }

    /// Stores the content. Returns false if the stored content has another revision than the given one.
    mutating func set(_ content: LiveContent) throws(StoreError) -> Bool {
        let columns = LiveContentColumns(content)
        return content.revision == 0 ? try insert.set(columns) : try update.set(columns)
    }

    mutating func note(_ period: KnownPeriod, of contentID: ContentID) throws(StoreError) {
        defer { note.reset() }
        try note.bind(contentID.text, at: 1)
        try note.bind(Int64(period.index), at: 2)
        try note.bind(period.start, at: 3)
        try note.bind(period.end, at: 4)
        _ = try note.step()
    }
}

extension SQLiteStatement {
    /// Runs a statement that returns a row if it has changed one. Returns whether it has.
    fileprivate mutating func set(_ columns: LiveContentColumns) throws(StoreError) -> Bool {
        defer { reset() }
        try bind(columns.contentID, at: 1)
        try bind(columns.window, at: 2)
        if columns.revision > 0 { try bind(columns.revision, at: 3) }
        try bind(columns.endedAt, at: 4)
        try bind(columns.firstIndex, at: 5)
        try bind(columns.firstStart, at: 6)
        try bind(columns.length, at: 7)
        try bind(columns.ahead, at: 8)
        try bind(columns.tracks, at: 9)
        try bind(columns.scheme, at: 10)
        return try step()
    }
}

extension LiveContent {
    fileprivate static let columns: SQL = """
        content_id, window_periods, revision, ended_at, first_index, first_start, period_seconds, periods_ahead, \
        tracks, scheme
        """

    /// Reads `columns`.
    fileprivate init(reading row: borrowing SQLiteStatement) throws(StoreError) {
        func integer(_ column: Int32) throws(StoreError) -> Int64? {
            row.isNull(at: column) ? nil : try row.integer(at: column)
        }
        var columns = LiveContentColumns(
            contentID: try row.text(at: 0), window: try row.integer(at: 1), revision: try row.integer(at: 2))
        columns.endedAt = try integer(3)
        columns.firstIndex = try integer(4)
        columns.firstStart = try integer(5)
        columns.length = try integer(6)
        columns.ahead = try integer(7)
        columns.tracks = row.isNull(at: 8) ? nil : try row.text(at: 8)
        columns.scheme = row.isNull(at: 9) ? nil : try row.text(at: 9)
        try self.init(stored: columns)
    }
}
