import ContentKeys

extension SQLiteSchema {
    /// Rentals, and what operators are told of devices and playbacks.
    ///
    /// Programs of the versions before work on without all of it: they set none of these columns, and their slots are
    /// in no list. They refuse tokens with a rental.
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
