import ByteCoding
package import ContentKeys
package import Records

extension PostgreSQLStore: LedgerReceiver {
    /// Ships with one statement, which is one transaction.
    package func ship(_ shipment: LedgerShipment, from node: NodeID) async throws(LedgerShippingError) {
        try await send(shipment, .shipLedger, of: node)
    }

    package func mend(_ shipment: LedgerShipment, of node: NodeID) async throws(LedgerShippingError) {
        try await send(shipment, .mendLedger, of: node)
    }

    private func send(
        _ shipment: LedgerShipment, _ statement: PreparedStatement, of node: NodeID
    ) async throws(LedgerShippingError) {
        let values: [PostgreSQLValue] = [
            .text(node.text),
            .integers(shipment.rows.map(\.sequence)), .byteArrays(shipment.rows.map(\.body)),
            .integers(shipment.batches.map(\.first)), .integers(shipment.batches.map(\.last)),
            .integers(shipment.batches.map(\.at)), .byteArrays(shipment.batches.map(\.seal)),
        ]
        do {
            _ = try await outcomes([(statement, values)], .read)[0].get()
        } catch .refused(Self.ledgerDiffers) {
            throw .sequenceTaken(node)
        } catch {
            throw .store(error.storeError)
        }
    }

    package func shippedThrough(_ node: NodeID) async throws(LedgerShippingError) -> Int64 {
        try await wrapAsync(
            LedgerShippingError.store, try await run(.shippedThrough, [.text(node.text)], .read)[0].integer(at: 0))
    }

    package func received(
        _ node: NodeID, firsts: ClosedRange<Int64>, limit: Int
    ) async throws(LedgerShippingError) -> [ReceivedBatch] {
        try await wrapAsync(LedgerShippingError.store, try await batches(node, firsts, limit))
    }

    private func batches(
        _ node: NodeID, _ firsts: ClosedRange<Int64>, _ limit: Int
    ) async throws(StoreError) -> [ReceivedBatch] {
        let found = try await run(
            .receivedBatches,
            [.text(node.text), .integer(firsts.lowerBound), .integer(firsts.upperBound), .integer(Int64(limit))], .read)
        return try found.rows { row throws(StoreError) in
            ReceivedBatch(batch: try LedgerBatch(reading: row), rowCount: try row.integer(at: 4))
        }
    }

    /// The code that `ship_ledger_1` and `mend_ledger_1` raise.
    private static var ledgerDiffers: SQLState { SQLState("LK002") }
}

/// A node whose ledger has a copy in the database.
package struct SharedLedgerNode: Equatable, Sendable {
    package let node: NodeID
    /// The node's name in its last configuration.
    package let label: String
    /// The node that continues for this one, if this node's own ledger was lost.
    package let successor: String?
    /// When the node has registered last, by the clock of the database, in seconds since 1970.
    package let seenAt: Int64
    /// What the node has told then; nil while it starts.
    package let report: NodeReport?
}

/// What a node tells the others about itself.
package struct NodeReport: Equatable, Sendable {
    /// Of its program.
    package let version: String
    /// In one word.
    package let state: String
    /// The licenses of the last five minutes.
    package let licenses: Int64

    package init(version: String, state: String, licenses: Int64) {
        self.version = version
        self.state = state
        self.licenses = licenses
    }

    fileprivate init?(version: String?, state: String?, licenses: Int64?) {
        guard let version, let state, let licenses else { return nil }
        self.init(version: version, state: state, licenses: licenses)
    }
}

extension PostgreSQLStore {
    /// Returns the nodes whose ledgers have a copy here, in the order of their ids.
    package func ledgerNodes() async throws(StoreError) -> [SharedLedgerNode] {
        try await run(.sharedLedgerNodes, [], .read).rows { row throws(StoreError) in
            SharedLedgerNode(
                node: try NodeID(stored: row.text(at: 0)), label: try row.text(at: 1),
                successor: try row.optionalText(at: 2), seenAt: try row.integer(at: 3),
                report: NodeReport(
                    version: try row.optionalText(at: 4), state: try row.optionalText(at: 5),
                    licenses: try row.optionalInteger(at: 6)))
        }
    }

    /// Returns the batches of a copy whose first sequences are at least `first`, in ascending order. The batch with
    /// first sequence 0 is the beginning after a purge.
    package func ledgerBatches(
        of node: NodeID, from first: Int64, limit: Int
    ) async throws(StoreError) -> [LedgerBatch] {
        let found = try await run(
            .sharedBatches, [.text(node.text), .integer(first), .integer(Int64(limit))], .read)
        return try found.rows(read: LedgerBatch.init(reading:))
    }

    /// Returns the last batch whose first sequence is at most `sequence`, or the beginning if no batch precedes it.
    package func shippedBatch(atOrBefore sequence: Int64, of node: NodeID) async throws(StoreError) -> LedgerBatch? {
        try await run(.sharedBatchBefore, [.text(node.text), .integer(sequence)], .read).first(
            read: LedgerBatch.init(reading:))
    }

    /// Returns the beginning, which stands in the place of purged batches; nil if none were purged.
    package func ledgerBeginning(of node: NodeID) async throws(StoreError) -> LedgerBatch? {
        try await ledgerBatches(of: node, from: 0, limit: 1).first.flatMap { $0.first == 0 ? $0 : nil }
    }

    /// Returns rows of a copy in the order of their sequences.
    package func ledgerRows(
        of node: NodeID, _ range: ClosedRange<Int64>, limit: Int
    ) async throws(StoreError) -> [LedgerRow] {
        let found = try await run(
            .sharedRows,
            [.text(node.text), .integer(range.lowerBound), .integer(range.upperBound), .integer(Int64(limit))], .read)
        return try found.rows(read: LedgerRow.init(reading:))
    }

    /// Returns the first sequence of the first batch of this time or later; nil if there is no such batch.
    package func firstSequence(of node: NodeID, at time: Int64) async throws(StoreError) -> Int64? {
        try await run(.sharedBatchesAfterTime, [.text(node.text), .integer(time)], .read)[0].optionalInteger(at: 0)
    }

    /// Deletes the batches of a copy through the end of `beginning`, and stores `beginning` in their place.
    package func purgeLedger(of node: NodeID, to beginning: LedgerBatch) async throws(StoreError) {
        _ = try await run(
            .purgeLedger,
            [.text(node.text), .integer(beginning.last), .integer(beginning.at), .bytes(beginning.seal)], .read)
    }

    // MARK: Nodes

    /// Records that a node is active, its name, and what it tells about itself.
    package func register(_ node: NodeID, label: String, _ report: NodeReport?) async throws(StoreError) {
        _ = try await run(
            .registerNode,
            [
                .text(node.text), .text(label), report.map { .text($0.version) } ?? .null,
                report.map { .text($0.state) } ?? .null, report.map { .integer($0.licenses) } ?? .null,
            ], .read)
    }

    /// Returns other nodes of the same name that have been inactive for `silence` seconds and have no successor. Their
    /// ledgers were lost.
    package func lostNodes(
        besides node: NodeID, label: String, silence: Int64
    ) async throws(StoreError) -> [NodeID] {
        let found = try await run(.lostNodes, [.text(node.text), .text(label), .integer(silence)], .read)
        return try found.rows { row throws(StoreError) in try NodeID(stored: row.text(at: 0)) }
    }

    /// Records that `successor` continues for a node whose ledger was lost.
    package func succeed(_ node: NodeID, by successor: NodeID) async throws(StoreError) {
        _ = try await run(.succeedNode, [.text(node.text), .text(successor.text)], .read)
    }
}

extension NodeID {
    fileprivate init(stored text: String) throws(StoreError) {
        do { self = try NodeID(text) } catch { throw .recordMalformed }
    }
}
