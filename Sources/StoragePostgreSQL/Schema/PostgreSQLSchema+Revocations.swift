import ContentKeys

extension PostgreSQLSchema {
    /// Gives each change of revocations the next number, also if another version of the program makes it.
    static let revocationChanges = Migration(number: 5, oldestProgram: 1, script: [table, functions, triggers])

    /// `mark` is random. Only the newest 100,000 changes are kept. The indexes serve look-ups that had to read a whole
    /// table.
    private static let table = """
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
        CREATE INDEX revoked_by_time ON revoked (revoked_at);
        CREATE INDEX revoked_by_end ON revoked (ends_at);
        CREATE INDEX asset_alias_by_key ON asset_alias (kid);
        """

    /// A statement that changes revocations takes one lock before any row, and holds it until its transaction ends.
    /// Numbers therefore become visible in their order: a reader that has seen a number has seen all smaller ones.
    private static let functions = """
        CREATE FUNCTION lock_revocations_1() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            PERFORM pg_advisory_xact_lock('revocation_change'::regclass::oid::int8);
            RETURN NULL;
        END $$;
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
        """

    private static let triggers = """
        CREATE TRIGGER lock_revocations BEFORE INSERT OR UPDATE OR DELETE ON revoked
            FOR EACH STATEMENT EXECUTE FUNCTION lock_revocations_1();
        CREATE TRIGGER note_revocation AFTER INSERT OR UPDATE OR DELETE ON revoked
            FOR EACH ROW EXECUTE FUNCTION note_revocation_1();
        """
}
