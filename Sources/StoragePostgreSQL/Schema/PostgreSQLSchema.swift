import ContentKeys

/// The schema of a database, as a list of migration steps. If a function must change, it gets a new name.
enum PostgreSQLSchema {
    /// The scripts of a step run with the installation's schema as the only one in the search path.
    typealias Migration = SchemaMigration<[String]>

    /// All steps that this program can run.
    static let migrations: [Migration] = [
        first, renewalSessions, issuersRevocations, retries, revocationChanges, recounts, ownTime, identities, accounts,
        keyProvision, livePeriods, keySpellings, recordedRequests, nodeReports,
    ]

    /// Stores content keys, shared state, and the shipped copies of the nodes' ledgers.
    private static let first = Migration(
        number: 1, oldestProgram: 1,
        script: [contentKeys, sharedState, claimDevice, claimSlot, settle, challenges + "\n" + openChallenge, ledger])

    /// Stores revocations with the issuer whose name is revoked. The issuer is empty if the name does not belong to one
    /// issuer. No program has written to the table `revocation` of step 1, which still exists.
    private static let issuersRevocations = Migration(
        number: 3, oldestProgram: 1,
        script: [
            """
            CREATE TABLE revoked (
                kind text COLLATE "C" NOT NULL,
                issuer text COLLATE "C" NOT NULL,
                value text COLLATE "C" NOT NULL,
                ends_at int8,
                revoked_at int8 NOT NULL,
                reason text NOT NULL,
                PRIMARY KEY (kind, issuer, value)
            );
            """
        ])
}

extension PostgreSQLSchema {
    /// The same tables as in SQLite. Key ids, sealed keys and aliases are bytes. Scheme, state and floors are the raw
    /// values of their types. Times are seconds since 1970. Texts are ordered by their bytes.
    private static let contentKeys = """
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
            content_type text,
            least_hdcp text,
            least_security_level text,
            key_version int8 NOT NULL REFERENCES key_encryption_key (version),
            sealed bytea NOT NULL
        );
        CREATE INDEX content_key_by_content ON content_key (content_id, kid);
        CREATE TABLE asset_alias (
            alias bytea PRIMARY KEY CHECK (length(alias) BETWEEN 2 AND 200),
            kid bytea NOT NULL REFERENCES content_key (kid)
        );
        """

    /// The state that all nodes share. Pseudonyms are 32 bytes; times are seconds since 1970.
    ///
    /// Rows of one device owner, token, request or slot group are changed under an advisory lock, whose number is the
    /// first eight bytes of its pseudonym. Counting rows therefore needs no further locks. `age` orders slots by the
    /// time at which they began to count; it is NULL for a slot that is not counted. `claimed` orders slots by their
    /// last claim. Both numbers come from one sequence.
    private static let sharedState = """
        CREATE TABLE replay (
            request bytea PRIMARY KEY,
            token bytea NOT NULL,
            retry_until int8 NOT NULL,
            kept_until int8 NOT NULL,
            answer bytea NOT NULL
        );
        CREATE INDEX replay_by_end ON replay (kept_until);
        CREATE TABLE token_use (
            token bytea NOT NULL,
            kid bytea NOT NULL,
            uses int8 NOT NULL,
            kept_until int8 NOT NULL,
            PRIMARY KEY (token, kid)
        );
        CREATE INDEX token_use_by_end ON token_use (kept_until);
        CREATE TABLE device_place (
            owner bytea NOT NULL,
            device bytea NOT NULL,
            kept_until int8 NOT NULL,
            PRIMARY KEY (owner, device)
        );
        CREATE INDEX device_place_by_end ON device_place (kept_until);
        CREATE SEQUENCE slot_order;
        CREATE TABLE slot (
            id int8 GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
            slot_group bytea NOT NULL,
            device bytea NOT NULL,
            session int8,
            content bytea NOT NULL,
            is_confirmed bool NOT NULL,
            is_evicted bool NOT NULL DEFAULT false,
            age int8,
            claimed int8 NOT NULL,
            held_until int8 NOT NULL
        );
        CREATE INDEX slot_by_group ON slot (slot_group);
        CREATE INDEX slot_by_end ON slot (held_until);
        CREATE TABLE revocation (
            kind text COLLATE "C" NOT NULL,
            value text COLLATE "C" NOT NULL,
            ends_at int8,
            revoked_at int8 NOT NULL,
            reason text NOT NULL,
            PRIMARY KEY (kind, value)
        );
        """

    /// Claims one device place. Returns whether it is granted.
    static let claimDevice = """
        CREATE FUNCTION claim_device_1(
            in_now int8, in_owner bytea, in_device bytea, in_limit int8, in_kept_until int8
        ) RETURNS bool LANGUAGE plpgsql AS $$
        BEGIN
            DELETE FROM device_place WHERE owner = in_owner AND kept_until <= in_now;
            UPDATE device_place SET kept_until = greatest(kept_until, in_kept_until)
                WHERE owner = in_owner AND device = in_device;
            IF FOUND THEN RETURN true; END IF;
            IF (SELECT count(*) FROM device_place WHERE owner = in_owner) >= in_limit THEN RETURN false; END IF;
            INSERT INTO device_place (owner, device, kept_until) VALUES (in_owner, in_device, in_kept_until);
            RETURN true;
        END $$;
        """

    /// Makes one slot claim. The numbers in the comments are those of the rules of `SlotClaim`.
    ///
    /// The verdict is a number of `SettleVerdict`. With `slotsFull`, `current_count` is the number of counted slots.
    static let claimSlot = """
        CREATE FUNCTION claim_slot_1(
            in_now int8, in_group bytea, in_limit int8, in_evicts bool, in_device bytea, in_session int8, in_content bytea,
            in_confirmed bool, in_relayed bool, in_held_until int8,
            OUT verdict int8, OUT current_count int8
        ) LANGUAGE plpgsql AS $$
        DECLARE
            found_slot slot%ROWTYPE;
            holder bytea := in_device;
            new_age int8;
            counted int8;
            own int8;
            beside int8;
            holds_confirmed bool;
            excess int8;
        BEGIN
            verdict := 0;
            DELETE FROM slot WHERE slot_group = in_group AND held_until <= in_now;

            -- 1. A slot of this playback is taken up again, or was evicted.
            SELECT * INTO found_slot FROM slot
                WHERE slot_group = in_group AND device = in_device AND session IS NOT DISTINCT FROM in_session
                    AND (in_session IS NOT NULL OR content = in_content)
                ORDER BY is_evicted DESC LIMIT 1;
            IF found_slot.is_evicted THEN
                verdict := 6;
                RETURN;
            END IF;
            -- 2. A relayed playback joins one of the same content.
            IF found_slot.id IS NULL AND in_relayed THEN
                SELECT * INTO found_slot FROM slot
                    WHERE slot_group = in_group AND content = in_content AND NOT is_evicted
                    ORDER BY age NULLS LAST, claimed LIMIT 1;
            END IF;
            -- 3. Another playback of the same device and content takes over.
            IF found_slot.id IS NULL THEN
                SELECT * INTO found_slot FROM slot
                    WHERE slot_group = in_group AND content = in_content AND device = in_device AND NOT is_evicted
                    ORDER BY age NULLS LAST, claimed LIMIT 1;
            END IF;
            IF found_slot.id IS NOT NULL THEN
                holder := found_slot.device;
                new_age := found_slot.age;
            END IF;

            IF new_age IS NULL THEN
                SELECT count(*) FILTER (WHERE age IS NOT NULL), count(*) FILTER (WHERE age IS NOT NULL AND device = holder),
                        count(*) FILTER (WHERE age IS NULL AND device = holder),
                        coalesce(bool_or(is_confirmed AND device = holder), false)
                    INTO counted, own, beside, holds_confirmed
                    FROM slot WHERE slot_group = in_group AND NOT is_evicted AND id IS DISTINCT FROM found_slot.id;
                -- 4. A provisional claim beside a confirmed slot counts nothing.
                IF in_confirmed OR NOT holds_confirmed OR beside >= in_limit THEN
                    -- 5. to 7. As many as it takes make room: the device's own first, then others' where that is the rule.
                    excess := counted + 1 - in_limit;
                    IF excess > own AND NOT in_evicts THEN
                        verdict := 5;
                        current_count := counted;
                        RETURN;
                    END IF;
                    IF excess > 0 THEN
                        UPDATE slot SET is_evicted = true WHERE id IN (
                            SELECT id FROM slot
                                WHERE slot_group = in_group AND NOT is_evicted AND age IS NOT NULL
                                    AND id IS DISTINCT FROM found_slot.id
                                ORDER BY device <> holder, age LIMIT excess);
                    END IF;
                    new_age := nextval('slot_order');
                END IF;
            END IF;

            IF found_slot.id IS NULL THEN
                INSERT INTO slot
                    (slot_group, device, session, content, is_confirmed, age, claimed, held_until)
                    VALUES (in_group, in_device, in_session, in_content, in_confirmed, new_age, nextval('slot_order'),
                        in_held_until);
            ELSE
                UPDATE slot SET content = in_content, is_confirmed = is_confirmed OR in_confirmed, age = new_age,
                        session = CASE WHEN device = in_device THEN in_session ELSE session END,
                        claimed = nextval('slot_order'), held_until = greatest(held_until, in_held_until)
                    WHERE id = found_slot.id;
            END IF;
        END $$;
        """

    /// The parameters of a decision for `settle_1` and the functions around it. Lines after the first are indented as
    /// in those functions.
    static let settleParameters = """
        in_now int8, in_locks int8[],
            in_request bytea, in_request_token bytea, in_retry_until int8, in_request_kept_until int8, in_answer bytea,
            in_token bytea, in_kid bytea, in_use_limit int8, in_token_kept_until int8,
            in_owners bytea[], in_devices bytea[], in_device_limits int8[], in_devices_kept_until int8[],
            in_groups bytea[], in_slot_limits int8[], in_evicts bool[], in_slot_devices bytea[], in_sessions int8[],
            in_contents bytea[], in_confirmed bool[], in_relayed bool[], in_held_until int8[],
        """

    /// Settles a whole decision. Takes the locks in the given order, which the caller has sorted. Then settles replay,
    /// token use, devices and slots, in the order of `DecisionStore.commit`. A denial undoes all earlier changes. The
    /// request or token is NULL if the decision has none.
    static let settle = """
        CREATE FUNCTION settle_1(
            \(settleParameters)
            OUT verdict int8, OUT limit_count int8, OUT current_count int8, OUT known_answer bytea
        ) LANGUAGE plpgsql AS $$
        DECLARE
            each_lock int8;
            known replay%ROWTYPE;
            spent token_use%ROWTYPE;
        BEGIN
            FOREACH each_lock IN ARRAY in_locks LOOP
                PERFORM pg_advisory_xact_lock(each_lock);
            END LOOP;

            IF in_request IS NOT NULL THEN
                SELECT * INTO known FROM replay WHERE request = in_request;
                IF known.kept_until > in_now THEN
                    IF known.token = in_request_token AND in_now < known.retry_until THEN
                        verdict := 1;
                        known_answer := known.answer;
                    ELSE
                        verdict := 2;
                    END IF;
                    RETURN;
                END IF;
            END IF;

            BEGIN
                IF in_request IS NOT NULL THEN
                    INSERT INTO replay (request, token, retry_until, kept_until, answer)
                        VALUES (in_request, in_request_token, in_retry_until, in_request_kept_until, in_answer)
                        ON CONFLICT (request) DO UPDATE SET token = excluded.token, retry_until = excluded.retry_until,
                            kept_until = excluded.kept_until, answer = excluded.answer;
                END IF;

                IF in_token IS NOT NULL THEN
                    SELECT * INTO spent FROM token_use WHERE token = in_token AND kid = in_kid;
                    IF spent.kept_until > in_now THEN
                        IF spent.uses >= in_use_limit THEN
                            verdict := 3;
                            limit_count := in_use_limit;
                            RAISE SQLSTATE 'LK001';
                        END IF;
                        UPDATE token_use SET uses = uses + 1, kept_until = greatest(kept_until, in_token_kept_until)
                            WHERE token = in_token AND kid = in_kid;
                    ELSE
                        INSERT INTO token_use (token, kid, uses, kept_until)
                            VALUES (in_token, in_kid, 1, in_token_kept_until)
                            ON CONFLICT (token, kid) DO UPDATE SET uses = 1, kept_until = excluded.kept_until;
                    END IF;
                END IF;

                FOR i IN 1..cardinality(in_owners) LOOP
                    IF NOT claim_device_1(
                        in_now, in_owners[i], in_devices[i], in_device_limits[i], in_devices_kept_until[i])
                    THEN
                        verdict := 4;
                        limit_count := in_device_limits[i];
                        RAISE SQLSTATE 'LK001';
                    END IF;
                END LOOP;

                FOR i IN 1..cardinality(in_groups) LOOP
                    SELECT claim.verdict, claim.current_count INTO verdict, current_count
                        FROM claim_slot_1(
                            in_now, in_groups[i], in_slot_limits[i], in_evicts[i], in_slot_devices[i], in_sessions[i],
                            in_contents[i], in_confirmed[i], in_relayed[i], in_held_until[i]) AS claim;
                    IF verdict <> 0 THEN
                        limit_count := in_slot_limits[i];
                        RAISE SQLSTATE 'LK001';
                    END IF;
                END LOOP;

                verdict := 0;
            EXCEPTION WHEN SQLSTATE 'LK001' THEN
                NULL;
            END;
        END $$;
        """

    private static let challenges = """
        CREATE TABLE challenge (
            holder bytea NOT NULL,
            number int8 NOT NULL,
            expires_at int8 NOT NULL,
            PRIMARY KEY (holder, number)
        );
        CREATE INDEX challenge_by_end ON challenge (expires_at);
        """

    static let openChallenge = """
        CREATE FUNCTION open_challenge_1(
            in_lock int8, in_number int8, in_holder bytea, in_now int8, in_expires_at int8, in_limit int8
        ) RETURNS bool LANGUAGE plpgsql AS $$
        BEGIN
            PERFORM pg_advisory_xact_lock(in_lock);
            DELETE FROM challenge WHERE holder = in_holder AND expires_at <= in_now;
            IF (SELECT count(*) FROM challenge WHERE holder = in_holder) >= in_limit THEN RETURN false; END IF;
            INSERT INTO challenge (holder, number, expires_at) VALUES (in_holder, in_number, in_expires_at)
                ON CONFLICT DO NOTHING;
            RETURN FOUND;
        END $$;
        """

    /// The rows of all nodes' ledgers in the nodes' own encoding, and the batches that seal them.
    ///
    /// `ship_ledger_1` stores new rows and batches. It fails with LK002, and stores nothing, if a row or batch exists
    /// with other bytes: two nodes share an id, or a node's ledger was restored to an older state.
    private static let ledger = """
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
        """
}
