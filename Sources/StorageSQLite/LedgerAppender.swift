package import ContentKeys
package import Records

/// Appends single entries to a node's ledger from beside the daemon, as a command does for what an operator sees.
///
/// Each entry is a batch of its own, tied to what the ledger ends with when the transaction holds the write lock. The daemon's writer must
/// therefore ask the ledger for its end again whenever another connection has written.
package struct LedgerAppender: ~Copyable {
    private let chain: LedgerChain
    private var reader: LedgerReader
    private var insertRow: SQLiteStatement
    private var insertBatch: SQLiteStatement
    private var connection: SQLiteConnection

    /// Opens an existing ledger. Throws `ledgerMissing` where the file holds none.
    package static func open(
        path: String, chain: LedgerChain, busyTimeoutMilliseconds: Int32 = 5000
    ) throws(StorageOpeningError) -> LedgerAppender {
        let reader = try LedgerReader.open(path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
        do throws(StoreError) {
            let connection = try SQLiteConnection.open(path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
            return try LedgerAppender(chain, reader, connection)
        } catch {
            throw .store(error)
        }
    }

    private init(
        _ chain: LedgerChain, _ reader: consuming LedgerReader, _ connection: consuming SQLiteConnection
    ) throws(StoreError) {
        let insertRow = try connection.prepare("INSERT INTO ledger_entry (sequence, body) VALUES (?1, ?2)")
        let insertBatch = try connection.prepare(
            "INSERT INTO ledger_batch (first_sequence, last_sequence, at, mac) VALUES (?1, ?2, ?3, ?4)")
        self.chain = chain
        self.reader = reader
        self.insertRow = insertRow
        self.insertBatch = insertBatch
        self.connection = connection
    }

    /// Returns when the entries would outlive a power cut; there is at least one.
    package mutating func append(_ entries: [LedgerEntry], at: Int64) throws(StoreError) {
        try connection.beginImmediate()
        do throws(StoreError) {
            try insert(entries.map { $0.encoded() }, at: at)
            try connection.commit()
        } catch {
            connection.rollBack()
            throw error
        }
    }

    private mutating func insert(_ bodies: [[UInt8]], at: Int64) throws(StoreError) {
        let link = try reader.link()
        let batch: LedgerBatch
        do { batch = try chain.seal(bodies, after: link, at: at) } catch { throw .cryptographyFailed }
        for (offset, body) in bodies.enumerated() { try insertRow.run([batch.first + Int64(offset)], body) }
        try insertBatch.run([batch.first, batch.last, batch.at], batch.seal)
    }
}

extension SQLiteStatement {
    /// Runs a statement that gives no rows with integers, and behind them bytes.
    mutating func run(_ integers: [Int64], _ bytes: [UInt8]? = nil) throws(StoreError) {
        defer { reset() }
        for (index, integer) in integers.enumerated() { try bind(integer, at: Int32(index + 1)) }
        if let bytes { try bind(bytes, at: Int32(integers.count + 1)) }
        _ = try step()
    }
}
