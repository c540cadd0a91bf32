package import ContentKeys
package import Records
import Synchronization

/// A ledger in memory, which can fail on request.
package final class MemoryLedger: Ledger {
    private struct State {
        var commits: [[LedgerEntry]] = []
        var error: StoreError?
    }

    private let state = Mutex(State())

    package init() {}

    /// The entries of each commit.
    package var commits: [[LedgerEntry]] { state.withLock { $0.commits } }
    package var entries: [LedgerEntry] { commits.flatMap(\.self) }

    /// Makes all later calls fail with this error; with nil they succeed again.
    package func fail(with error: StoreError?) { state.withLock { $0.error = error } }

    package func append(_ entry: LedgerEntry) async throws(StoreError) { try await append(together: [entry]) }

    package func append(together entries: [LedgerEntry]) async throws(StoreError) {
        try state.withLock { (state) throws(StoreError) in
            if let error = state.error { throw error }
            state.commits.append(entries)
        }
    }
}
