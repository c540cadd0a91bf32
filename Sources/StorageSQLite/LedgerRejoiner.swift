package import ContentKeys
import KeyCrypto
package import Records

/// Brings a ledger that was restored to an older state up to date with its copy, in one transaction.
///
/// Rows after the last batch that the ledger and the copy share are set aside. The copy's batches take their place, and
/// the rows are appended again after them. No daemon may use the ledger in the meantime.
package struct LedgerRejoiner: ~Copyable {
    /// The number of rows that are appended in one batch.
    private static let batchSize = 500

    private let chain: LedgerChain
    private var inserts: LedgerInserts
    private var selects: LedgerSelects
    private var connection: SQLiteConnection
    private let lock: NodeLock
    private var link: LedgerLink

    /// Opens an existing ledger, begins the transaction and sets aside the rows after `fork`, which is the end of a
    /// batch. Throws `inUse` if a daemon uses the ledger.
    package static func begin(
        path: String, chain: LedgerChain, fork: LedgerLink
    ) throws(StorageOpeningError) -> LedgerRejoiner {
        let lock = try NodeLock(databasePath: path)
        do throws(StoreError) {
            var connection = try SQLiteConnection.open(path: path, busyTimeoutMilliseconds: 5000)
            try connection.execute(
                """
                CREATE TEMP TABLE set_aside (
                    number INTEGER PRIMARY KEY, sequence INTEGER NOT NULL, body BLOB NOT NULL)
                """)
            let inserts = try LedgerInserts.prepare(on: &connection)
            let selects = try LedgerSelects.prepare(on: &connection)
            try connection.beginImmediate()
            for sql in [
                """
                INSERT INTO set_aside (sequence, body)
                SELECT sequence, body FROM ledger_entry WHERE sequence > ?1 ORDER BY sequence
                """, "DELETE FROM ledger_entry WHERE sequence > ?1",
                "DELETE FROM ledger_batch WHERE first_sequence > ?1",
            ] as [SQL] {
                var statement = try connection.prepare(sql)
                try statement.run(fork.sequence)
            }
            return LedgerRejoiner(
                chain: chain, inserts: inserts, selects: selects, connection: connection, lock: lock, link: fork)
        } catch {
            throw .store(error)
        }
    }

    /// Appends the next batch of the copy. Throws `recordMalformed` if the batch is not sealed after the previous one.
    package mutating func take(_ batch: LedgerBatch, _ rows: [LedgerRow]) throws(StoreError) {
        let isSealed: Bool
        do { isSealed = try chain.follows(batch, rows, link) } catch { throw .cryptographyFailed }
        guard isSealed else { throw .recordMalformed }
        for row in rows { try inserts.insert(row) }
        try inserts.insert(batch)
        link = batch.link
    }

    /// Appends the rows that were set aside and then `entry`, and commits. Returns the number of rows that were set
    /// aside.
    package mutating func finish(with entry: (_ setAside: Int) -> LedgerEntry) throws(StoreError) -> Int {
        let now = entry(0).at
        var count = 0
        while true {
            let bodies = try setAside(behind: count)
            if bodies.isEmpty { break }
            try append(bodies, at: now)
            count += bodies.count
        }
        try append([entry(count).encoded()], at: now)
        try connection.commit()
        return count
    }

    private mutating func append(_ bodies: [[UInt8]], at now: Int64) throws(StoreError) {
        try inserts.append(bodies, sealedBy: chain, after: link, at: now)
        link = try selects.link()
    }

    private mutating func setAside(behind count: Int) throws(StoreError) -> [[UInt8]] {
        var select = try connection.prepare("SELECT body FROM set_aside WHERE number > ?1 ORDER BY number LIMIT ?2")
        return try select.rows(count, Self.batchSize) { row throws(StoreError) in try row.bytes(at: 0) }
    }
}
