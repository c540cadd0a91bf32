import ContentKeys

extension PostgreSQLSchema {
    /// Which tokens of a session have been used: the latest one.
    static let renewalSessions = Migration(number: 2, oldestProgram: 1, script: [table, settleRenewal])

    private static let table = """
        CREATE TABLE renewal_session (
            session bytea PRIMARY KEY,
            generation int8 NOT NULL,
            kept_until int8 NOT NULL
        );
        CREATE INDEX renewal_session_by_end ON renewal_session (kept_until);
        """

    /// A whole decision on a renewal by session token: `settle_1`, with the use of the session token before everything
    /// but a repetition. The session's own lock is among those that the caller has sorted.
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
