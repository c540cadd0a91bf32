import ByteCoding
package import ContentKeys
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

/// Whole batches of a node's ledger with their rows, in order and without gaps.
package struct LedgerShipment: Equatable, Sendable {
    package var batches: [LedgerBatch]
    /// From the first batch's first row to the last one's last.
    package var rows: [LedgerRow]

    package init(batches: [LedgerBatch], rows: [LedgerRow]) {
        self.batches = batches
        self.rows = rows
    }

    /// The last sequence; nil when there is nothing to ship.
    package var last: Int64? { batches.last?.last }
}

/// Why a part of a ledger was not received.
package enum LedgerShippingError: Error, Equatable, Sendable {
    /// Something else is kept under these sequences already: two daemons use the node's name, or its ledger was put
    /// back to an older state. Nothing was stored, and trying again does not help.
    case sequenceTaken(NodeID)
    /// The copy goes further than the ledger, which ends with `end`: the ledger was put back to an older state.
    case copyIsAhead(NodeID, end: Int64)
    case store(StoreError)
}

/// Keeps the ledgers of all nodes.
package protocol LedgerReceiver: Sendable {
    /// Stores what is new of a shipment, all of it or nothing, durably. Receiving the same again changes nothing.
    func ship(_ shipment: LedgerShipment, from node: NodeID) async throws(LedgerShippingError)

    /// Through which sequence the node's ledger has been received; 0 for nothing.
    func shippedThrough(_ node: NodeID) async throws(LedgerShippingError) -> Int64

    /// The batches that were received whose first sequences lie in this range, in their order; at most `limit`.
    func received(
        _ node: NodeID, firsts: ClosedRange<Int64>, limit: Int
    ) async throws(LedgerShippingError) -> [ReceivedBatch]

    /// Stores batches again that were received in part or not at all, all of them or nothing, durably.
    func mend(_ shipment: LedgerShipment, of node: NodeID) async throws(LedgerShippingError)
}

/// A batch as a receiver has it.
package struct ReceivedBatch: Equatable, Sendable {
    package let batch: LedgerBatch
    /// How many of its rows are there.
    package let rowCount: Int64

    package init(batch: LedgerBatch, rowCount: Int64) {
        self.batch = batch
        self.rowCount = rowCount
    }
}

/// The node's own ledger, as shipping sees it.
package protocol LedgerOutbox: Sendable {
    /// The next whole batches behind `sequence`, of about `rowsMaximum` rows: more only if the first batch alone has
    /// more. Empty when all has been read.
    func batches(behind sequence: Int64, rowsMaximum: Int) async throws(StoreError) -> LedgerShipment

    /// The last sequence; 0 for an empty ledger.
    func end() async throws(StoreError) -> Int64

    /// Notes durably that everything through `sequence` has been received. A note that is lost costs shipping again.
    func acknowledge(through sequence: Int64) async throws(StoreError)

    /// Through which sequence that was noted last; 0 for nothing.
    func acknowledgedThrough() async throws(StoreError) -> Int64
}
