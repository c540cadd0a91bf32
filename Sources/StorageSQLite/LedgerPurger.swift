package import ByteCoding
package import ContentKeys
package import Records

/// Removes rows older than the retention from a ledger, in whole batches, and signs the ledger's new beginning.
///
/// Each piece is one short transaction, so that the daemon's writer can continue between two pieces. A piece does not
/// wait for the disk: rows that return after a power cut are purged again. The same transaction counts the removed
/// rows, until `state` records their number in the ledger.
package struct LedgerPurger: ~Copyable {
    private let chain: LedgerChain
    private var reader: LedgerReader
    private var deleteRows, deleteBatches, count, counted: SQLiteStatement
    private var inserts: LedgerInserts
    private(set) var connection: SQLiteConnection

    /// Opens an existing ledger. Throws `ledgerMissing` if the file has no ledger.
    package static func open(
        path: String, chain: LedgerChain, busyTimeoutMilliseconds: Int32 = 5000
    ) throws(StorageOpeningError) -> LedgerPurger {
        let reader = try LedgerReader.open(path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
        do throws(StoreError) {
            var connection = try SQLiteConnection.open(path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
            try connection.execute("PRAGMA synchronous = NORMAL")
            return try LedgerPurger(
                chain: chain, reader: reader,
                deleteRows: connection.prepare("DELETE FROM ledger_entry WHERE sequence <= ?1"),
                deleteBatches: connection.prepare("DELETE FROM ledger_batch WHERE first_sequence <= ?1"),
                count: connection.prepare(
                    """
                    INSERT INTO ledger_purge (id, row_count, through) VALUES (1, ?1, ?2)
                    ON CONFLICT (id) DO UPDATE SET row_count = row_count + ?1, through = ?2
                    """),
                counted: connection.prepare("SELECT row_count, through FROM ledger_purge WHERE id = 1"),
                inserts: .prepare(on: &connection), connection: connection)
        } catch {
            throw .store(error)
        }
    }

    /// Removes the oldest batches whose time is before `time`, and returns their rows.
    ///
    /// It removes about `rowsMaximum` rows and at least one batch. Batches after `sequenceMaximum` stay, because they
    /// are still needed elsewhere. Returns no rows if nothing can be removed, or if another purger was faster.
    package mutating func purge(
        before time: Int64, through sequenceMaximum: Int64 = .max, rowsMaximum: Int = 1000, now: UnixTime
    ) throws(StoreError) -> [LedgerRow] {
        let oldest = try reader.batches(from: 1, limit: max(rowsMaximum, 1))
        guard let first = oldest.first else { return [] }
        // The last batch of the ledger stays, because the daemon identifies its ledger by it.
        let end = try reader.link().sequence
        let old = oldest.prefix { $0.at < time && $0.last <= sequenceMaximum && $0.last < end }
        let taken = old.prefix { $0.first == first.first || $0.last &- first.first < Int64(rowsMaximum) }
        guard let last = taken.last else { return [] }
        let rows = try reader.rows(first.first...last.last, limit: .max)
        return try replace(from: first, through: last, rows.count, now) ? rows : []
    }

    /// Records in the ledger, durably, the purges since the last statement. Returns nil if there were none.
    package mutating func state(retention: Int64, now: UnixTime) throws(StoreError) -> LedgerPurge? {
        guard try readCount() != nil else { return nil }
        // The entry may be shipped immediately, so this node must not lose it in a power cut.
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
        try counted.first { row throws(StoreError) in (try row.integer(at: 0), try row.integer(at: 1)) }
    }

    /// Replaces the batches by a new beginning. Returns false if the ledger no longer begins with `first`.
    ///
    /// The caller has read the rows without a lock, so that writers do not wait. Batches are only ever removed from the
    /// beginning. If the ledger still begins with `first`, the rows are therefore unchanged.
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
            try deleteRows.run(last.last)
            try deleteBatches.run(last.first)
            try inserts.insert(batch)
            try count.run(rowCount, last.last)
            try connection.commit()
            return true
        } catch {
            connection.rollBack()
            throw error
        }
    }
}
