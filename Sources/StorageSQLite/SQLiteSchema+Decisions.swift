import ContentKeys

extension SQLiteSchema {
    /// Stores what license decisions spend, revocations, and the node's ledger.
    ///
    /// Pseudonyms are 32 bytes; a key id is 16. Times are seconds since 1970; the largest integer means never. Tables
    /// whose rows end have an index by their end, so that ended rows are found and deleted quickly. Programs of older
    /// versions work without these tables.
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

    /// Stores the newest session token that each session has used. Programs of older versions work without it, and
    /// renew nothing by session tokens.
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

    /// Stores revocations with the issuer whose name is revoked. The issuer is empty if the name does not belong to one
    /// issuer.
    ///
    /// No program has written to the table `revocation` of step 3, which still exists.
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

    /// Stores what decisions spend, beside the ledger of a node that shares a database with others. A row of
    /// `write_try` is written to test whether the disk accepts writes.
    ///
    /// The mark is NULL until the decision is written to the nodes' shared database (`DecisionKeeping`).
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

    /// Stores the record of the node's clock (`ClockRecord`), in at most one row. Programs of older versions work
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
