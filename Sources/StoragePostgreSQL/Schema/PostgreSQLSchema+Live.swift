import ContentKeys

extension PostgreSQLSchema {
    /// Live contents, and the times of their key rotation periods: the same tables as in SQLite.
    ///
    /// Without a schedule the columns from `first_index` to `scheme` are NULL. Times are seconds since 1970. Nodes of
    /// the versions before work on without all of it: they serve every period, and make none by themselves.
    static let livePeriods = Migration(number: 11, oldestProgram: 1, script: [liveTables])

    private static let liveTables = """
        CREATE TABLE live_content (
            content_id text COLLATE "C" PRIMARY KEY,
            window_periods int8 NOT NULL,
            revision int8 NOT NULL,
            ended_at int8,
            first_index int8,
            first_start int8,
            period_seconds int8,
            periods_ahead int8,
            tracks text,
            scheme text
        );
        CREATE TABLE key_period (
            content_id text COLLATE "C" NOT NULL,
            period_index int8 NOT NULL,
            starts_at int8,
            ends_at int8,
            PRIMARY KEY (content_id, period_index)
        );
        CREATE INDEX key_period_by_end ON key_period (ends_at) WHERE ends_at IS NOT NULL;
        CREATE INDEX content_key_by_period ON content_key (content_id, period_index) WHERE period_index IS NOT NULL;
        """
}
