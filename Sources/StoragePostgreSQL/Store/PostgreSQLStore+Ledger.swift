import ByteCoding
package import Records

extension PostgreSQLStore: LedgerReceiver {
    /// One statement, and so one transaction.
    package func ship(_ shipment: LedgerShipment, from node: NodeID) async throws(LedgerShippingError) {
        let values: [PostgreSQLValue] = [
            .text(node.text),
            .integers(shipment.rows.map(\.sequence)), .byteArrays(shipment.rows.map(\.body)),
            .integers(shipment.batches.map(\.first)), .integers(shipment.batches.map(\.last)),
            .integers(shipment.batches.map(\.at)), .byteArrays(shipment.batches.map(\.seal)),
        ]
        do {
            _ = try await outcomes([(.shipLedger, values)], .read)[0].get()
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

    /// Raised by `ship_ledger_1`.
    private static var ledgerDiffers: SQLState { SQLState("LK002") }
}
