import ContentKeys

extension PostgreSQLSchema {
    /// Whose request was decided, and whether a node's ledger has its entry.
    ///
    /// A node of the version before sets neither: its requests are known again by their token alone, and are not known
    /// to be recorded.
    static let retries = Migration(number: 4, oldestProgram: 1, script: [columns, settleFor])

    private static let columns = """
        ALTER TABLE replay ADD COLUMN party bytea, ADD COLUMN is_recorded bool NOT NULL DEFAULT false;
        """

    /// A whole decision: `settle_renewal_1` if there is a session, otherwise `settle_1`. The same request of another
    /// token of the same party is a repetition too. With a repetition comes whether it is recorded.
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
