import ByteCoding
package import Records

/// Brings a node's ledger to the receiver, batch by batch, at least once.
///
/// It has no clock and no task: who owns it calls `shipAll` whenever something was appended or some time has passed,
/// one call at a time.
package struct LedgerShipper: Sendable {
    /// About how many rows one round trip carries.
    package static let rowsMaximum = 2000

    private let node: NodeID
    private let outbox: any LedgerOutbox
    private let receiver: any LedgerReceiver

    package init(node: NodeID, outbox: any LedgerOutbox, receiver: any LedgerReceiver) {
        self.node = node
        self.outbox = outbox
        self.receiver = receiver
    }

    /// Ships what has not been acknowledged until nothing is left; the number of rows.
    ///
    /// Throws at the first failure. What was shipped before it is acknowledged, and the next call goes on behind it.
    @discardableResult
    package func shipAll() async throws(LedgerShippingError) -> Int {
        var count = 0
        var position = try await wrapAsync(LedgerShippingError.store, try await outbox.acknowledgedThrough())
        while true {
            let shipment = try await wrapAsync(
                LedgerShippingError.store,
                try await outbox.batches(behind: position, rowsMaximum: Self.rowsMaximum))
            guard let last = shipment.last else { return count }
            try await receiver.ship(shipment, from: node)
            try await wrapAsync(LedgerShippingError.store, try await outbox.acknowledge(through: last))
            count += shipment.rows.count
            position = last
        }
    }
}
