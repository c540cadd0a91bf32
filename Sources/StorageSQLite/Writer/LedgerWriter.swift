import ContentKeys
import Records

/// Writes the ledger's rows within the writer's transactions, and seals the rows of each transaction as a batch.
struct LedgerWriter: ~Copyable {
    private let chain: LedgerChain
    private var inserts: LedgerInserts
    private var selects: LedgerSelects
    /// The end of the durable ledger, to which the next batch is tied.
    private(set) var link = LedgerLink.start
    /// The rows of the current transaction.
    private var bodies: [[UInt8]] = []
    private var sealed: LedgerLink?

    static func prepare(
        _ chain: LedgerChain, on connection: inout SQLiteConnection
    ) throws(StoreError) -> LedgerWriter {
        try LedgerWriter(chain: chain, inserts: .prepare(on: &connection), selects: .prepare(on: &connection))
    }

    // MARK: Opening

    /// Reads the end of the ledger, because other connections may have written to it.
    mutating func readLink() throws(StoreError) {
        link = try selects.link()
    }

    /// Returns whether the last batch has a valid seal, and the batch at the `known` end still exists.
    mutating func verifyEnd(known: LedgerLink) throws(StoreError) -> Bool {
        try readLink()
        let there = try selects.batches(atOrBefore: known.sequence, limit: 1).first?.link
        guard known.sequence == 0 || there == known else { return false }
        let last = try selects.batches(atOrBefore: .max, limit: 2)
        // A beginning precedes all rows and seals none.
        guard let batch = last.first, batch.first > 0 else { return true }
        let previous = last.count > 1 ? last[1].link : .start
        guard batch.last >= batch.first, previous.sequence == batch.first - 1 else { return false }
        let bodies = try selects.rows(batch.first...batch.last, limit: .max).map(\.body)
        guard bodies.count == batch.last - batch.first + 1 else { return false }
        do { return try chain.accepts(batch, bodies, after: previous) } catch { throw .cryptographyFailed }
    }

    // MARK: Within a transaction

    mutating func append(_ body: [UInt8]) throws(StoreError) {
        try inserts.insert(LedgerRow(sequence: link.sequence + Int64(bodies.count) + 1, body: body))
        bodies.append(body)
    }

    /// Seals the transaction's rows, if there are any. This is the last step before the commit.
    mutating func seal(at time: Int64) throws(StoreError) {
        guard !bodies.isEmpty else { return }
        let batch: LedgerBatch
        do { batch = try chain.seal(bodies, after: link, at: time) } catch { throw .cryptographyFailed }
        try inserts.insert(batch)
        sealed = batch.link
    }

    /// Notes that the transaction is durable. Returns the number of its rows.
    mutating func committed() -> Int {
        let count = bodies.count
        if let sealed { link = sealed }
        forget()
        return count
    }

    /// Notes that the transaction was rolled back.
    mutating func rolledBack() {
        forget()
    }

    private mutating func forget() {
        bodies.removeAll(keepingCapacity: true)
        sealed = nil
    }
}
