import ContentKeys
import Records

/// Writes the ledger's rows within the writer's transactions, and seals those of each.
struct LedgerWriter: ~Copyable {
    private let chain: LedgerChain
    private var inserts: LedgerInserts
    private var selects: LedgerSelects
    /// To what the next batch is tied: the end of what is durable.
    private(set) var link = LedgerLink.start
    /// The rows of the transaction that is under way.
    private var bodies: [[UInt8]] = []
    private var sealed: LedgerLink?

    init(_ chain: LedgerChain, _ connection: inout SQLiteConnection) throws(StoreError) {
        let inserts = try LedgerInserts(&connection)
        let selects = try LedgerSelects(&connection)
        self.chain = chain
        self.inserts = inserts
        self.selects = selects
    }

    // MARK: Opening

    /// Reads where the ledger ends, as others may have written to it.
    mutating func readLink() throws(StoreError) {
        link = try selects.link()
    }

    /// Whether the last batch is sealed as it should be, and the batch behind which the ledger was `known` to be is
    /// there.
    mutating func verifyEnd(known: LedgerLink) throws(StoreError) -> Bool {
        try readLink()
        let there = try selects.batches(atOrBefore: known.sequence, limit: 1).first?.link
        guard known.sequence == 0 || there == known else { return false }
        let last = try selects.batches(atOrBefore: .max, limit: 2)
        // A beginning stands in front of the rows, and seals none.
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

    /// Seals the transaction's rows, if it has any; the last step before its commit.
    mutating func seal(at time: Int64) throws(StoreError) {
        guard !bodies.isEmpty else { return }
        let batch: LedgerBatch
        do { batch = try chain.seal(bodies, after: link, at: time) } catch { throw .cryptographyFailed }
        try inserts.insert(batch)
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
