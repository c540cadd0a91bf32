import ByteCoding
package import ContentKeys
import KeyCrypto
package import Records
package import StoragePostgreSQL
import Telemetry

/// The copy of a node's ledger in PostgreSQL, which the node itself maintains.
package struct LedgerCopy: Sendable {
    /// The most batches that one statement purges.
    private static let batchesAtOnce = 100

    package let chain: LedgerChain
    /// The name of the node.
    package let label: String
    /// The shortest time for which rows stay in the copy, in seconds.
    package let retention: Int64
    package let store: PostgreSQLStore
    /// The node's own ledger, which gets a row about each purge.
    package let ledger: any Ledger

    package init(chain: LedgerChain, label: String, retention: Int64, store: PostgreSQLStore, ledger: any Ledger) {
        self.chain = chain
        self.label = label
        self.retention = retention
        self.store = store
        self.ledger = ledger
    }

    /// The sequence of the last row that was purged from the copy; 0 if no row was.
    func floor() async throws(StoreError) -> Int64 {
        try await store.ledgerBeginning(of: chain.node)?.last ?? 0
    }

    /// Tells PostgreSQL that this node is alive.
    package func register(_ report: NodeReport?) async throws(StoreError) {
        try await store.register(chain.node, label: label, report)
    }

    /// The other nodes of the same name that have not registered for `silence` seconds and have no successor: their
    /// ledgers were lost.
    package func lostNodes(silence: Int64) async throws(StoreError) -> [NodeID] {
        try await store.lostNodes(besides: chain.node, label: label, silence: silence)
    }

    /// Deletes rows that are older than the retention from the copy, a few batches at a time. Nil if no row is.
    ///
    /// The ledger gets a row about the purge first. The last batch is never deleted.
    ///
    /// - Parameter deletionTime: The time, in seconds since 1970, at which the age of rows is measured.
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

    /// The last batch that may be purged; nil if no batch may be.
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
