package import ContentKeys
package import Records

/// Reads the ledger in a node's database file, while the daemon may be writing to it.
///
///     ledger_entry (sequence, body)                        a row for each entry
///     ledger_batch (first_sequence, last_sequence, mac, at)  a row for each batch; first_sequence 0 is the beginning behind a purge
package struct LedgerReader: ~Copyable {
    private var batches: SQLiteStatement
    private var batchesBackward: SQLiteStatement
    private var rows: SQLiteStatement
    private var ends: SQLiteStatement
    private var connection: SQLiteConnection

    /// Opens an existing file for reading. Throws `ledgerMissing` where it holds no ledger.
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
        let batches = try connection.prepare(
            """
            SELECT first_sequence, last_sequence, at, mac FROM ledger_batch
            WHERE first_sequence >= ?1 ORDER BY first_sequence LIMIT ?2
            """)
        let batchesBackward = try connection.prepare(
            """
            SELECT first_sequence, last_sequence, at, mac FROM ledger_batch
            WHERE first_sequence <= ?1 ORDER BY first_sequence DESC LIMIT ?2
            """)
        let rows = try connection.prepare(
            "SELECT sequence, body FROM ledger_entry WHERE sequence BETWEEN ?1 AND ?2 ORDER BY sequence LIMIT ?3")
        let ends = try connection.prepare("SELECT min(sequence), max(sequence) FROM ledger_entry")
        self.batches = batches
        self.batchesBackward = batchesBackward
        self.rows = rows
        self.ends = ends
        self.connection = connection
    }

    /// What is read until `endSnapshot` is of one moment, whatever is written meanwhile.
    mutating func beginSnapshot() throws(StoreError) {
        try connection.execute("BEGIN")
    }

    mutating func endSnapshot() {
        connection.rollBack()
    }

    /// The batches from this first sequence on, in their order; the beginning is no batch.
    package mutating func batches(from first: Int64, limit: Int) throws(StoreError) -> [LedgerBatch] {
        try batches.readBatches(max(first, 1), limit: limit)
    }

    /// The last batch whose first sequence is at most `sequence`; the beginning where there is no other.
    package mutating func batch(atOrBefore sequence: Int64) throws(StoreError) -> LedgerBatch? {
        try batchesBackward.readBatches(sequence, limit: 1).first
    }

    /// What stands in the place of purged batches.
    package mutating func beginning() throws(StoreError) -> LedgerBatch? {
        try batchesBackward.readBatches(0, limit: 1).first
    }

    /// To what the next batch is tied.
    package mutating func link() throws(StoreError) -> LedgerLink {
        try batch(atOrBefore: .max)?.link ?? .start
    }

    /// Rows in the order of their sequences.
    package mutating func rows(
        _ range: ClosedRange<Int64>, limit: Int
    ) throws(StoreError) -> [LedgerRow] {
        defer { rows.reset() }
        try rows.bind(range.lowerBound, at: 1)
        try rows.bind(range.upperBound, at: 2)
        try rows.bind(Int64(limit), at: 3)
        var found: [LedgerRow] = []
        while try rows.step() {
            found.append(LedgerRow(sequence: try rows.integer(at: 0), body: try rows.bytes(at: 1)))
        }
        return found
    }

    /// The first and the last sequence; nil for an empty ledger.
    package mutating func sequences() throws(StoreError) -> ClosedRange<Int64>? {
        defer { ends.reset() }
        guard try ends.step(), !ends.isNull(at: 0) else { return nil }
        let (first, last) = (try ends.integer(at: 0), try ends.integer(at: 1))
        return first...last
    }
}

extension SQLiteStatement {
    fileprivate mutating func readBatches(_ first: Int64, limit: Int) throws(StoreError) -> [LedgerBatch] {
        defer { reset() }
        try bind(first, at: 1)
        try bind(Int64(limit), at: 2)
        var found: [LedgerBatch] = []
        while try step() {
            found.append(
                LedgerBatch(
                    first: try integer(at: 0), last: try integer(at: 1), at: try integer(at: 2), seal: try bytes(at: 3))
            )
        }
        return found
    }
}

extension StorageOpeningError {
    /// Opens what needs the tables of a ledger: without them SQLite cannot prepare a statement, and gives its general error.
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
