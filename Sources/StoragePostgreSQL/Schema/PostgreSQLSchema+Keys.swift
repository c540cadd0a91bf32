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

    /// The statement of both functions that store keys. Its indentation is that of the functions.
    private static let insertKeys = """
        INSERT INTO content_key (kid, content_id, track_label, period_index, scheme, state, created_at,
                    content_type, least_hdcp, least_security_level, key_version, sealed, bound)
                SELECT * FROM unnest(in_kids, in_contents, in_labels, in_periods, in_schemes, in_states, in_times,
                    in_types, in_hdcp, in_levels, in_versions, in_seals, in_bound);
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
            \(insertKeys)
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

extension PostgreSQLSchema {
    /// Stores the pairs of `SpelledName`, in the same table as in SQLite, and adds the only function that stores keys.
    /// The step also notes the pairs of all keys and contents that exist.
    ///
    /// Nodes of older versions store keys without their pairs, and check none.
    static let keySpellings = Migration(number: 12, oldestProgram: 1, script: [spellingTable, storeKeys])

    private static let spellingTable = """
        CREATE TABLE key_spelling (
            kid bytea NOT NULL CHECK (length(kid) = 16),
            content_id text COLLATE "C" NOT NULL,
            PRIMARY KEY (kid, content_id)
        );
        CREATE INDEX key_spelling_by_content ON key_spelling (content_id);
        """

    /// Stores all keys and aliases or none. `is_stored` is false, with nothing stored, in two cases. Either one of the
    /// keys exists by now, or `other_kid` and `other_content` are two ids that one asset id may mean. `in_by_track`
    /// says for each key whether any live key of the same track counts as this key.
    ///
    /// `in_pair_kids` and `in_pair_contents` are the pairs of the keys. A call that brings a new pair, or the first key
    /// of a pair's content, runs alone. All other calls run beside one another. So of two calls that store both sides
    /// of a pair at the same time, the second one sees what the first one has stored.
    ///
    /// Contents in `in_locks` are locked in one order for all nodes, until the transaction ends. If two nodes call at
    /// the same time, the second one sees the keys of the first one.
    private static let storeKeys = """
        CREATE FUNCTION store_keys_1(
            in_locks text[], in_by_track bool[], in_kids bytea[], in_contents text[], in_labels text[],
            in_periods int8[], in_schemes text[], in_states text[], in_times int8[], in_types text[], in_hdcp text[],
            in_levels text[], in_versions int8[], in_seals bytea[], in_bound bytea[], in_pair_kids bytea[],
            in_pair_contents text[], in_aliases bytea[], in_alias_kids bytea[],
            OUT is_stored bool, OUT other_kid bytea, OUT other_content text
        ) LANGUAGE plpgsql AS $$
        DECLARE
            each_lock int8;
            spelling_lock int8 := hashtextextended('latchkey spellings', 0);
        BEGIN
            IF EXISTS (SELECT FROM unnest(in_pair_kids, in_pair_contents) AS pair (kid, content)
                WHERE NOT EXISTS (SELECT FROM key_spelling
                        WHERE key_spelling.kid = pair.kid AND key_spelling.content_id = pair.content)
                    OR NOT EXISTS (SELECT FROM content_key WHERE content_id = pair.content))
            THEN PERFORM pg_advisory_xact_lock(spelling_lock);
            ELSE PERFORM pg_advisory_xact_lock_shared(spelling_lock);
            END IF;
            FOR each_lock IN SELECT DISTINCT hashtextextended('latchkey keys ' || content, 0)
                FROM unnest(in_locks) AS wished (content) ORDER BY 1
            LOOP
                PERFORM pg_advisory_xact_lock(each_lock);
            END LOOP;
            is_stored := false;
            IF EXISTS (SELECT FROM content_key WHERE kid = ANY (in_kids))
                OR EXISTS (SELECT FROM unnest(in_by_track, in_contents, in_labels, in_periods)
                        AS wished (by_track, content, label, period)
                    JOIN content_key ON content_id = content AND coalesce(track_label, '') = coalesce(label, '')
                        AND coalesce(period_index, -1) = coalesce(period, -1)
                    WHERE by_track AND state = 'live')
            THEN RETURN; END IF;
            INSERT INTO key_spelling (kid, content_id) SELECT * FROM unnest(in_pair_kids, in_pair_contents)
                ON CONFLICT DO NOTHING;
            -- A new key id that spells another content, and then a new content that a stored key id spells.
            SELECT pair.kid, pair.content_id INTO other_kid, other_content
                FROM unnest(in_kids, in_contents) AS new (kid, content)
                JOIN key_spelling AS pair ON pair.kid = new.kid AND pair.content_id <> new.content
                WHERE pair.content_id = ANY (in_contents)
                    OR EXISTS (SELECT FROM content_key WHERE content_key.content_id = pair.content_id)
                LIMIT 1;
            IF FOUND THEN RETURN; END IF;
            SELECT pair.kid, pair.content_id INTO other_kid, other_content
                FROM (SELECT DISTINCT content FROM unnest(in_contents) AS wished (content)) AS new
                JOIN key_spelling AS pair ON pair.content_id = new.content
                JOIN content_key AS owner ON owner.kid = pair.kid AND owner.content_id <> pair.content_id
                WHERE NOT EXISTS (SELECT FROM content_key WHERE content_key.content_id = new.content)
                LIMIT 1;
            IF FOUND THEN RETURN; END IF;
            \(insertKeys)
            INSERT INTO asset_alias (alias, kid) SELECT * FROM unnest(in_aliases, in_alias_kids);
            is_stored := true;
        END $$;
        """
}
