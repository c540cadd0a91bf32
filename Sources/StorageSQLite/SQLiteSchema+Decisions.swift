import ContentKeys

extension SQLiteSchema {
    /// What licence decisions spend, what is revoked, and the node's ledger.
    ///
    /// Pseudonyms are 32 bytes; a key id is 16; times are seconds since 1970, and the largest integer is never. What
    /// ends has an index by its end, so that what has ended is found and forgotten. Programs of the versions before
    /// work on without any of it.
    static let decisions = Migration(
        number: 3, oldestProgram: 1,
        script: """
            CREATE TABLE replay (
                number INTEGER NOT NULL PRIMARY KEY,
                request BLOB NOT NULL UNIQUE CHECK (length(request) = 32),
                token BLOB NOT NULL CHECK (length(token) = 32),
                retry_until INTEGER NOT NULL,
                kept_until INTEGER NOT NULL,
                answer BLOB NOT NULL
            ) STRICT;
            CREATE INDEX replay_by_end ON replay (kept_until);

            CREATE TABLE token_use (
                token BLOB NOT NULL CHECK (length(token) = 32),
                kid BLOB NOT NULL CHECK (length(kid) = 16),
                uses INTEGER NOT NULL,
                kept_until INTEGER NOT NULL,
                PRIMARY KEY (token, kid)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX token_use_by_end ON token_use (kept_until);

            CREATE TABLE device (
                owner BLOB NOT NULL CHECK (length(owner) = 32),
                device BLOB NOT NULL CHECK (length(device) = 32),
                kept_until INTEGER NOT NULL,
                PRIMARY KEY (owner, device)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX device_by_end ON device (kept_until) WHERE kept_until < 9223372036854775807;

            -- A playback is its session's 8 bytes, or its content's 32. The smaller the number, the older the slot.
            CREATE TABLE slot (
                playback_group BLOB NOT NULL CHECK (length(playback_group) = 32),
                number INTEGER NOT NULL,
                device BLOB NOT NULL CHECK (length(device) = 32),
                playback BLOB NOT NULL,
                content BLOB NOT NULL CHECK (length(content) = 32),
                is_counted INTEGER NOT NULL,
                is_confirmed INTEGER NOT NULL,
                held_until INTEGER NOT NULL,
                PRIMARY KEY (playback_group, number)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX slot_by_end ON slot (held_until);
            CREATE TABLE evicted_slot (
                playback_group BLOB NOT NULL CHECK (length(playback_group) = 32),
                device BLOB NOT NULL CHECK (length(device) = 32),
                playback BLOB NOT NULL,
                held_until INTEGER NOT NULL,
                PRIMARY KEY (playback_group, device, playback)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX evicted_slot_by_end ON evicted_slot (held_until);

            CREATE TABLE challenge (
                holder BLOB NOT NULL CHECK (length(holder) = 32),
                challenge INTEGER NOT NULL,
                expires_at INTEGER NOT NULL,
                PRIMARY KEY (holder, challenge)
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX challenge_by_end ON challenge (expires_at);

            CREATE TABLE revocation (
                kind TEXT NOT NULL,
                value TEXT NOT NULL,
                until INTEGER NOT NULL,
                revoked_at INTEGER NOT NULL,
                reason TEXT NOT NULL,
                PRIMARY KEY (kind, value)
            ) STRICT, WITHOUT ROWID;

            CREATE TABLE ledger_entry (
                sequence INTEGER NOT NULL PRIMARY KEY,
                body BLOB NOT NULL
            ) STRICT;
            CREATE TABLE ledger_batch (
                first_sequence INTEGER NOT NULL PRIMARY KEY,
                last_sequence INTEGER NOT NULL,
                at INTEGER NOT NULL,
                mac BLOB NOT NULL
            ) STRICT;
            """)

    /// Which tokens of a session have been used: the latest one. Programs of the versions before work on without it,
    /// and renew nothing by session tokens.
    static let renewalSessions = Migration(
        number: 4, oldestProgram: 1,
        script: """
            CREATE TABLE renewal_session (
                session BLOB NOT NULL PRIMARY KEY CHECK (length(session) = 32),
                generation INTEGER NOT NULL,
                kept_until INTEGER NOT NULL
            ) STRICT, WITHOUT ROWID;
            CREATE INDEX renewal_session_by_end ON renewal_session (kept_until);
            """)

    /// Revocations of names that are an issuer's own; the issuer is empty for all others.
    ///
    /// No program has written to the table of the step before, which goes in a later step.
    static let issuersRevocations = Migration(
        number: 5, oldestProgram: 1,
        script: """
            CREATE TABLE revoked (
                kind TEXT NOT NULL,
                issuer TEXT NOT NULL,
                value TEXT NOT NULL,
                until INTEGER NOT NULL,
                revoked_at INTEGER NOT NULL,
                reason TEXT NOT NULL,
                PRIMARY KEY (kind, issuer, value)
            ) STRICT, WITHOUT ROWID;
            """)

    /// What decisions spend, beside the ledger of a node among many, and a row to write for a try whether the disk
    /// takes writes.
    ///
    /// The mark is NULL while the decision is owed to the nodes' database (`DecisionKeeping`).
    static let keptDecisions = Migration(
        number: 8, oldestProgram: 1,
        script: """
            CREATE TABLE kept_decision (
                number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
                mark INTEGER,
                body BLOB NOT NULL
            ) STRICT;
            CREATE INDEX kept_decision_by_mark ON kept_decision (mark, number);
            CREATE TABLE write_try (
                number INTEGER NOT NULL PRIMARY KEY,
                count INTEGER NOT NULL
            ) STRICT;
            """)

    /// What the node knows of its clock (`ClockRecord`), in one row at most. Programs of the versions before work on
    /// without it.
    static let clock = Migration(
        number: 9, oldestProgram: 1,
        script: """
            CREATE TABLE clock (
                id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
                settled INTEGER NOT NULL,
                reference INTEGER NOT NULL,
                standing TEXT NOT NULL,
                acceptance INTEGER NOT NULL,
                accepted_offset INTEGER NOT NULL
            ) STRICT;
            """)
}
