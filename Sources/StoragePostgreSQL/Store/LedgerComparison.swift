import ByteCoding
package import Records

/// Compares a node's ledger with the copy that a receiver has, from the copy's beginning on, and sends what the copy
/// lacks.
///
/// A shipped row may be missing later: a database that came back from a backup, a standby that lost its last commits, a
/// hand that deleted it. So nothing counts as received before it has been compared since the last connection.
package struct LedgerComparison: Sendable {
    /// About how many rows are compared at once.
    package static let rowsMaximum = 2000

    private let node: NodeID
    private let outbox: any LedgerOutbox
    private let receiver: any LedgerReceiver
    /// Through which sequence everything is known to be there.
    package private(set) var position: Int64
    /// How many rows were missing and have been sent.
    package private(set) var mendedCount = 0

    /// - Parameter floor: The last sequence that the copy has purged. It is not sent again.
    package init(node: NodeID, outbox: any LedgerOutbox, receiver: any LedgerReceiver, floor: Int64) {
        self.node = node
        self.outbox = outbox
        self.receiver = receiver
        position = floor
    }

    /// Refuses a ledger that ends before its copy does.
    package func checkEnds() async throws(LedgerShippingError) {
        let end = try await wrapAsync(LedgerShippingError.store, try await outbox.end())
        guard try await receiver.shippedThrough(node) <= end else { throw .copyIsAhead(node, end: end) }
    }

    /// Compares the next batches; whether there are more. Throws `sequenceTaken` if the copy is not of this ledger.
    package mutating func step() async throws(LedgerShippingError) -> Bool {
        let end = try await receiver.shippedThrough(node)
        let position = position
        let own = try await wrapAsync(
            LedgerShippingError.store, try await outbox.batches(behind: position, rowsMaximum: Self.rowsMaximum))
        let batches = own.batches.filter { $0.last <= end }
        guard let first = batches.first, let last = batches.last else { return false }
        let received = try await receiver.received(node, firsts: first.first...last.last, limit: batches.count + 1)
        let missing = try missing(of: batches, own.rows, received)
        if !missing.isEmpty {
            let rows = own.rows.filter { row in missing.contains { $0.first <= row.sequence && row.sequence <= $0.last }
            }
            try await receiver.mend(LedgerShipment(batches: missing, rows: rows), of: node)
            mendedCount += rows.count
        }
        self.position = last.last
        return last.last < end
    }

    /// The batches that the receiver lacks, or of which it lacks a row.
    private func missing(
        of batches: [LedgerBatch], _ rows: [LedgerRow], _ received: [ReceivedBatch]
    ) throws(LedgerShippingError) -> [LedgerBatch] {
        let byFirst = Dictionary(received.map { ($0.batch.first, $0) }) { first, _ in first }
        guard Set(byFirst.keys).isSubset(of: batches.map(\.first)) else { throw .sequenceTaken(node) }
        var missing: [LedgerBatch] = []
        for batch in batches {
            guard let there = byFirst[batch.first] else {
                missing.append(batch)
                continue
            }
            guard there.batch.last == batch.last, there.batch.at == batch.at, there.batch.mac == batch.mac else {
                throw .sequenceTaken(node)
            }
            let expected =
                there.batch.isRolledUp
                ? rows.count { batch.first <= $0.sequence && $0.sequence <= batch.last }
                : Int(batch.last - batch.first + 1)
            if there.rowCount != expected { missing.append(batch) }
        }
        return missing
    }
}
