package import ContentKeys
package import Records

/// Reads the ledger in a node's database file, while the daemon may be writing to it.
package struct LedgerReader: ~Copyable {
    private var tables: LedgerSelects
    private var ends: SQLiteStatement
    private(set) var connection: SQLiteConnection

    /// Opens an existing file for reading. Throws `ledgerMissing` if it holds no ledger.
    package static func open(
        path: String, busyTimeoutMilliseconds: Int32 = 5000
    ) throws(StorageOpeningError) -> LedgerReader {
        try DatabaseFile.checkPermissions(path)
        return try StorageOpeningError.opening(path) { () throws(StoreError) in
            var connection = try SQLiteConnection.open(path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
            try connection.execute("PRAGMA query_only = ON")
            return try LedgerReader(connection)
        }
    }

    init(_ connection: consuming SQLiteConnection) throws(StoreError) {
        // Whole values first and fields after: a value that is not copyable cannot be abandoned half made.
        let tables = try LedgerSelects(&connection)
        // Two look-ups in the tree. Both functions in one SELECT would read every row.
        let ends = try connection.prepare(
            "SELECT (SELECT min(sequence) FROM ledger_entry), (SELECT max(sequence) FROM ledger_entry)")
        self.tables = tables
        self.ends = ends
        self.connection = connection
    }

    /// What is read until `endSnapshot` is of one moment, even if rows are written meanwhile.
    mutating func beginSnapshot() throws(StoreError) {
        try connection.execute("BEGIN")
    }

    mutating func endSnapshot() {
        connection.rollBack()
    }

    /// The batches from this first sequence on, in their order; the beginning is no batch.
    package mutating func batches(from first: Int64, limit: Int) throws(StoreError) -> [LedgerBatch] {
        try tables.batches(from: max(first, 1), limit: limit)
    }

    /// The last batch whose first sequence is at most `sequence`; the beginning if there is no other.
    package mutating func batch(atOrBefore sequence: Int64) throws(StoreError) -> LedgerBatch? {
        try tables.batches(atOrBefore: sequence, limit: 1).first
    }

    /// What stands in the place of purged batches.
    package mutating func beginning() throws(StoreError) -> LedgerBatch? {
        try tables.batches(atOrBefore: 0, limit: 1).first
    }

    /// To what the next batch is tied.
    package mutating func link() throws(StoreError) -> LedgerLink {
        try tables.link()
    }

    /// Rows in the order of their sequences.
    package mutating func rows(_ range: ClosedRange<Int64>, limit: Int) throws(StoreError) -> [LedgerRow] {
        try tables.rows(range, limit: limit)
    }

    /// The first and the last sequence; nil for an empty ledger.
    package mutating func sequences() throws(StoreError) -> ClosedRange<Int64>? {
        defer { ends.reset() }
        guard try ends.step(), !ends.isNull(at: 0) else { return nil }
        let (first, last) = (try ends.integer(at: 0), try ends.integer(at: 1))
        return first...last
    }
}

extension StorageOpeningError {
    /// Opens what needs the tables of a ledger: without them SQLite cannot prepare a statement, and gives its general
    /// error.
    fileprivate static func opening<Result: ~Copyable>(
        _ path: String, _ body: () throws(StoreError) -> Result
    ) throws(StorageOpeningError) -> Result {
        do {
            return try body()
        } catch .unavailable(.other(code: 1)) {
            throw .ledgerMissing(path: path)
        } catch {
            throw .store(error)
        }
    }
}
