import ContentKeys

extension SQLiteSchema {
    /// Whose request was decided. A program of the versions before does not set it: its requests are known again by
    /// their token alone.
    static let retries = Migration(
        number: 6, oldestProgram: 1,
        script: """
            ALTER TABLE replay ADD COLUMN party BLOB;
            """)

    /// Each change of what is revoked gets the next number, from every program; the newest 100,000 are kept.
    /// `mark` is random.
    ///
    /// The indexes are for look-ups that read a whole table before. `pending_revocation` has what this node has revoked
    /// and the store of all nodes has not taken yet.
    static let revocationChanges = Migration(
        number: 7, oldestProgram: 1,
        script: """
            CREATE TABLE revocation_change (
                number INTEGER NOT NULL PRIMARY KEY,
                mark INTEGER NOT NULL,
                kind TEXT NOT NULL,
                issuer TEXT NOT NULL,
                value TEXT NOT NULL,
                until INTEGER NOT NULL,
                revoked_at INTEGER NOT NULL,
                reason TEXT NOT NULL,
                is_lifted INTEGER NOT NULL
            ) STRICT;
            CREATE TRIGGER revocation_added AFTER INSERT ON revoked BEGIN
                INSERT INTO revocation_change (mark, kind, issuer, value, until, revoked_at, reason, is_lifted)
                    VALUES (random(), NEW.kind, NEW.issuer, NEW.value, NEW.until, NEW.revoked_at, NEW.reason, 0);
                DELETE FROM revocation_change WHERE number <= (SELECT max(number) FROM revocation_change) - 100000;
            END;
            CREATE TRIGGER revocation_replaced AFTER UPDATE ON revoked BEGIN
                INSERT INTO revocation_change (mark, kind, issuer, value, until, revoked_at, reason, is_lifted)
                    VALUES (random(), NEW.kind, NEW.issuer, NEW.value, NEW.until, NEW.revoked_at, NEW.reason, 0);
                DELETE FROM revocation_change WHERE number <= (SELECT max(number) FROM revocation_change) - 100000;
            END;
            CREATE TRIGGER revocation_lifted AFTER DELETE ON revoked BEGIN
                INSERT INTO revocation_change (mark, kind, issuer, value, until, revoked_at, reason, is_lifted)
                    VALUES (random(), OLD.kind, OLD.issuer, OLD.value, OLD.until, OLD.revoked_at, OLD.reason, 1);
                DELETE FROM revocation_change WHERE number <= (SELECT max(number) FROM revocation_change) - 100000;
            END;
            CREATE INDEX revoked_by_time ON revoked (revoked_at);
            CREATE INDEX revoked_by_end ON revoked (until);
            CREATE INDEX asset_alias_by_key ON asset_alias (kid);
            CREATE TABLE pending_revocation (
                kind TEXT NOT NULL,
                issuer TEXT NOT NULL,
                value TEXT NOT NULL,
                until INTEGER NOT NULL,
                revoked_at INTEGER NOT NULL,
                reason TEXT NOT NULL,
                PRIMARY KEY (kind, issuer, value)
            ) STRICT, WITHOUT ROWID;
            """)
}
