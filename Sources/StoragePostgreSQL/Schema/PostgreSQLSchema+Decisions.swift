import ContentKeys

extension PostgreSQLSchema {
    /// Stores the newest session token that each session has used.
    static let renewalSessions = Migration(number: 2, oldestProgram: 1, script: [table, settleRenewal])

    private static let table = """
        CREATE TABLE renewal_session (
            session bytea PRIMARY KEY,
            generation int8 NOT NULL,
            kept_until int8 NOT NULL
        );
        CREATE INDEX renewal_session_by_end ON renewal_session (kept_until);
        """

    /// Settles a whole decision on a renewal by session token: `settle_1`, and the use of the session token. A session
    /// token is judged before everything but a repeated request. The caller's sorted locks include the session's own
    /// lock.
    static let settleRenewal = """
        CREATE FUNCTION settle_renewal_1(
            in_session bytea, in_generation int8, in_session_kept_until int8,
            \(settleParameters)
            OUT verdict int8, OUT limit_count int8, OUT current_count int8, OUT known_answer bytea
        ) LANGUAGE plpgsql AS $$
        DECLARE
            each_lock int8;
        BEGIN
            FOREACH each_lock IN ARRAY in_locks LOOP
                PERFORM pg_advisory_xact_lock(each_lock);
            END LOOP;
            IF EXISTS (SELECT FROM renewal_session
                    WHERE session = in_session AND kept_until > in_now AND generation > in_generation)
                AND NOT EXISTS (SELECT FROM replay WHERE request = in_request AND kept_until > in_now)
            THEN
                verdict := 7;
                RETURN;
            END IF;
            SELECT done.verdict, done.limit_count, done.current_count, done.known_answer
                INTO verdict, limit_count, current_count, known_answer
                FROM settle_1(
                    in_now, in_locks, in_request, in_request_token, in_retry_until, in_request_kept_until, in_answer,
                    in_token, in_kid, in_use_limit, in_token_kept_until,
                    in_owners, in_devices, in_device_limits, in_devices_kept_until,
                    in_groups, in_slot_limits, in_evicts, in_slot_devices, in_sessions, in_contents, in_confirmed,
                    in_relayed, in_held_until) AS done;
            IF verdict = 0 THEN
                INSERT INTO renewal_session AS known (session, generation, kept_until)
                    VALUES (in_session, in_generation, in_session_kept_until)
                    ON CONFLICT (session) DO UPDATE SET
                        generation = CASE WHEN known.kept_until > in_now
                            THEN greatest(known.generation, excluded.generation) ELSE excluded.generation END,
                        kept_until = greatest(known.kept_until, excluded.kept_until);
            END IF;
        END $$;
        """
}

extension PostgreSQLSchema {
    /// Stores the party whose request was decided, and whether a node's ledger has the entry of the decision.
    ///
    /// A node of the previous version sets neither. Its requests are recognised only by their token, and do not count
    /// as recorded.
    static let retries = Migration(number: 4, oldestProgram: 1, script: [columns, settleFor])

    private static let columns = """
        ALTER TABLE replay ADD COLUMN party bytea, ADD COLUMN is_recorded bool NOT NULL DEFAULT false;
        """

    /// Settles a whole decision: `settle_renewal_1` if there is a session, otherwise `settle_1`. The same request with
    /// another token of the same party is a repetition too. A repetition also returns whether the decision is recorded.
    static let settleFor = """
        CREATE FUNCTION settle_for_1(
            in_party bytea, in_session bytea, in_generation int8, in_session_kept_until int8,
            \(settleParameters)
            OUT verdict int8, OUT limit_count int8, OUT current_count int8, OUT known_answer bytea, OUT was_recorded bool
        ) LANGUAGE plpgsql AS $$
        DECLARE
            known replay%ROWTYPE;
        BEGIN
            IF in_session IS NULL THEN
                SELECT done.verdict, done.limit_count, done.current_count, done.known_answer
                    INTO verdict, limit_count, current_count, known_answer
                    FROM settle_1(
                        in_now, in_locks, in_request, in_request_token, in_retry_until, in_request_kept_until, in_answer,
                        in_token, in_kid, in_use_limit, in_token_kept_until,
                        in_owners, in_devices, in_device_limits, in_devices_kept_until,
                        in_groups, in_slot_limits, in_evicts, in_slot_devices, in_sessions, in_contents, in_confirmed,
                        in_relayed, in_held_until) AS done;
            ELSE
                SELECT done.verdict, done.limit_count, done.current_count, done.known_answer
                    INTO verdict, limit_count, current_count, known_answer
                    FROM settle_renewal_1(
                        in_session, in_generation, in_session_kept_until,
                        in_now, in_locks, in_request, in_request_token, in_retry_until, in_request_kept_until, in_answer,
                        in_token, in_kid, in_use_limit, in_token_kept_until,
                        in_owners, in_devices, in_device_limits, in_devices_kept_until,
                        in_groups, in_slot_limits, in_evicts, in_slot_devices, in_sessions, in_contents, in_confirmed,
                        in_relayed, in_held_until) AS done;
            END IF;
            was_recorded := false;
            IF in_request IS NULL THEN RETURN; END IF;
            IF verdict = 0 THEN
                UPDATE replay SET party = in_party, is_recorded = false WHERE request = in_request;
            ELSIF verdict IN (1, 2) THEN
                SELECT * INTO known FROM replay WHERE request = in_request;
                IF verdict = 2 AND known.party = in_party AND in_now < known.retry_until THEN
                    verdict := 1;
                    known_answer := known.answer;
                END IF;
                was_recorded := known.is_recorded;
            END IF;
        END $$;
        """
}

extension PostgreSQLSchema {
    /// Stores a number of each node, and adds the function that takes back a use whose license was not issued. Nodes
    /// need both to count again.
    static let recounts = Migration(number: 6, oldestProgram: 1, script: [marks, replaceMark, giveBack])

    /// Keeps a use whose request another node has recorded since: that node has given its license.
    static let recordedRequests = Migration(
        number: 13, oldestProgram: 1,
        script: [
            giveBack.changing("give_back_1", to: "give_back_2").changing(
                "AND answer = in_answer;", to: "AND answer = in_answer AND NOT is_recorded;")
        ])

    /// A number that a node increases. If the database has a number, it has everything that the node settled before
    /// that number (`DecisionKeeping`).
    private static let marks = """
        CREATE TABLE node_mark (
            node text COLLATE "C" PRIMARY KEY,
            number int8 NOT NULL
        );
        """

    /// Replaces the number by a larger one, but only if the current number is at least the expected one. Returns the
    /// previous number; 0 if there is none.
    private static let replaceMark = """
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
        """

    /// Deletes a request and takes back one use, if the request has exactly this answer. Returns whether it has. Places
    /// and slots stay, because the device keeps them when it asks again.
    private static let giveBack = """
        CREATE FUNCTION give_back_1(in_locks int8[], in_request bytea, in_answer bytea, in_token bytea, in_kid bytea)
        RETURNS bool LANGUAGE plpgsql AS $$
        DECLARE
            each_lock int8;
        BEGIN
            FOREACH each_lock IN ARRAY in_locks LOOP
                PERFORM pg_advisory_xact_lock(each_lock);
            END LOOP;
            DELETE FROM replay WHERE request = in_request AND answer = in_answer;
            IF NOT FOUND THEN RETURN false; END IF;
            UPDATE token_use SET uses = uses - 1 WHERE token = in_token AND kid = in_kid AND uses > 0;
            RETURN true;
        END $$;
        """
}
