import ContentKeys
import Records

/// Writes the ledger's rows within the writer's transactions, and seals those of each.
struct LedgerWriter: ~Copyable {
    private let chain: LedgerChain
    private var insertRow: SQLiteStatement
    private var insertBatch: SQLiteStatement
    private var lastBatches: SQLiteStatement
    private var rows: SQLiteStatement
    /// To what the next batch is tied: the end of what is durable.
    private(set) var link = LedgerLink.start
    /// The rows of the transaction that is under way.
    private var bodies: [[UInt8]] = []
    private var sealed: LedgerLink?

    init(_ chain: LedgerChain, _ connection: inout SQLiteConnection) throws(StoreError) {
        let insertRow = try connection.prepare("INSERT INTO ledger_entry (sequence, body) VALUES (?1, ?2)")
        let insertBatch = try connection.prepare(
            "INSERT INTO ledger_batch (first_sequence, last_sequence, at, mac) VALUES (?1, ?2, ?3, ?4)")
        let lastBatches = try connection.prepare(
            """
            SELECT first_sequence, last_sequence, at, mac FROM ledger_batch
            WHERE first_sequence <= ?1 ORDER BY first_sequence DESC LIMIT 2
            """)
        let rows = try connection.prepare(
            "SELECT body FROM ledger_entry WHERE sequence BETWEEN ?1 AND ?2 ORDER BY sequence")
        self.chain = chain
        self.insertRow = insertRow
        self.insertBatch = insertBatch
        self.lastBatches = lastBatches
        self.rows = rows
    }

    // MARK: Opening

    /// Reads where the ledger ends, as others may have written to it.
    mutating func readLink() throws(StoreError) {
        link = try batches(atOrBefore: .max).first?.link ?? .start
    }

    /// Whether the last batch is sealed as it should be, and the batch behind which the ledger was `known` to be is there.
    mutating func verifyEnd(known: LedgerLink) throws(StoreError) -> Bool {
        try readLink()
        if known.sequence > 0, try batches(atOrBefore: known.sequence).first?.link != known { return false }
        let last = try batches(atOrBefore: .max)
        // A beginning stands in front of the rows, and seals none.
        guard let batch = last.first, batch.first > 0 else { return true }
        let previous = last.count > 1 ? last[1].link : .start
        let bodies = try bodies(of: batch)
        guard bodies.count == batch.last - batch.first + 1, previous.sequence + 1 == batch.first else { return false }
        do { return try chain.seal(bodies, after: previous, at: batch.at) == batch } catch { throw .cryptographyFailed }
    }

    private mutating func batches(atOrBefore sequence: Int64) throws(StoreError) -> [LedgerBatch] {
        defer { lastBatches.reset() }
        try lastBatches.bind(sequence, at: 1)
        var found: [LedgerBatch] = []
        while try lastBatches.step() {
            found.append(
                LedgerBatch(
                    first: try lastBatches.integer(at: 0), last: try lastBatches.integer(at: 1),
                    at: try lastBatches.integer(at: 2), seal: try lastBatches.bytes(at: 3)))
        }
        return found
    }

    private mutating func bodies(of batch: LedgerBatch) throws(StoreError) -> [[UInt8]] {
        defer { rows.reset() }
        try rows.bind(batch.first, at: 1)
        try rows.bind(batch.last, at: 2)
        var found: [[UInt8]] = []
        while try rows.step() { found.append(try rows.bytes(at: 0)) }
        return found
    }

    // MARK: Within a transaction

    mutating func append(_ body: [UInt8]) throws(StoreError) {
        defer { insertRow.reset() }
        try insertRow.bind(link.sequence + Int64(bodies.count) + 1, at: 1)
        try insertRow.bind(body, at: 2)
        _ = try insertRow.step()
        bodies.append(body)
    }

    /// Seals the transaction's rows, if it has any; the last step before its commit.
    mutating func seal(at time: Int64) throws(StoreError) {
        guard !bodies.isEmpty else { return }
        let batch: LedgerBatch
        do { batch = try chain.seal(bodies, after: link, at: time) } catch { throw .cryptographyFailed }
        defer { insertBatch.reset() }
        try insertBatch.bind(batch.first, at: 1)
        try insertBatch.bind(batch.last, at: 2)
        try insertBatch.bind(batch.at, at: 3)
        try insertBatch.bind(batch.seal, at: 4)
        _ = try insertBatch.step()
        sealed = batch.link
    }

    /// The transaction is durable; how many rows it had.
    mutating func committed() -> Int {
        let count = bodies.count
        if let sealed { link = sealed }
        forget()
        return count
    }

    /// The transaction is gone.
    mutating func rolledBack() {
        forget()
    }

    private mutating func forget() {
        bodies.removeAll(keepingCapacity: true)
        sealed = nil
    }
}
