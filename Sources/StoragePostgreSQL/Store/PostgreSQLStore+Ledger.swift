import ByteCoding
import ContentKeys
package import Records

extension PostgreSQLStore: LedgerReceiver {
    /// One statement, and so one transaction.
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
            LedgerShippingError.store, try await run(.shippedThrough, [.text(node.text)], .read).integer(0, 0))
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
        var batches: [ReceivedBatch] = []
        for row in 0..<found.rowCount {
            batches.append(ReceivedBatch(batch: try LedgerBatch(found, row), rowCount: try found.integer(row, 4)))
        }
        return batches
    }

    /// Raised by `ship_ledger_1` and `mend_ledger_1`.
    private static var ledgerDiffers: SQLState { SQLState("LK002") }
}
