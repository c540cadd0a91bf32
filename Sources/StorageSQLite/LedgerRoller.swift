import ByteCoding
import ContentKeys
import KeyCrypto
package import Records

/// Removes old renewals from a ledger, and appends entries that say how many there were of each playback.
///
/// Each piece is one short transaction, so that the daemon's writer can continue between two pieces. A batch that does
/// not verify is left unchanged.
package struct LedgerRoller: ~Copyable {
    private let chain: LedgerChain
    private var reader: LedgerReader
    private var deleteRow, updateSeal: SQLiteStatement
    private var inserts: LedgerInserts
    /// The first sequence that has not been examined.
    private var next: Int64
    private(set) var connection: SQLiteConnection

    /// The largest number of rows of one batch that are examined. This program writes no larger batches.
    private static let batchRowsMaximum = 1 << 20

    /// The result of one piece.
    struct Piece {
        /// The renewals that were removed.
        var removed: [LedgerRow] = []
        /// Whether more rows are to be examined.
        var isUnfinished = false
    }

    /// Opens an existing ledger. Throws `ledgerMissing` if the file has no ledger.
    package static func open(
        path: String, chain: LedgerChain, busyTimeoutMilliseconds: Int32 = 5000
    ) throws(StorageOpeningError) -> LedgerRoller {
        let reader = try LedgerReader.open(path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
        do throws(StoreError) {
            var connection = try SQLiteConnection.open(path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
            return try LedgerRoller(
                chain: chain, reader: reader,
                deleteRow: connection.prepare("DELETE FROM ledger_entry WHERE sequence = ?1"),
                updateSeal: connection.prepare("UPDATE ledger_batch SET mac = ?2 WHERE first_sequence = ?1"),
                inserts: .prepare(on: &connection), next: endOfRolledUp(&connection) + 1, connection: connection)
        } catch {
            throw .store(error)
        }
    }

    /// Returns the last sequence that a rolled-up batch covers; 0 if there is no such batch. Only rolled-up batches
    /// have a seal of 97 bytes.
    private static func endOfRolledUp(_ connection: inout SQLiteConnection) throws(StoreError) -> Int64 {
        var select = try connection.prepare(
            "SELECT coalesce(max(last_sequence), 0) FROM ledger_batch WHERE first_sequence > 0 AND length(mac) = 97")
        return try select.readInteger()
    }

    /// Rolls up batches whose time is before `time`, and continues where the previous call stopped.
    ///
    /// It takes about `rowsMaximum` rows and at least one batch. Batches after `sequenceMaximum` stay unchanged,
    /// because they are still needed elsewhere.
    mutating func rollUp(
        before time: Int64, through sequenceMaximum: Int64, rowsMaximum: Int, now: UnixTime
    ) throws(StoreError) -> Piece {
        let page = try reader.batches(from: next, limit: max(rowsMaximum, 1))
        guard let first = page.first else { return Piece() }
        // The last batch of the ledger stays, because the daemon identifies its ledger by it.
        let end = try reader.link().sequence
        let old = page.prefix { $0.at < time && $0.last <= sequenceMaximum && $0.last < end }
        let taken = Array(old.prefix { $0.first == first.first || $0.last &- first.first < Int64(rowsMaximum) })
        guard let last = taken.last else { return Piece() }

        var rolled: [LedgerBatch] = []
        var piece = Piece(isUnfinished: true)
        var summary = RenewalSummary()
        var previous = try reader.batch(atOrBefore: first.first - 1)?.link ?? .start
        for batch in taken {
            if let found = try rollUp(batch, behind: previous, at: now.seconds) {
                rolled.append(found.batch)
                piece.removed += found.removed.map { $0.row }
                for renewal in found.removed { summary.add(renewal.entry) }
            }
            previous = batch.link
        }
        if !rolled.isEmpty { try write(rolled, without: piece.removed, summary, now) }
        next = last.last + 1
        return piece
    }

    private typealias Renewal = (row: LedgerRow, entry: LedgerEntry)

    /// Rolls up one batch. Returns nil if the batch has no renewals, is rolled up already, or is not sealed after
    /// `previous`.
    private mutating func rollUp(
        _ batch: LedgerBatch, behind previous: LedgerLink, at now: Int64
    ) throws(StoreError) -> (batch: LedgerBatch, removed: [Renewal])? {
        guard !batch.isRolledUp, previous.sequence == batch.first - 1, batch.last >= batch.first else { return nil }
        let rows = try reader.rows(batch.first...batch.last, limit: Self.batchRowsMaximum)
        var (kept, removed): ([LedgerRow], [Renewal]) = ([], [])
        for row in rows {
            if let entry = try? LedgerEntry(parsing: row.body), Self.isOver(entry, at: now) {
                removed.append((row, entry))
            } else {
                kept.append(row)
            }
        }
        guard !removed.isEmpty else { return nil }
        do throws(CryptoError) {
            guard let rolled = try chain.rollUp(batch, rows, keeping: kept, previous: previous.mac) else { return nil }
            return (rolled, removed)
        } catch {
            throw .cryptographyFailed
        }
    }

    /// Whether a row is a renewal that has ended.
    ///
    /// An entry without a lease stays, because the device may keep its key. A renewal without a previous license in the
    /// ledger stays too, because only the app calls it a renewal.
    private static func isOver(_ entry: LedgerEntry, at now: Int64) -> Bool {
        guard entry.kind == .licenseRenewed, entry.lease != nil, entry.previous != nil, let end = entry.until else {
            return false
        }
        return end <= now
    }

    private mutating func write(
        _ batches: [LedgerBatch], without removed: [LedgerRow], _ summary: RenewalSummary, _ now: UnixTime
    ) throws(StoreError) {
        let bodies: [[UInt8]]
        do throws(CryptoError) {
            bodies = try summary.entries(at: now.seconds) { () throws(CryptoError) in
                try .naming(rowAt: now.seconds)
            }.map { $0.encoded() }
        } catch {
            throw .cryptographyFailed
        }
        try connection.beginImmediate()
        do throws(StoreError) {
            for row in removed { try deleteRow.run(row.sequence) }
            for batch in batches { try updateSeal.run(batch.first, batch.seal) }
            // The entries follow the ledger's last batch. The write lock keeps other connections from writing.
            try inserts.append(bodies, sealedBy: chain, after: try reader.link(), at: now.seconds)
            try connection.commit()
        } catch {
            connection.rollBack()
            throw error
        }
    }
}
