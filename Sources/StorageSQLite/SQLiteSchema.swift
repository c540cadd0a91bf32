import ContentKeys

/// The schema of a database file, as a list of migration steps.
enum SQLiteSchema {
    typealias Migration = SchemaMigration<StaticString>

    /// "LTCH", in the header of the file.
    static let applicationID: Int64 = 0x4C54_4348

    /// All steps that this program can run.
    static let migrations: [Migration] = [
        contentKeys, keyFloors, decisions, renewalSessions, issuersRevocations, retries,
        revocationChanges, keptDecisions, clock, identities, accounts, keyGeneration, livePeriods, keySpellings,
    ]

    /// Stores content keys, their aliases, and the proofs of the key-encryption keys.
    ///
    /// Key ids, sealed keys and aliases are bytes. Scheme and state are the raw values of their types. Times are
    /// seconds since 1970.
    static let contentKeys = Migration(
        number: 1, oldestProgram: 1,
        script: """
            CREATE TABLE key_encryption_key (
                version INTEGER NOT NULL PRIMARY KEY,
                proof BLOB NOT NULL
            ) STRICT;
            CREATE TABLE content_key (
                kid BLOB NOT NULL PRIMARY KEY CHECK (length(kid) = 16),
                content_id TEXT NOT NULL,
                track_label TEXT,
                period_index INTEGER,
                scheme TEXT NOT NULL,
                state TEXT NOT NULL,
                created_at INTEGER NOT NULL,
                key_version INTEGER NOT NULL REFERENCES key_encryption_key (version),
                sealed BLOB NOT NULL
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX content_key_by_content ON content_key (content_id, kid);
            CREATE TABLE asset_alias (
                alias BLOB NOT NULL PRIMARY KEY CHECK (length(alias) BETWEEN 2 AND 200),
                kid BLOB NOT NULL REFERENCES content_key (kid)
            ) STRICT, WITHOUT ROWID;
            """)

    /// Adds each content key's own floor.
    ///
    /// The columns hold the raw values of their types. If `content_type` is NULL, an older version wrote the row. The
    /// content type then follows from the track label, and a label that is not predefined gets the strictest policy.
    /// Programs of the older version work without the columns, and so without floors.
    /// columns, and so without floors.
    static let keyFloors = Migration(
        number: 2, oldestProgram: 1,
        script: """
            ALTER TABLE content_key ADD COLUMN content_type TEXT;
            ALTER TABLE content_key ADD COLUMN least_hdcp TEXT;
            ALTER TABLE content_key ADD COLUMN least_security_level TEXT;
            """)
}

extension SQLiteSchema {
    /// Adds the party whose request was decided. Programs of older versions do not set it, and recognise a repeated
    /// request only by its token.
    static let retries = Migration(
        number: 6, oldestProgram: 1,
        script: """
            ALTER TABLE replay ADD COLUMN party BLOB;
            """)

    /// Gives each change of revocations the next number, also if another program makes it. The newest 100,000 changes
    /// are kept. `mark` is random.
    ///
    /// The indexes serve look-ups that had to read a whole table. `pending_revocation` holds revocations of this node
    /// that are not yet in the store of all nodes.
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

extension SQLiteSchema {
    /// Stores rentals, and the details of devices and playbacks that operators see.
    ///
    /// Programs of older versions work without all of it. They do not set these columns, their slots are missing in
    /// lists, and they refuse tokens with a rental.
    static let accounts = Migration(
        number: 11, oldestProgram: 1,
        script: """
            ALTER TABLE device ADD COLUMN added_at INTEGER;
            ALTER TABLE device ADD COLUMN seen_at INTEGER;
            CREATE TABLE slot_group (
                playback_group BLOB NOT NULL PRIMARY KEY CHECK (length(playback_group) = 32),
                owner BLOB NOT NULL CHECK (length(owner) = 32),
                name TEXT NOT NULL,
                held_until INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX slot_group_by_owner ON slot_group (owner, playback_group);
            CREATE INDEX slot_group_by_end ON slot_group (held_until);
            CREATE TABLE content_name (
                content BLOB NOT NULL PRIMARY KEY CHECK (length(content) = 32),
                name TEXT NOT NULL
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE rental (
                name BLOB NOT NULL PRIMARY KEY CHECK (length(name) = 32),
                owner BLOB NOT NULL CHECK (length(owner) = 32),
                content TEXT NOT NULL,
                opened_at INTEGER NOT NULL,
                first_play INTEGER,
                kept_until INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX rental_by_owner ON rental (owner, name);
            CREATE INDEX rental_by_end ON rental (kept_until);
            ALTER TABLE kept_decision ADD COLUMN additions BLOB;
            """)
}

extension SQLiteSchema {
    /// Stores the proofs of an installation's secrets, the id of the node's ledger, and purges that the ledger does not
    /// state yet. Adds the second seal of content keys.
    ///
    /// If `bound` is NULL, an older version wrote the row. Programs of older versions work without all of it.
    static let identities = Migration(
        number: 10, oldestProgram: 1,
        script: """
            CREATE TABLE secret_proof (
                name TEXT NOT NULL,
                number INTEGER NOT NULL,
                proof BLOB NOT NULL,
                PRIMARY KEY (name, number)
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE ledger_node (
                id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
                node TEXT NOT NULL
            ) STRICT;
            CREATE TABLE ledger_purge (
                id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
                row_count INTEGER NOT NULL,
                through INTEGER NOT NULL
            ) STRICT;
            ALTER TABLE content_key ADD COLUMN bound BLOB;
            """)
}

extension SQLiteSchema {
    /// Adds an index that finds the key of a track, and the table `key_generation`, in which only earlier programs
    /// count random keys.
    static let keyGeneration = Migration(
        number: 12, oldestProgram: 1,
        script: """
            CREATE TABLE key_generation (
                id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
                installation BLOB CHECK (length(installation) = 16),
                number INTEGER NOT NULL CHECK (number >= 0)
            ) STRICT;
            INSERT INTO key_generation (id, number) SELECT 1, count(*) FROM content_key;
            CREATE INDEX content_key_by_track ON content_key (content_id, track_label, period_index)
                WHERE state = 'live';
            """)
}

extension SQLiteSchema {
    /// Stores live contents and the times of their key periods.
    ///
    /// If a content has no schedule, the columns from `first_index` to `scheme` are NULL. Times are seconds since
    /// 1970. Programs of older versions work without all of it: they serve every period, and make no periods by
    /// themselves.
    static let livePeriods = Migration(
        number: 13, oldestProgram: 1,
        script: """
            CREATE TABLE live_content (
                content_id TEXT NOT NULL PRIMARY KEY,
                window_periods INTEGER NOT NULL,
                revision INTEGER NOT NULL,
                ended_at INTEGER,
                first_index INTEGER,
                first_start INTEGER,
                period_seconds INTEGER,
                periods_ahead INTEGER,
                tracks TEXT,
                scheme TEXT
            ) STRICT, WITHOUT ROWID;
            CREATE TABLE key_period (
                content_id TEXT NOT NULL,
                period_index INTEGER NOT NULL,
                starts_at INTEGER,
                ends_at INTEGER,
                PRIMARY KEY (content_id, period_index)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX key_period_by_end ON key_period (ends_at) WHERE ends_at IS NOT NULL;
            CREATE INDEX content_key_by_period ON content_key (content_id, period_index) WHERE period_index IS NOT NULL;
            """)
}

extension SQLiteSchema {
    /// Stores the pairs of `SpelledName`. The step also notes the pairs of all keys and contents that exist.
    ///
    /// Programs of older versions store keys without their pairs, and check none.
    static let keySpellings = Migration(
        number: 14, oldestProgram: 1,
        script: """
            CREATE TABLE key_spelling (
                kid BLOB NOT NULL CHECK (length(kid) = 16),
                content_id TEXT NOT NULL,
                PRIMARY KEY (kid, content_id)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX key_spelling_by_content ON key_spelling (content_id);
            """)
}
