package import ByteCoding
package import ContentKeys
package import Records

/// Takes rows that are older than the retention out of a ledger, whole batches at a time, and signs where it begins
/// from then on.
///
/// Each piece is one short transaction, beside which the daemon's writer goes on. It does not wait for the disk: what a
/// power cut brings back is purged again. What was taken is counted in the same transaction, until `state` says it in
/// the ledger.
package struct LedgerPurger: ~Copyable {
    private let chain: LedgerChain
    private var reader: LedgerReader
    private var deleteRows: SQLiteStatement
    private var deleteBatches: SQLiteStatement
    private var count: SQLiteStatement
    private var counted: SQLiteStatement
    private var inserts: LedgerInserts
    private(set) var connection: SQLiteConnection

    /// Opens an existing ledger. Throws `ledgerMissing` if the file holds none.
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
        let count = try connection.prepare(
            """
            INSERT INTO ledger_purge (id, row_count, through) VALUES (1, ?1, ?2)
            ON CONFLICT (id) DO UPDATE SET row_count = row_count + ?1, through = ?2
            """)
        let counted = try connection.prepare("SELECT row_count, through FROM ledger_purge WHERE id = 1")
        let inserts = try LedgerInserts(&connection)
        try connection.execute("PRAGMA synchronous = NORMAL")
        self.count = count
        self.counted = counted
        self.chain = chain
        self.reader = reader
        self.deleteRows = deleteRows
        self.deleteBatches = deleteBatches
        self.inserts = inserts
        self.connection = connection
    }

    /// Takes out the oldest batches whose time is before `time`, together about `rowsMaximum` rows and at least one
    /// batch, and gives their rows; none if there is nothing to take, or another purger was faster. Nothing behind
    /// `sequenceMaximum` is taken, because it is still needed elsewhere.
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
        return try replace(from: first, through: last, rows.count, now) ? rows : []
    }

    /// Says in the ledger what was taken since the last time; nil if that is nothing. The entry outlives a power cut.
    package mutating func state(retention: Int64, now: UnixTime) throws(StoreError) -> LedgerPurge? {
        guard try readCount() != nil else { return nil }
        // The entry may be shipped at once, so it must not be lost here.
        try connection.execute("PRAGMA synchronous = FULL")
        let purge = try stateDurably(retention: retention, at: now.seconds)
        try connection.execute("PRAGMA synchronous = NORMAL")
        return purge
    }

    private mutating func stateDurably(retention: Int64, at now: Int64) throws(StoreError) -> LedgerPurge? {
        try connection.beginImmediate()
        do throws(StoreError) {
            guard let (rowCount, through) = try readCount() else {
                connection.rollBack()
                return nil
            }
            let purge = LedgerPurge(at: now, rowCount: rowCount, through: through, retention: retention)
            let entry: LedgerEntry
            do { entry = try purge.entry() } catch { throw .cryptographyFailed }
            try inserts.append([entry.encoded()], sealedBy: chain, after: try reader.link(), at: now)
            try connection.execute("DELETE FROM ledger_purge")
            try connection.commit()
            return purge
        } catch {
            connection.rollBack()
            throw error
        }
    }

    private mutating func readCount() throws(StoreError) -> (rowCount: Int64, through: Int64)? {
        defer { counted.reset() }
        guard try counted.step() else { return nil }
        return (try counted.integer(at: 0), try counted.integer(at: 1))
    }

    /// Whether it was done. The rows were read without a lock, so that writers do not wait; as batches go at the
    /// beginning alone, they are what is taken if the ledger still begins with `first`.
    private mutating func replace(
        from first: LedgerBatch, through last: LedgerBatch, _ rowCount: Int, _ now: UnixTime
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
            try count.run([Int64(rowCount), last.last])
            try connection.commit()
            return true
        } catch {
            connection.rollBack()
            throw error
        }
    }
}
