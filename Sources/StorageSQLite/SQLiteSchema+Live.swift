import ContentKeys

extension SQLiteSchema {
    /// Live contents, and the times of their key rotation periods.
    ///
    /// Without a schedule the columns from `period_seconds` to `scheme` are NULL. Times are seconds since 1970.
    /// Programs of the versions before work on without all of it: they serve every period, and make none by themselves.
    static let livePeriods = Migration(
        number: 13, oldestProgram: 1,
        script: """
            CREATE TABLE live_content (
                content_id TEXT NOT NULL PRIMARY KEY,
                window_periods INTEGER NOT NULL,
                revision INTEGER NOT NULL,
                ended_at INTEGER,
                first_index INTEGER,
                first_start INTEGER,
                period_seconds INTEGER,
                periods_ahead INTEGER,
                tracks TEXT,
                scheme TEXT
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE key_period (
                content_id TEXT NOT NULL,
                period_index INTEGER NOT NULL,
                starts_at INTEGER,
                ends_at INTEGER,
                PRIMARY KEY (content_id, period_index)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX key_period_by_end ON key_period (ends_at) WHERE ends_at IS NOT NULL;
            CREATE INDEX content_key_by_period ON content_key (content_id, period_index) WHERE period_index IS NOT NULL;
            """)
}
