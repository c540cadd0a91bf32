import ContentKeys

extension SQLiteSchema {
    /// Which secrets an installation uses, the id of the node's ledger, what was purged from it and is not stated in it
    /// yet, and each content key's second seal.
    ///
    /// If `bound` is NULL, a version before this one wrote the row. Programs of those versions work on without all
    /// of it.
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
