import ByteCoding
package import Records

/// Compares a node's ledger with the receiver's copy, from the copy's beginning on, and sends batches that the copy
/// lacks.
///
/// Shipped rows may be lost later: the database may be restored from a backup, a standby may have lost the last
/// commits, or a person may have deleted them. Rows therefore count as received only after a comparison since the last
/// connection.
package struct LedgerComparison: Sendable {
    /// The approximate number of rows that are compared at a time.
    package static let rowsMaximum = 2000

    private let node: NodeID
    private let outbox: any LedgerOutbox
    private let receiver: any LedgerReceiver
    /// The sequence up to which the copy is known to be complete.
    package private(set) var position: Int64
    /// The number of rows that were missing and have been sent.
    package private(set) var mendedCount = 0

    /// - Parameter floor: The last sequence that the copy has purged. It is not sent again.
    package init(node: NodeID, outbox: any LedgerOutbox, receiver: any LedgerReceiver, floor: Int64) {
        self.node = node
        self.outbox = outbox
        self.receiver = receiver
        position = floor
    }

    /// Throws `copyIsAhead` if the ledger ends before its copy does.
    package func checkEnds() async throws(LedgerShippingError) {
        let end = try await wrapAsync(LedgerShippingError.store, try await outbox.end())
        guard try await receiver.shippedThrough(node) <= end else { throw .copyIsAhead(node, end: end) }
    }

    /// Compares the next batches. Returns whether there are more. Throws `sequenceTaken` if the copy belongs to another
    /// ledger.
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

    /// Returns the batches that the receiver lacks completely or in part.
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
