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
    private var insertRow, insertBatch: SQLiteStatement

    static func prepare(on connection: inout SQLiteConnection) throws(StoreError) -> LedgerInserts {
        try LedgerInserts(
            insertRow: connection.prepare("INSERT INTO ledger_entry (sequence, body) VALUES (?1, ?2)"),
            insertBatch: connection.prepare(
                "INSERT INTO ledger_batch (first_sequence, last_sequence, at, mac) VALUES (?1, ?2, ?3, ?4)"))
    }

    mutating func insert(_ row: LedgerRow) throws(StoreError) {
        try insertRow.run(row.sequence, row.body)
    }

    mutating func insert(_ batch: LedgerBatch) throws(StoreError) {
        try insertBatch.run(batch.first, batch.last, batch.at, batch.seal)
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
    private var batchesForward, batchesBackward, rows: SQLiteStatement

    static func prepare(on connection: inout SQLiteConnection) throws(StoreError) -> LedgerSelects {
        try LedgerSelects(
            batchesForward: connection.prepare(
                """
                SELECT first_sequence, last_sequence, at, mac FROM ledger_batch
                WHERE first_sequence >= ?1 ORDER BY first_sequence LIMIT ?2
                """),
            batchesBackward: connection.prepare(
                """
                SELECT first_sequence, last_sequence, at, mac FROM ledger_batch
                WHERE first_sequence <= ?1 ORDER BY first_sequence DESC LIMIT ?2
                """),
            rows: connection.prepare(
                "SELECT sequence, body FROM ledger_entry WHERE sequence BETWEEN ?1 AND ?2 ORDER BY sequence LIMIT ?3"))
    }

    /// Returns batches whose first sequence is at least `first`, in ascending order.
    mutating func batches(from first: Int64, limit: Int) throws(StoreError) -> [LedgerBatch] {
        try batchesForward.rows(first, limit, read: LedgerBatch.init(reading:))
    }

    /// Returns batches whose first sequence is at most `sequence`, in descending order, including the beginning.
    mutating func batches(atOrBefore sequence: Int64, limit: Int) throws(StoreError) -> [LedgerBatch] {
        try batchesBackward.rows(sequence, limit, read: LedgerBatch.init(reading:))
    }

    /// Returns the link to which the next batch is tied.
    mutating func link() throws(StoreError) -> LedgerLink {
        try batches(atOrBefore: .max, limit: 1).first?.link ?? .start
    }

    /// Returns rows in the order of their sequences.
    mutating func rows(_ range: ClosedRange<Int64>, limit: Int) throws(StoreError) -> [LedgerRow] {
        try rows.rows(range.lowerBound, range.upperBound, limit, read: LedgerRow.init(reading:))
    }
}
