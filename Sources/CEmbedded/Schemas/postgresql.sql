-- The schema of an installation in PostgreSQL, version 1. Each connection has it as its only search path.
--
-- Times are seconds since 1970 unless a name says otherwise. Key ids are 16 bytes, names of cells 32. Texts are ordered
-- by their bytes. Scheme, state, floors and kinds are the raw values of their types. If a function must change, it gets
-- a new name, because nodes of the version before still call the old one.

-- Content keys --------------------------------------------------------------------------------------------------------

CREATE TABLE key_encryption_key (
    version int8 PRIMARY KEY,
    proof bytea NOT NULL
);

CREATE TABLE content_key (
    kid bytea PRIMARY KEY CHECK (length(kid) = 16),
    content_id text COLLATE "C" NOT NULL,
    track_label text COLLATE "C",
    period_index int8,
    scheme text NOT NULL,
    state text NOT NULL,
    created_at int8 NOT NULL,
    content_type text NOT NULL,
    least_hdcp text,
    least_security_level text,
    key_version int8 NOT NULL REFERENCES key_encryption_key (version),
    -- The key and its vector, sealed for this record (`KeySealing`).
    sealed bytea NOT NULL
);
CREATE INDEX content_key_by_content ON content_key (content_id, kid);
CREATE INDEX content_key_by_period ON content_key (content_id, period_index) WHERE period_index IS NOT NULL;
-- The stand-ins for NULL are an empty label and period -1, which no key has. Unlike IS NOT DISTINCT FROM, a comparison
-- with such a value uses the index.
CREATE INDEX content_key_by_track
    ON content_key (content_id, coalesce(track_label, ''), coalesce(period_index, -1)) WHERE state = 'live';

CREATE TABLE asset_alias (
    alias bytea PRIMARY KEY CHECK (length(alias) BETWEEN 2 AND 200),
    kid bytea NOT NULL REFERENCES content_key (kid)
);
CREATE INDEX asset_alias_by_key ON asset_alias (kid);

-- The pairs of `SpelledName`.
CREATE TABLE key_spelling (
    kid bytea NOT NULL CHECK (length(kid) = 16),
    content_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (kid, content_id)
);
CREATE INDEX key_spelling_by_content ON key_spelling (content_id);

-- Live contents. If a content has no schedule, the columns from first_index to scheme are NULL.
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

-- Stores all keys and aliases or none. is_stored is false, with nothing stored, in two cases. Either one of the keys
-- exists by now, or other_kid and other_content are two ids that one asset id may mean. in_by_track says for each key
-- whether any live key of the same track counts as this key.
--
-- in_pair_kids and in_pair_contents are the pairs of the keys. A call that brings a new pair, or the first key of a
-- pair's content, runs alone. All other calls run beside one another. So of two calls that store both sides of a pair
-- at the same time, the second one sees what the first one has stored.
--
-- Contents in in_locks are locked in one order for all nodes, until the transaction ends. If two nodes call at the same
-- time, the second one sees the keys of the first one.
CREATE FUNCTION store_keys_1(
    in_locks text[], in_by_track bool[], in_kids bytea[], in_contents text[], in_labels text[],
    in_periods int8[], in_schemes text[], in_states text[], in_times int8[], in_types text[], in_hdcp text[],
    in_levels text[], in_versions int8[], in_seals bytea[], in_pair_kids bytea[], in_pair_contents text[],
    in_aliases bytea[], in_alias_kids bytea[],
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
    INSERT INTO content_key (kid, content_id, track_label, period_index, scheme, state, created_at, content_type,
            least_hdcp, least_security_level, key_version, sealed)
        SELECT * FROM unnest(in_kids, in_contents, in_labels, in_periods, in_schemes, in_states, in_times, in_types,
            in_hdcp, in_levels, in_versions, in_seals);
    INSERT INTO asset_alias (alias, kid) SELECT * FROM unnest(in_aliases, in_alias_kids);
    is_stored := true;
END $$;

-- Time ----------------------------------------------------------------------------------------------------------------

-- Nodes whose clocks are trusted advance the settled time to their own time, but not beyond the database's clock. A
-- step of a node's clock or of the database's clock therefore ends nothing early. Before the first node has advanced it,
-- nothing ends.
CREATE TABLE settled_time (
    only_row bool PRIMARY KEY DEFAULT true CHECK (only_row),
    at int8 NOT NULL
);
INSERT INTO settled_time (at) VALUES (0);

-- The database's clock in whole seconds.
CREATE FUNCTION clock_1() RETURNS int8 LANGUAGE sql VOLATILE AS $$
    SELECT floor(extract(epoch FROM clock_timestamp()))::int8
$$;

-- The time by which records count as ended: the settled time, but never later than the clock.
CREATE FUNCTION settled_1() RETURNS int8 LANGUAGE sql VOLATILE AS $$
    SELECT least(at, clock_1()) FROM settled_time
$$;

CREATE FUNCTION advance_settled_1(in_settled int8) RETURNS int8 LANGUAGE sql VOLATILE AS $$
    UPDATE settled_time SET at = least(in_settled, clock_1()) WHERE at < least(in_settled, clock_1());
    SELECT at FROM settled_time;
$$;

-- Accounts ------------------------------------------------------------------------------------------------------------

-- What decisions share. The nodes read and write the values by `AccountRules`, which also says what they mean. value is
-- NULL only in a row that a running transaction has made. ends_on is in hours since 1970, rounded up: a time in seconds
-- would be another one at each renewal, and a changed column of an index makes an update expensive.
CREATE TABLE cell (
    kind int2 NOT NULL,
    key bytea NOT NULL CHECK (length(key) = 32),
    owner bytea,
    value bytea CHECK (length(value) <= 200000),
    ends_on int4 NOT NULL,
    PRIMARY KEY (kind, key)
) WITH (fillfactor = 70);
CREATE INDEX cell_by_owner ON cell (owner, kind, key) WHERE owner IS NOT NULL;
CREATE INDEX cell_by_end ON cell (ends_on);

-- A number that each node increases. If the database has a number, it has everything that the node settled before that
-- number (`DecisionKeeping`).
CREATE TABLE node_mark (
    node text COLLATE "C" PRIMARY KEY,
    number int8 NOT NULL
);

-- Replaces the number by a larger one, but only if the current number is at least the expected one. Returns the
-- previous number; 0 if there is none.
CREATE FUNCTION replace_mark_1(in_node text, in_number int8, in_expected int8) RETURNS int8 LANGUAGE plpgsql AS $$
DECLARE
    found_number int8;
BEGIN
    SELECT number INTO found_number FROM node_mark WHERE node = in_node;
    found_number := coalesce(found_number, 0);
    IF found_number >= in_expected AND found_number < in_number THEN
        INSERT INTO node_mark (node, number) VALUES (in_node, in_number)
            ON CONFLICT (node) DO UPDATE SET number = greatest(node_mark.number, excluded.number);
    END IF;
    RETURN found_number;
END $$;

-- Revocations ---------------------------------------------------------------------------------------------------------

-- The issuer is empty if the name does not belong to one issuer. ends_at is NULL if the revocation never ends.
CREATE TABLE revoked (
    kind text COLLATE "C" NOT NULL,
    issuer text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    ends_at int8,
    revoked_at int8 NOT NULL,
    reason text NOT NULL,
    PRIMARY KEY (kind, issuer, value)
);
CREATE INDEX revoked_by_time ON revoked (revoked_at);
CREATE INDEX revoked_by_end ON revoked (ends_at);

-- Each change has the next number. mark is random. Only the newest 100,000 changes are kept.
CREATE TABLE revocation_change (
    number int8 PRIMARY KEY,
    mark int8 NOT NULL,
    kind text COLLATE "C" NOT NULL,
    issuer text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    ends_at int8,
    revoked_at int8 NOT NULL,
    reason text NOT NULL,
    is_lifted bool NOT NULL
);

-- A statement that changes revocations takes one lock before any row, and holds it until its transaction ends. Numbers
-- therefore become visible in their order: a reader that has seen a number has seen all smaller ones.
CREATE FUNCTION lock_revocations_1() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    PERFORM pg_advisory_xact_lock('revocation_change'::regclass::oid::int8);
    RETURN NULL;
END $$;
CREATE TRIGGER lock_revocations BEFORE INSERT OR UPDATE OR DELETE ON revoked
    FOR EACH STATEMENT EXECUTE FUNCTION lock_revocations_1();

CREATE FUNCTION note_revocation_1() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    changed revoked%ROWTYPE;
    last int8;
BEGIN
    IF TG_OP = 'DELETE' THEN changed := OLD; ELSE changed := NEW; END IF;
    SELECT number INTO last FROM revocation_change ORDER BY number DESC LIMIT 1;
    last := coalesce(last, 0) + 1;
    INSERT INTO revocation_change (number, mark, kind, issuer, value, ends_at, revoked_at, reason, is_lifted)
        VALUES (last, (random() * 9007199254740992)::int8, changed.kind, changed.issuer, changed.value,
            changed.ends_at, changed.revoked_at, changed.reason, TG_OP = 'DELETE');
    DELETE FROM revocation_change WHERE number <= last - 100000;
    RETURN NULL;
END $$;
CREATE TRIGGER note_revocation AFTER INSERT OR UPDATE OR DELETE ON revoked
    FOR EACH ROW EXECUTE FUNCTION note_revocation_1();

-- Secrets -------------------------------------------------------------------------------------------------------------

-- The proofs of the secrets that all nodes share.
CREATE TABLE secret_proof (
    name text COLLATE "C" NOT NULL,
    number int8 NOT NULL,
    proof bytea NOT NULL,
    PRIMARY KEY (name, number)
);

-- Copies of the nodes' ledgers ----------------------------------------------------------------------------------------

-- What each node tells about itself. successor is the node that continues for a node whose ledger was lost. seen_at is
-- the time of the database's clock. licenses counts those of the last five minutes.
CREATE TABLE ledger_node (
    node text COLLATE "C" PRIMARY KEY,
    label text COLLATE "C" NOT NULL,
    successor text COLLATE "C",
    seen_at int8 NOT NULL,
    version text,
    state text,
    licenses int8
);
CREATE INDEX ledger_node_by_label ON ledger_node (label);

-- The rows in the nodes' own encoding, and the batches that seal them.
CREATE TABLE ledger_entry (
    node text COLLATE "C" NOT NULL,
    sequence int8 NOT NULL CHECK (sequence >= 1),
    body bytea NOT NULL,
    PRIMARY KEY (node, sequence)
);
CREATE TABLE ledger_batch (
    node text COLLATE "C" NOT NULL,
    first int8 NOT NULL,
    last int8 NOT NULL CHECK (last >= first),
    at int8 NOT NULL,
    seal bytea NOT NULL,
    PRIMARY KEY (node, first)
);
CREATE INDEX ledger_batch_by_time ON ledger_batch (node, at);

-- Stores new rows and batches. Fails with LK002, and stores nothing, if a row or batch exists with other bytes: two
-- nodes share an id, or a node's ledger was restored to an older state.
CREATE FUNCTION ship_ledger_1(
    in_node text, in_sequences int8[], in_bodies bytea[],
    in_firsts int8[], in_lasts int8[], in_times int8[], in_seals bytea[]
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    differing int8;
BEGIN
    INSERT INTO ledger_entry (node, sequence, body)
        SELECT in_node, sent.sequence, sent.body FROM unnest(in_sequences, in_bodies) AS sent (sequence, body)
        ON CONFLICT DO NOTHING;
    INSERT INTO ledger_batch (node, first, last, at, seal)
        SELECT in_node, sent.first, sent.last, sent.at, sent.seal
        FROM unnest(in_firsts, in_lasts, in_times, in_seals) AS sent (first, last, at, seal)
        ON CONFLICT DO NOTHING;
    SELECT (SELECT count(*) FROM unnest(in_sequences, in_bodies) AS sent (sequence, body)
            JOIN ledger_entry AS kept ON kept.node = in_node AND kept.sequence = sent.sequence
            WHERE kept.body <> sent.body)
        + (SELECT count(*) FROM unnest(in_firsts, in_lasts, in_times, in_seals) AS sent (first, last, at, seal)
            JOIN ledger_batch AS kept ON kept.node = in_node AND kept.first = sent.first
            WHERE (kept.last, kept.at, kept.seal) <> (sent.last, sent.at, sent.seal))
        INTO differing;
    IF differing > 0 THEN RAISE SQLSTATE 'LK002'; END IF;
END $$;

-- Stores again batches and rows that the copy lacks completely or in part. A batch that the copy has in part is
-- replaced, because the node's own ledger may have rolled up its renewals in the meantime. Fails with LK002, and stores
-- nothing, if the copy has one of them with another MAC or another body.
CREATE FUNCTION mend_ledger_1(
    in_node text, in_sequences int8[], in_bodies bytea[],
    in_firsts int8[], in_lasts int8[], in_times int8[], in_seals bytea[]
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM unnest(in_firsts, in_lasts, in_times, in_seals) AS sent (first, last, at, seal)
            JOIN ledger_batch AS kept ON kept.node = in_node AND kept.first = sent.first
            WHERE (kept.last, kept.at, substr(kept.seal, 1, 32)) <> (sent.last, sent.at, substr(sent.seal, 1, 32)))
        OR EXISTS (SELECT FROM unnest(in_sequences, in_bodies) AS sent (sequence, body)
            JOIN ledger_entry AS kept ON kept.node = in_node AND kept.sequence = sent.sequence
            WHERE kept.body <> sent.body)
    THEN RAISE SQLSTATE 'LK002'; END IF;
    DELETE FROM ledger_entry USING unnest(in_firsts, in_lasts) AS sent (first, last)
        WHERE node = in_node AND sequence BETWEEN sent.first AND sent.last;
    DELETE FROM ledger_batch WHERE node = in_node AND first = ANY (in_firsts);
    INSERT INTO ledger_entry (node, sequence, body)
        SELECT in_node, sent.sequence, sent.body FROM unnest(in_sequences, in_bodies) AS sent (sequence, body);
    INSERT INTO ledger_batch (node, first, last, at, seal)
        SELECT in_node, sent.first, sent.last, sent.at, sent.seal
        FROM unnest(in_firsts, in_lasts, in_times, in_seals) AS sent (first, last, at, seal);
END $$;

-- Deletes the batches through a sequence, and stores the beginning that the node has signed in their place. The
-- beginning is the batch whose first sequence is 0. Does nothing if another call has deleted the same or more.
CREATE FUNCTION purge_ledger_1(in_node text, in_through int8, in_at int8, in_seal bytea)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM ledger_batch WHERE node = in_node AND first = 0 AND last >= in_through) THEN RETURN; END IF;
    DELETE FROM ledger_entry WHERE node = in_node AND sequence <= in_through;
    DELETE FROM ledger_batch WHERE node = in_node AND first <= in_through;
    INSERT INTO ledger_batch (node, first, last, at, seal) VALUES (in_node, 0, in_through, in_at, in_seal);
END $$;
