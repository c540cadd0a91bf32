-- The schema of a database file of a node, version 1. `SQLiteSchema` runs it once, in one transaction.
--
-- Times are seconds since 1970; 9223372036854775807 means never. A pseudonym is 32 bytes, a key id 16. Scheme, state,
-- content type and the like are the raw values of their Swift types. Each table whose rows end has an index by their
-- end, so that ended rows are found without a scan.

-- "LTCH", in the header of the file.
PRAGMA application_id = 1280590664;

-- A row for each step of the schema that has run. Programs that know fewer than `oldest_program` steps cannot work with
-- the schema. Databases of the time before the first release lack this table.
CREATE TABLE schema_version (
    number INTEGER NOT NULL PRIMARY KEY,
    oldest_program INTEGER NOT NULL
) STRICT;

-- The proofs of the key-encryption keys. A proof shows whether a key is the same one, and is no secret.
CREATE TABLE key_encryption_key (
    version INTEGER NOT NULL PRIMARY KEY,
    proof BLOB NOT NULL
) STRICT;

-- The proofs of the installation's other secrets (`SecretProof`). The number is the version of the secret.
CREATE TABLE secret_proof (
    name TEXT NOT NULL,
    number INTEGER NOT NULL,
    proof BLOB NOT NULL,
    PRIMARY KEY (name, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE content_key (
    kid BLOB NOT NULL PRIMARY KEY CHECK (length(kid) = 16),
    content_id TEXT NOT NULL,
    track_label TEXT,
    period_index INTEGER,
    scheme TEXT NOT NULL,
    state TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    content_type TEXT NOT NULL,
    least_hdcp TEXT,
    least_security_level TEXT,
    key_version INTEGER NOT NULL REFERENCES key_encryption_key (version),
    -- The key and its vector, sealed for this record (`KeySealing`).
    sealed BLOB NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX content_key_by_content ON content_key (content_id, kid);
CREATE INDEX content_key_by_track ON content_key (content_id, track_label, period_index) WHERE state = 'live';
CREATE INDEX content_key_by_period ON content_key (content_id, period_index) WHERE period_index IS NOT NULL;

-- Asset ids, 2 to 200 bytes, and the keys that they name.
CREATE TABLE asset_alias (
    alias BLOB NOT NULL PRIMARY KEY CHECK (length(alias) BETWEEN 2 AND 200),
    kid BLOB NOT NULL REFERENCES content_key (kid)
) STRICT, WITHOUT ROWID;
CREATE INDEX asset_alias_by_key ON asset_alias (kid);

-- The pairs of key id and content id that one asset id may mean (`SpelledName`).
CREATE TABLE key_spelling (
    kid BLOB NOT NULL CHECK (length(kid) = 16),
    content_id TEXT NOT NULL,
    PRIMARY KEY (kid, content_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX key_spelling_by_content ON key_spelling (content_id);

-- Live contents. Without a schedule, the columns from `first_index` to `scheme` are NULL.
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

-- The times of the key periods of live contents.
CREATE TABLE key_period (
    content_id TEXT NOT NULL,
    period_index INTEGER NOT NULL,
    starts_at INTEGER,
    ends_at INTEGER,
    PRIMARY KEY (content_id, period_index)
) STRICT, WITHOUT ROWID;
CREATE INDEX key_period_by_end ON key_period (ends_at) WHERE ends_at IS NOT NULL;

-- The state of accounts, in cells that only `AccountRules` can read (`CellKey`, `CellContents`). Most have less than
-- 1 KiB. `kind` is the raw value of `CellKey.Kind`; `name` and `owner` are pseudonyms.
CREATE TABLE cell (
    kind INTEGER NOT NULL,
    name BLOB NOT NULL CHECK (length(name) = 32),
    -- The subject in whose lists the cell is found; NULL for a cell that is in no list.
    owner BLOB CHECK (length(owner) = 32),
    value BLOB NOT NULL,
    -- When nothing in the cell is valid any more, in hours since 1970, rounded up; 2147483647 means never.
    ends_on INTEGER NOT NULL,
    PRIMARY KEY (kind, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX cell_by_owner ON cell (owner, kind, name) WHERE owner IS NOT NULL;
CREATE INDEX cell_by_end ON cell (ends_on);

-- What is revoked. The issuer is empty if the value does not belong to one issuer.
CREATE TABLE revoked (
    kind TEXT NOT NULL,
    issuer TEXT NOT NULL,
    value TEXT NOT NULL,
    until INTEGER NOT NULL,
    revoked_at INTEGER NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (kind, issuer, value)
) STRICT, WITHOUT ROWID;
CREATE INDEX revoked_by_time ON revoked (revoked_at);
CREATE INDEX revoked_by_end ON revoked (until);

-- The newest 100,000 changes of `revoked`, numbered in their order, whichever program makes them. `mark` is random, so
-- that a number of another database is recognised.
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
END;
CREATE TRIGGER revocation_replaced AFTER UPDATE ON revoked BEGIN
    INSERT INTO revocation_change (mark, kind, issuer, value, until, revoked_at, reason, is_lifted)
        VALUES (random(), NEW.kind, NEW.issuer, NEW.value, NEW.until, NEW.revoked_at, NEW.reason, 0);
END;
CREATE TRIGGER revocation_lifted AFTER DELETE ON revoked BEGIN
    INSERT INTO revocation_change (mark, kind, issuer, value, until, revoked_at, reason, is_lifted)
        VALUES (random(), OLD.kind, OLD.issuer, OLD.value, OLD.until, OLD.revoked_at, OLD.reason, 1);
END;
CREATE TRIGGER revocation_change_added AFTER INSERT ON revocation_change BEGIN
    DELETE FROM revocation_change WHERE number <= NEW.number - 100000;
END;

-- Revocations of this node that are not yet in the store of all nodes.
CREATE TABLE pending_revocation (
    kind TEXT NOT NULL,
    issuer TEXT NOT NULL,
    value TEXT NOT NULL,
    until INTEGER NOT NULL,
    revoked_at INTEGER NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (kind, issuer, value)
) STRICT, WITHOUT ROWID;

-- The random id of the node's ledger, in one row.
CREATE TABLE ledger_node (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    node TEXT NOT NULL
) STRICT;
INSERT INTO ledger_node (id, node) VALUES (1, lower(hex(randomblob(16))));

-- The entries, encoded as `LedgerEntry`. At most 200 bytes of file are meant for each, with its share of a batch.
CREATE TABLE ledger_entry (
    sequence INTEGER NOT NULL PRIMARY KEY,
    body BLOB NOT NULL
) STRICT;

-- The seals of entries that were written together.
CREATE TABLE ledger_batch (
    first_sequence INTEGER NOT NULL PRIMARY KEY,
    last_sequence INTEGER NOT NULL,
    at INTEGER NOT NULL,
    mac BLOB NOT NULL
) STRICT;

-- A purge that the ledger does not state yet, in at most one row: how many rows are gone, and the last sequence.
CREATE TABLE ledger_purge (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    row_count INTEGER NOT NULL,
    through INTEGER NOT NULL
) STRICT;

-- What decisions have spent while the nodes' database may lack it (`DecisionKeeping`). The mark is NULL until the
-- decision is in that database. `body` is `LicenseDecision.encodedSpending()`.
CREATE TABLE kept_decision (
    number INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    mark INTEGER,
    body BLOB NOT NULL
) STRICT;
CREATE INDEX kept_decision_by_mark ON kept_decision (mark, number);

-- A row without meaning, which is written to test whether the disk accepts writes.
CREATE TABLE write_try (
    number INTEGER NOT NULL PRIMARY KEY,
    count INTEGER NOT NULL
) STRICT;

-- The record of the node's clock (`ClockRecord`), in at most one row. The offset is in nanoseconds.
CREATE TABLE clock (
    id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
    settled INTEGER NOT NULL,
    reference INTEGER NOT NULL,
    standing TEXT NOT NULL,
    acceptance INTEGER NOT NULL,
    accepted_offset INTEGER NOT NULL
) STRICT;
