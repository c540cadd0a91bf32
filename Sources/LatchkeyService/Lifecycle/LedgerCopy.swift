import ByteCoding
import ContentKeys
import KeyCrypto
import Records
import StoragePostgreSQL
import Telemetry

/// The copy of a node's ledger in PostgreSQL, as the node itself keeps it.
struct LedgerCopy: Sendable {
    /// How many batches are purged in one statement.
    private static let batchesAtOnce = 100

    let chain: LedgerChain
    let label: NodeID
    /// Seconds.
    let retention: Int64
    let store: PostgreSQLStore
    /// Takes what the ledger itself says of a purge.
    let ledger: any Ledger

    /// The last sequence that was purged from the copy; 0 if none was.
    func floor() async throws(StoreError) -> Int64 {
        try await store.ledgerBeginning(of: chain.node)?.last ?? 0
    }

    /// Says that this node is there.
    func register() async throws(StoreError) {
        try await store.register(chain.node, label: label)
    }

    /// Nodes of the same label that have not been there for `silence` seconds, and for which no node goes on.
    func lostNodes(silence: Int64) async throws(StoreError) -> [NodeID] {
        try await store.lostNodes(besides: chain.node, label: label, silence: silence)
    }

    /// Takes out rows that are older than the retention, a few batches at a time, and says so in the ledger beforehand;
    /// nil if there is nothing to take. The last batch stays.
    ///
    /// - Parameter deletionTime: The age of rows counts from here, in seconds since 1970.
    func purge(
        now: WallTime, deletionTime: Int64, until isStopWanted: () -> Bool
    ) async throws(StoreError) -> LedgerPurge? {
        guard let end = try await endOfOld(before: deletionTime - retention) else { return nil }
        let floor = try await floor()
        guard end.last > floor, let time = UnixTime(seconds: now.seconds) else { return nil }
        let purge = LedgerPurge(
            .sharedCopy, at: now.seconds, rowCount: end.last - floor, through: end.last, retention: retention)
        let entry: LedgerEntry
        do { entry = try purge.entry() } catch { throw .cryptographyFailed }
        try await ledger.append(entry)
        var first = floor + 1
        while first <= end.last, !isStopWanted() {
            let batches = try await store.ledgerBatches(of: chain.node, from: first, limit: Self.batchesAtOnce)
            guard let last = batches.last(where: { $0.last <= end.last }) else { break }
            let beginning: LedgerCheckpoint
            do { beginning = try chain.checkpoint(last.link, .beginning, at: time) } catch { throw .cryptographyFailed }
            guard let batch = beginning.batch else { preconditionFailure("a beginning stands for batches") }
            try await store.purgeLedger(of: chain.node, to: batch)
            first = last.last + 1
        }
        return purge
    }

    /// The last batch before the first one that is young enough; nil if the first batch of all is.
    private func endOfOld(before time: Int64) async throws(StoreError) -> LedgerBatch? {
        guard let oldest = try await store.ledgerBatches(of: chain.node, from: 1, limit: 1).first, oldest.at < time
        else {
            return nil
        }
        let last = try await store.shippedBatch(atOrBefore: .max, of: chain.node)
        let young = try await store.firstSequence(of: chain.node, at: time) ?? last?.first
        guard let young, let end = try await store.shippedBatch(atOrBefore: young - 1, of: chain.node), end.first > 0
        else { return nil }
        return end
    }
}
