package import ByteCoding
package import ContentKeys
package import Records

/// Takes rows that are older than the retention out of a ledger, whole batches at a time, and signs where it begins from then on.
///
/// Each piece is one short transaction, beside which the daemon's writer goes on.
package struct LedgerPurger: ~Copyable {
    private let chain: LedgerChain
    private var reader: LedgerReader
    private var deleteRows: SQLiteStatement
    private var deleteBatches: SQLiteStatement
    private var inserts: LedgerInserts
    private(set) var connection: SQLiteConnection

    /// Opens an existing ledger. Throws `ledgerMissing` where the file holds none.
    package static func open(
        path: String, chain: LedgerChain, busyTimeoutMilliseconds: Int32 = 5000
    ) throws(StorageOpeningError) -> LedgerPurger {
        let reader = try LedgerReader.open(path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
        do throws(StoreError) {
            let connection = try SQLiteConnection.open(path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
            return try LedgerPurger(chain, reader, connection)
        } catch {
            throw .store(error)
        }
    }

    private init(
        _ chain: LedgerChain, _ reader: consuming LedgerReader, _ connection: consuming SQLiteConnection
    ) throws(StoreError) {
        let deleteRows = try connection.prepare("DELETE FROM ledger_entry WHERE sequence <= ?1")
        let deleteBatches = try connection.prepare("DELETE FROM ledger_batch WHERE first_sequence <= ?1")
        let inserts = try LedgerInserts(&connection)
        self.chain = chain
        self.reader = reader
        self.deleteRows = deleteRows
        self.deleteBatches = deleteBatches
        self.inserts = inserts
        self.connection = connection
    }

    /// Takes out the oldest batches whose time is before `time`, together about `rowsMaximum` rows and at least one batch, and gives their
    /// rows; none where there is nothing to take, or another purger was faster. Nothing behind `sequenceMaximum` is taken, because it is
    /// still needed elsewhere.
    package mutating func purge(
        before time: Int64, through sequenceMaximum: Int64 = .max, rowsMaximum: Int = 1000, now: UnixTime
    ) throws(StoreError) -> [LedgerRow] {
        let oldest = try reader.batches(from: 1, limit: max(rowsMaximum, 1))
        guard let first = oldest.first else { return [] }
        // The last batch of all stays: by it the daemon knows its ledger again.
        let end = try reader.link().sequence
        let old = oldest.prefix { $0.at < time && $0.last <= sequenceMaximum && $0.last < end }
        let taken = old.prefix { $0.first == first.first || $0.last &- first.first < Int64(rowsMaximum) }
        guard let last = taken.last else { return [] }
        let rows = try reader.rows(first.first...last.last, limit: .max)
        return try replace(from: first, through: last, now) ? rows : []
    }

    /// Whether it was done. The rows were read without a lock, so that nobody waits for that; as batches go at the beginning alone, they are
    /// what is taken if the ledger still begins with `first`.
    private mutating func replace(
        from first: LedgerBatch, through last: LedgerBatch, _ now: UnixTime
    ) throws(StoreError) -> Bool {
        let beginning: LedgerCheckpoint
        do { beginning = try chain.checkpoint(last.link, .beginning, at: now) } catch { throw .cryptographyFailed }
        guard let batch = beginning.batch else { preconditionFailure("a beginning stands for batches") }
        try connection.beginImmediate()
        do throws(StoreError) {
            guard try reader.batches(from: 1, limit: 1).first == first else {
                connection.rollBack()
                return false
            }
            try deleteRows.run([last.last])
            try deleteBatches.run([last.first])
            try inserts.insert(batch)
            try connection.commit()
            return true
        } catch {
            connection.rollBack()
            throw error
        }
    }
}
