import ByteCoding
package import ContentKeys
package import Records

/// Ships a node's ledger to the receiver, batch by batch, at least once.
///
/// It has no clock and no task. Its owner calls `shipAll` after entries were appended or some time has passed, one call
/// at a time.
package struct LedgerShipper: Sendable {
    /// The approximate number of rows in one round trip.
    package static let rowsMaximum = 2000

    private let node: NodeID
    private let outbox: any LedgerOutbox
    private let receiver: any LedgerReceiver

    package init(node: NodeID, outbox: any LedgerOutbox, receiver: any LedgerReceiver) {
        self.node = node
        self.outbox = outbox
        self.receiver = receiver
    }

    /// Ships all rows that have not been acknowledged. Returns their number.
    ///
    /// Throws at the first failure. Rows that were shipped before it are acknowledged, and the next call continues
    /// after them.
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

/// Whole batches of a node's ledger with their rows, in order and without gaps.
package struct LedgerShipment: Equatable, Sendable {
    package var batches: [LedgerBatch]
    /// All rows from the first batch's first row to the last batch's last row.
    package var rows: [LedgerRow]

    package init(batches: [LedgerBatch], rows: [LedgerRow]) {
        self.batches = batches
        self.rows = rows
    }

    /// The last sequence; nil if there is nothing to ship.
    package var last: Int64? { batches.last?.last }
}

/// The reason why a part of a ledger was not received.
package enum LedgerShippingError: Error, Equatable, Sendable {
    /// The receiver has other bytes under these sequences: two daemons use the node's name, or its ledger was restored
    /// to an older state. Nothing was stored, and trying again does not help.
    case sequenceTaken(NodeID)
    /// The copy is longer than the ledger, which ends with `end`: the ledger was restored to an older state.
    case copyIsAhead(NodeID, end: Int64)
    case store(StoreError)
}

/// Stores copies of the ledgers of all nodes.
package protocol LedgerReceiver: Sendable {
    /// Stores the new rows and batches of a shipment durably, all or none. Receiving the same shipment again changes
    /// nothing.
    func ship(_ shipment: LedgerShipment, from node: NodeID) async throws(LedgerShippingError)

    /// Returns the last received sequence of the node's ledger; 0 if nothing was received.
    func shippedThrough(_ node: NodeID) async throws(LedgerShippingError) -> Int64

    /// Returns received batches whose first sequences lie in this range, in ascending order; at most `limit`.
    func received(
        _ node: NodeID, firsts: ClosedRange<Int64>, limit: Int
    ) async throws(LedgerShippingError) -> [ReceivedBatch]

    /// Stores again batches that were received in part or not at all, durably, all or none.
    func mend(_ shipment: LedgerShipment, of node: NodeID) async throws(LedgerShippingError)
}

/// A batch of a receiver's copy.
package struct ReceivedBatch: Equatable, Sendable {
    package let batch: LedgerBatch
    /// The number of its rows that the copy has.
    package let rowCount: Int64
}

/// The node's own ledger, as the source of shipments.
package protocol LedgerOutbox: Sendable {
    /// Returns the next whole batches after `sequence`, with about `rowsMaximum` rows; empty at the end of the ledger.
    /// There are more rows only if the first batch alone has more.
    func batches(behind sequence: Int64, rowsMaximum: Int) async throws(StoreError) -> LedgerShipment

    /// Returns the last sequence; 0 for an empty ledger.
    func end() async throws(StoreError) -> Int64

    /// Stores durably that everything through `sequence` has been received. If this note is lost, rows are shipped
    /// again.
    func acknowledge(through sequence: Int64) async throws(StoreError)

    /// Returns the last sequence that was acknowledged; 0 if there is none.
    func acknowledgedThrough() async throws(StoreError) -> Int64
}
