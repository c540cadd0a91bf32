import ByteCoding
import ContentKeys
import KeyCrypto
package import Records

/// Takes old renewals out of a ledger, and writes down at its end how many there were of each playback.
///
/// Each piece is one short transaction, beside which the daemon's writer goes on. What does not verify is left as it
/// is.
package struct LedgerRoller: ~Copyable {
    private let chain: LedgerChain
    private var reader: LedgerReader
    private var deleteRow: SQLiteStatement
    private var updateSeal: SQLiteStatement
    private var inserts: LedgerInserts
    private(set) var connection: SQLiteConnection
    /// Everything before this sequence has been looked at.
    private var next: Int64

    /// The most rows of one batch that are looked at; a batch of more is not of this program's making.
    private static let batchRowsMaximum = 1 << 20

    /// What one piece has done.
    struct Piece {
        /// The renewals that were taken out.
        var removed: [LedgerRow] = []
        /// Whether there is more to look at.
        var isUnfinished = false
    }

    /// Opens an existing ledger. Throws `ledgerMissing` if the file holds none.
    package static func open(
        path: String, chain: LedgerChain, busyTimeoutMilliseconds: Int32 = 5000
    ) throws(StorageOpeningError) -> LedgerRoller {
        let reader = try LedgerReader.open(path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
        do throws(StoreError) {
            let connection = try SQLiteConnection.open(path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
            return try LedgerRoller(chain, reader, connection)
        } catch {
            throw .store(error)
        }
    }

    private init(
        _ chain: LedgerChain, _ reader: consuming LedgerReader, _ connection: consuming SQLiteConnection
    ) throws(StoreError) {
        let deleteRow = try connection.prepare("DELETE FROM ledger_entry WHERE sequence = ?1")
        let updateSeal = try connection.prepare("UPDATE ledger_batch SET mac = ?2 WHERE first_sequence = ?1")
        let inserts = try LedgerInserts(&connection)
        let next = try Self.endOfRolledUp(&connection) + 1
        self.next = next
        self.chain = chain
        self.reader = reader
        self.deleteRow = deleteRow
        self.updateSeal = updateSeal
        self.inserts = inserts
        self.connection = connection
    }

    /// The last sequence that a rolled-up batch covers; 0 without such a batch. No other batch has a seal of this size.
    private static func endOfRolledUp(_ connection: inout SQLiteConnection) throws(StoreError) -> Int64 {
        var select = try connection.prepare(
            "SELECT coalesce(max(last_sequence), 0) FROM ledger_batch WHERE first_sequence > 0 AND length(mac) = 97")
        guard try select.step() else { throw .recordMalformed }
        return try select.integer(at: 0)
    }

    /// Rolls up batches whose time is before `time`, together about `rowsMaximum` rows and at least one batch, from
    /// where it came to the last time. Nothing behind `sequenceMaximum` is touched, because it is still needed
    /// elsewhere.
    mutating func rollUp(
        before time: Int64, through sequenceMaximum: Int64, rowsMaximum: Int, now: UnixTime
    ) throws(StoreError) -> Piece {
        let page = try reader.batches(from: next, limit: max(rowsMaximum, 1))
        guard let first = page.first else { return Piece() }
        // The last batch of all stays: by it the daemon knows its ledger again.
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

    /// Nil for a batch without renewals, one that is rolled up already, and one that is not what was sealed behind
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

    /// Whether a row tells of a renewal that has ended. What a device may keep has no lease, and stays; so does what an
    /// app only calls a renewal, if the ledger knows no licence before it.
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
            for row in removed { try deleteRow.run([row.sequence]) }
            for batch in batches { try updateSeal.run([batch.first], batch.seal) }
            // Behind what the ledger ends with: no other connection writes meanwhile.
            try inserts.append(bodies, sealedBy: chain, after: try reader.link(), at: now.seconds)
            try connection.commit()
        } catch {
            connection.rollBack()
            throw error
        }
    }
}
