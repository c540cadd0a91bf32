import ContentKeys

/// The schema of a database file, step by step.
enum SQLiteSchema {
    typealias Migration = SchemaMigration<StaticString>

    /// "LTCH", in the header of the file.
    static let applicationID: Int64 = 0x4C54_4348

    /// All steps that this program knows.
    static let migrations: [Migration] = [
        contentKeys, keyFloors, decisions, renewalSessions, issuersRevocations, retries,
        revocationChanges, keptDecisions, clock, identities, accounts, keyGeneration, livePeriods,
    ]

    /// Content keys, their aliases, and the key-encryption keys' proofs.
    ///
    /// Key ids, sealed keys and aliases are bytes; scheme and state are the raw values of their types; times are
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

    /// Each content key's own floor.
    ///
    /// The raw values of their types. If content_type is NULL, a version before this one wrote the row: the label
    /// says the type, and a packager's own label has the strictest policy. Programs of that version work on without the
    /// columns, and so without floors.
    static let keyFloors = Migration(
        number: 2, oldestProgram: 1,
        script: """
            ALTER TABLE content_key ADD COLUMN content_type TEXT;
            ALTER TABLE content_key ADD COLUMN least_hdcp TEXT;
            ALTER TABLE content_key ADD COLUMN least_security_level TEXT;
            """)
}
