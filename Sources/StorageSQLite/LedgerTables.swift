import ContentKeys
import Records

// The rows of a ledger's tables. Only these two types read and write whole rows, so that a column is named only here
// and in `SQLiteSchema`.
//
//     ledger_entry (sequence, body)                          a row for each entry
//     ledger_batch (first_sequence, last_sequence, at, mac)  a row for each batch; first_sequence 0 is the
//                                                            beginning behind a purge

/// Inserts rows of a ledger. The caller begins and ends the transaction.
struct LedgerInserts: ~Copyable {
    private var insertRow: SQLiteStatement
    private var insertBatch: SQLiteStatement

    init(_ connection: inout SQLiteConnection) {
        insertRow = connection.statement("INSERT INTO ledger_entry (sequence, body) VALUES (?1, ?2)")
        insertBatch = connection.statement(
            "INSERT INTO ledger_batch (first_sequence, last_sequence, at, mac) VALUES (?1, ?2, ?3, ?4)")
    }

    mutating func insert(_ row: LedgerRow) throws(StoreError) {
        defer { insertRow.reset() }
        try insertRow.bind(row.sequence, at: 1)
        try insertRow.bind(row.body, at: 2)
        _ = try insertRow.step()
    }

    mutating func insert(_ batch: LedgerBatch) throws(StoreError) {
        defer { insertBatch.reset() }
        try insertBatch.bind(batch.first, at: 1)
        try insertBatch.bind(batch.last, at: 2)
        try insertBatch.bind(batch.at, at: 3)
        try insertBatch.bind(batch.seal, at: 4)
        _ = try insertBatch.step()
    }

    /// Seals entries as the batch after `link`, and inserts the rows and the batch. `bodies` is not empty.
    mutating func append(
        _ bodies: [[UInt8]], sealedBy chain: LedgerChain, after link: LedgerLink, at time: Int64
    ) throws(StoreError) {
        let batch: LedgerBatch
        do { batch = try chain.seal(bodies, after: link, at: time) } catch { throw .cryptographyFailed }
        for (offset, body) in bodies.enumerated() {
            try insert(LedgerRow(sequence: batch.first + Int64(offset), body: body))
        }
        try insert(batch)
    }
}

/// Reads rows of a ledger on any connection.
struct LedgerSelects: ~Copyable {
    private var batchesForward: SQLiteStatement
    private var batchesBackward: SQLiteStatement
    private var rows: SQLiteStatement

    init(_ connection: inout SQLiteConnection) {
        batchesForward = connection.statement(
            """
            SELECT first_sequence, last_sequence, at, mac FROM ledger_batch
            WHERE first_sequence >= ?1 ORDER BY first_sequence LIMIT ?2
            """)
        batchesBackward = connection.statement(
            """
            SELECT first_sequence, last_sequence, at, mac FROM ledger_batch
            WHERE first_sequence <= ?1 ORDER BY first_sequence DESC LIMIT ?2
            """)
        rows = connection.statement(
            "SELECT sequence, body FROM ledger_entry WHERE sequence BETWEEN ?1 AND ?2 ORDER BY sequence LIMIT ?3")
    }

    /// Returns batches whose first sequence is at least `first`, in ascending order.
    mutating func batches(from first: Int64, limit: Int) throws(StoreError) -> [LedgerBatch] {
        try batchesForward.readBatches(first, limit: limit)
    }

    /// Returns batches whose first sequence is at most `sequence`, in descending order, including the beginning.
    mutating func batches(atOrBefore sequence: Int64, limit: Int) throws(StoreError) -> [LedgerBatch] {
        try batchesBackward.readBatches(sequence, limit: limit)
    }

    /// Returns the link to which the next batch is tied.
    mutating func link() throws(StoreError) -> LedgerLink {
        try batches(atOrBefore: .max, limit: 1).first?.link ?? .start
    }

    /// Returns rows in the order of their sequences.
    mutating func rows(_ range: ClosedRange<Int64>, limit: Int) throws(StoreError) -> [LedgerRow] {
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
}

extension SQLiteStatement {
    fileprivate mutating func readBatches(_ sequence: Int64, limit: Int) throws(StoreError) -> [LedgerBatch] {
        defer { reset() }
        try bind(sequence, at: 1)
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
