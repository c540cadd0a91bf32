import ContentKeys

extension PostgreSQLSchema {
    /// Stores rentals, and the details of devices and playbacks that operators see.
    ///
    /// Nodes of the previous version still call `settle_for_1`. Their slots are in no list until a node of this version
    /// renews them, and they refuse tokens with a rental. The device places that they grant get their times here too.
    static let accounts = Migration(
        number: 9, oldestProgram: 1,
        script: [tables, placeTimes, claimDeviceNoted, settleDenials, settleAccount, endPlayback])

    private static let tables = """
        CREATE TABLE slot_group (
            slot_group bytea PRIMARY KEY,
            owner bytea NOT NULL,
            name text NOT NULL,
            held_until int8 NOT NULL
        );
        CREATE INDEX slot_group_by_owner ON slot_group (owner, slot_group);
        CREATE INDEX slot_group_by_end ON slot_group (held_until);
        CREATE TABLE content_name (
            content bytea PRIMARY KEY,
            name text NOT NULL
        );
        CREATE TABLE rental (
            name bytea PRIMARY KEY,
            owner bytea NOT NULL,
            content text NOT NULL,
            opened_at int8 NOT NULL,
            first_play int8,
            kept_until int8 NOT NULL
        );
        CREATE INDEX rental_by_owner ON rental (owner, name);
        CREATE INDEX rental_by_end ON rental (kept_until);
        """

    /// Places that were granted before this step have no times, and count as the oldest.
    private static let placeTimes = """
        ALTER TABLE device_place ADD COLUMN added_at int8, ADD COLUMN seen_at int8;
        ALTER TABLE device_place ALTER COLUMN added_at SET DEFAULT clock_1(), ALTER COLUMN seen_at SET DEFAULT clock_1();
        """

    /// `claim_device_1` as step 7 defines it, and also stores the time of the last license.
    private static let claimDeviceNoted = byOwnTime(claimDevice, now: "settled_1()").changing(
        "SET kept_until = greatest(kept_until, in_kept_until)",
        to: "SET kept_until = greatest(kept_until, in_kept_until), seen_at = clock_1()")

    /// `settle_1` as step 7 defines it, and also returns the index of a denied device place, counted from 1.
    private static let settleDenials = settleByOwnTime.changing(
        "limit_count := in_device_limits[i];",
        to: "limit_count := in_device_limits[i];\n                current_count := i;")

    private static let callSettleFor = """
                SELECT done.verdict, done.limit_count, done.current_count, done.known_answer, done.was_recorded
                    INTO verdict, limit_count, current_count, known_answer, was_recorded
                    FROM settle_for_1(
                        in_party, in_session, in_generation, in_session_kept_until, in_now, in_locks,
                        in_request, in_request_token, in_retry_until, in_request_kept_until, in_answer,
                        in_token, in_kid, in_use_limit, in_token_kept_until,
                        in_owners, in_devices, in_device_limits, in_devices_kept_until,
                        in_groups, in_slot_limits, in_evicts, in_slot_devices, in_sessions, in_contents, in_confirmed,
                        in_relayed, in_held_until) AS done;
        """

    /// Settles a whole decision: `settle_for_1`, and the parts of a decision that it has no parameters for.
    ///
    /// A repeated request counts as a repetition even if the rental has changed in the meantime. Otherwise the rental
    /// must be the one that the license was computed from. If it is not, the verdict is 8 and the stored rental is
    /// returned. Places are freed only if the whole decision is granted.
    static let settleAccount = """
        CREATE FUNCTION settle_account_1(
            in_rental bytea, in_rental_owner bytea, in_rental_content text, in_known_opened int8, in_known_play int8,
            in_opened int8, in_play int8, in_rental_kept_until int8,
            in_replaces bool[], in_group_owners bytea[], in_group_names text[], in_content_names text[],
            in_party bytea, in_session bytea, in_generation int8, in_session_kept_until int8,
            in_now int8, in_locks int8[],
            in_request bytea, in_request_token bytea, in_retry_until int8, in_request_kept_until int8, in_answer bytea,
            in_token bytea, in_kid bytea, in_use_limit int8, in_token_kept_until int8,
            in_owners bytea[], in_devices bytea[], in_device_limits int8[], in_devices_kept_until int8[],
            in_groups bytea[], in_slot_limits int8[], in_evicts bool[], in_slot_devices bytea[], in_sessions int8[],
            in_contents bytea[], in_confirmed bool[], in_relayed bool[], in_held_until int8[],
            OUT verdict int8, OUT limit_count int8, OUT current_count int8, OUT known_answer bytea, OUT was_recorded bool,
            OUT opened_at int8, OUT first_play int8
        ) LANGUAGE plpgsql AS $$
        DECLARE
            each_lock int8;
            known rental%ROWTYPE;
            is_repetition bool;
            excess int8;
        BEGIN
            FOREACH each_lock IN ARRAY in_locks LOOP
                PERFORM pg_advisory_xact_lock(each_lock);
            END LOOP;
            IF in_rental IS NOT NULL THEN
                is_repetition := EXISTS (
                    SELECT FROM replay WHERE request = in_request AND kept_until > settled_1());
                SELECT * INTO known FROM rental WHERE name = in_rental AND kept_until > settled_1();
                IF NOT is_repetition AND (known.opened_at IS DISTINCT FROM in_known_opened
                    OR known.first_play IS DISTINCT FROM in_known_play)
                THEN
                    verdict := 8;
                    opened_at := known.opened_at;
                    first_play := known.first_play;
                    RETURN;
                END IF;
            END IF;

            IF in_rental IS NULL AND NOT coalesce(true = ANY (in_replaces), false) THEN
        \(callSettleFor)
            ELSE
                BEGIN
                    FOR i IN 1..cardinality(in_owners) LOOP
                        CONTINUE WHEN NOT in_replaces[i] OR in_device_limits[i] < 1 OR EXISTS (
                            SELECT FROM device_place
                                WHERE owner = in_owners[i] AND device = in_devices[i] AND kept_until > settled_1());
                        SELECT count(*) + 1 - in_device_limits[i] INTO excess
                            FROM device_place WHERE owner = in_owners[i] AND kept_until > settled_1();
                        IF excess > 0 THEN
                            DELETE FROM device_place WHERE owner = in_owners[i] AND device IN (
                                SELECT device FROM device_place WHERE owner = in_owners[i] AND kept_until > settled_1()
                                    ORDER BY added_at NULLS FIRST, kept_until, device LIMIT excess);
                        END IF;
                    END LOOP;
        \(callSettleFor)
                    IF verdict <> 0 THEN RAISE SQLSTATE 'LK002'; END IF;
                    IF in_rental IS NOT NULL THEN
                        INSERT INTO rental AS stored (name, owner, content, opened_at, first_play, kept_until)
                            VALUES (in_rental, in_rental_owner, in_rental_content, in_opened, in_play, in_rental_kept_until)
                            ON CONFLICT (name) DO UPDATE SET
                                opened_at = excluded.opened_at, first_play = excluded.first_play,
                                kept_until = CASE WHEN stored.kept_until > settled_1()
                                    THEN greatest(stored.kept_until, excluded.kept_until) ELSE excluded.kept_until END;
                    END IF;
                EXCEPTION WHEN SQLSTATE 'LK002' THEN
                    NULL;
                END;
            END IF;
            IF verdict <> 0 THEN RETURN; END IF;
            FOR i IN 1..cardinality(in_groups) LOOP
                CONTINUE WHEN in_group_owners[i] IS NULL;
                INSERT INTO slot_group AS named (slot_group, owner, name, held_until)
                    VALUES (in_groups[i], in_group_owners[i], in_group_names[i], in_held_until[i])
                    ON CONFLICT (slot_group) DO UPDATE
                        SET held_until = greatest(named.held_until, excluded.held_until);
                INSERT INTO content_name (content, name) VALUES (in_contents[i], in_content_names[i])
                    ON CONFLICT (content) DO NOTHING;
            END LOOP;
        END $$;
        """

    /// Ends a playback: marks its slot as evicted. Returns whether the slot was held.
    private static let endPlayback = """
        CREATE FUNCTION end_playback_1(in_lock int8, in_group bytea, in_id int8) RETURNS bool LANGUAGE plpgsql AS $$
        BEGIN
            PERFORM pg_advisory_xact_lock(in_lock);
            UPDATE slot SET is_evicted = true
                WHERE slot_group = in_group AND id = in_id AND NOT is_evicted AND held_until > clock_1();
            RETURN FOUND;
        END $$;
        """
}
