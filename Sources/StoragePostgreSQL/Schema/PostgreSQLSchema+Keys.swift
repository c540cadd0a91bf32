import ContentKeys

extension PostgreSQLSchema {
    /// Adds keys for packagers: an index that finds the key of a track, and the only function that stores several new
    /// keys together.
    ///
    /// Nodes of the previous version still insert keys without the lock. Their keys are found too. If such a node
    /// inserts a key at the same moment, the track may get a second key.
    static let keyProvision = Migration(number: 10, oldestProgram: 1, script: [keyByTrack, provideKeys])

    /// The stand-ins for NULL are an empty label and period -1, which no key has. Unlike IS NOT DISTINCT FROM, a
    /// comparison with such a value uses the index.
    private static let keyByTrack = """
        CREATE INDEX content_key_by_track
            ON content_key (content_id, coalesce(track_label, ''), coalesce(period_index, -1)) WHERE state = 'live';
        """

    /// Stores all keys or none. Returns false, with nothing stored, if one of them exists by now. `in_by_track` says
    /// for each key whether any live key of the same track counts as this key.
    ///
    /// Contents are locked in one order for all nodes, until the transaction ends. If two nodes call at the same time,
    /// the second one sees the keys of the first one.
    private static let provideKeys = """
        CREATE FUNCTION provide_keys_1(
            in_by_track bool[], in_kids bytea[], in_contents text[], in_labels text[], in_periods int8[],
            in_schemes text[], in_states text[], in_times int8[], in_types text[], in_hdcp text[], in_levels text[],
            in_versions int8[], in_seals bytea[], in_bound bytea[]
        ) RETURNS bool LANGUAGE plpgsql AS $$
        DECLARE
            each_lock int8;
        BEGIN
            FOR each_lock IN SELECT DISTINCT hashtextextended('latchkey keys ' || content, 0)
                FROM unnest(in_contents) AS wished (content) ORDER BY 1
            LOOP
                PERFORM pg_advisory_xact_lock(each_lock);
            END LOOP;
            IF EXISTS (SELECT FROM content_key WHERE kid = ANY (in_kids))
                OR EXISTS (SELECT FROM unnest(in_by_track, in_contents, in_labels, in_periods)
                        AS wished (by_track, content, label, period)
                    JOIN content_key ON content_id = content AND coalesce(track_label, '') = coalesce(label, '')
                        AND coalesce(period_index, -1) = coalesce(period, -1)
                    WHERE by_track AND state = 'live')
            THEN RETURN false; END IF;
            INSERT INTO content_key (kid, content_id, track_label, period_index, scheme, state, created_at,
                    content_type, least_hdcp, least_security_level, key_version, sealed, bound)
                SELECT * FROM unnest(in_kids, in_contents, in_labels, in_periods, in_schemes, in_states, in_times,
                    in_types, in_hdcp, in_levels, in_versions, in_seals, in_bound);
            RETURN true;
        END $$;
        """
}

extension PostgreSQLSchema {
    /// Stores live contents and the times of their key periods, in the same tables as in SQLite.
    ///
    /// If a content has no schedule, the columns from `first_index` to `scheme` are NULL. Times are seconds since 1970.
    /// Nodes of older versions work without all of it: they serve every period, and make no periods by themselves.
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
