import ContentKeys
import Records
import StoragePostgreSQL
import StorageSQLite
import Synchronization

/// The ledger in a node's own file, as the source of what is shipped. Each call reads the file on its caller's thread.
///
/// The outbox asks the receiver once how much it has received, and keeps no record of its own that could be wrong. The
/// last batch that was received is shipped again. By it the receiver notices if the file is not the ledger that it
/// knows.
final class LedgerFileOutbox: LedgerOutbox {
    private let path: String
    private let node: NodeID
    private let receiver: any LedgerReceiver
    private let position = Mutex<Int64?>(nil)

    init(path: String, node: NodeID, receiver: any LedgerReceiver) {
        self.path = path
        self.node = node
        self.receiver = receiver
    }

    /// The sequence up to which all rows are known to have been received; 0 before the receiver has answered.
    var shippedThrough: Int64 { position.withLock { $0 ?? 0 } }

    func acknowledgedThrough() async throws(StoreError) -> Int64 {
        if let known = position.withLock({ $0 }) { return known }
        let received: Int64
        do throws(LedgerShippingError) {
            received = try await receiver.shippedThrough(node)
        } catch .store(let error) {
            throw error
        } catch {
            throw .recordMalformed
        }
        return try lastBatch(atOrBefore: received)
    }

    func end() async throws(StoreError) -> Int64 {
        var reader = try open()
        return try reader.link().sequence
    }

    /// When the oldest row that has not been received was recorded, in seconds since 1970. Nil if all have been
    /// received.
    func oldestWaiting() throws(StoreError) -> Int64? {
        var reader = try open()
        return try reader.batches(from: shippedThrough + 1, limit: 1).first?.at
    }

    func acknowledge(through sequence: Int64) async throws(StoreError) {
        position.withLock { $0 = sequence }
    }

    func batches(behind sequence: Int64, rowsMaximum: Int) async throws(StoreError) -> LedgerShipment {
        var reader = try open()
        let found = try reader.batches(from: sequence + 1, limit: rowsMaximum)
        guard let first = found.first else { return LedgerShipment(batches: [], rows: []) }
        let batches = found.prefix { $0.first == first.first || $0.last - first.first < Int64(rowsMaximum) }
        let rows = try reader.rows(first.first...(batches.last ?? first).last, limit: .max)
        return LedgerShipment(batches: Array(batches), rows: rows)
    }

    /// The sequence before the last batch that begins at or before `sequence`. If that batch was purged or rolled up,
    /// the sequence of its end.
    private func lastBatch(atOrBefore sequence: Int64) throws(StoreError) -> Int64 {
        var reader = try open()
        guard sequence > 0, let batch = try reader.batch(atOrBefore: sequence) else { return 0 }
        // A rolled-up batch is not shipped again: the receiver has it with the seal that it had before.
        return batch.first == 0 || batch.isRolledUp ? batch.last : batch.first - 1
    }

    private func open() throws(StoreError) -> LedgerReader {
        do throws(StorageOpeningError) {
            return try LedgerReader.open(path: path)
        } catch .store(let error) {
            throw error
        } catch {
            throw .unavailable(.notWritable)
        }
    }
}
