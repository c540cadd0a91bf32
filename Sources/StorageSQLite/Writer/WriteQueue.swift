import ContentKeys
import EventLoops
import Telemetry

/// What waits for the writer's thread. Bounded: what does not fit is refused at once, as a database that is too slow.
final class WriteQueue: Sendable {
    /// A request, and who waits for its answer.
    struct Pending: Sendable {
        let request: WriteRequest
        let caller: CheckedContinuation<WriteResult, Never>
        /// The index of the loop on which the caller waits; nil for any other thread.
        let loopIndex: Int?
    }

    private struct State {
        var pending: [Pending] = []
        var isStopped = false
        var statistics = WriterStatistics()
    }

    private let lengthMaximum: Int
    private let batchSizeMaximum: Int
    private let state = Monitor(State())

    init(lengthMaximum: Int, batchSizeMaximum: Int) {
        precondition(lengthMaximum > 0 && batchSizeMaximum > 0, "a queue has a place")
        self.lengthMaximum = lengthMaximum
        self.batchSizeMaximum = batchSizeMaximum
    }

    /// Why the request was not taken, if it was not.
    func append(_ pending: Pending) -> StoreError? {
        state.update { state in
            // Who asks a stopped store asks too late; to the caller it is one that cannot be written.
            if state.isStopped { return .unavailable(.notWritable) }
            guard state.pending.count < lengthMaximum else {
                state.statistics.refusedCount += 1
                return .unavailable(.busy)
            }
            state.pending.append(pending)
            return nil
        }
    }

    /// The next batch; an empty one where nothing waits and `mayIdle` says that there is something else to do; nil at the end.
    func next(mayIdle: Bool) -> [Pending]? {
        state.wait { state in
            if !state.pending.isEmpty { return .some(take(&state)) }
            if state.isStopped { return .some(nil) }
            return mayIdle ? .some([]) : nil
        }
    }

    private func take(_ state: inout State) -> [Pending] {
        guard state.pending.count > batchSizeMaximum else {
            var batch: [Pending] = []
            swap(&batch, &state.pending)
            return batch
        }
        defer { state.pending.removeFirst(batchSizeMaximum) }
        return Array(state.pending.prefix(batchSizeMaximum))
    }

    /// Refuses what comes from now on; what waits is still done.
    func stop() {
        state.update { $0.isStopped = true }
    }

    func count(_ change: (inout WriterStatistics) -> Void) {
        state.update { change(&$0.statistics) }
    }

    var statistics: WriterStatistics {
        state.update { state in
            var statistics = state.statistics
            statistics.queueLength = state.pending.count
            return statistics
        }
    }
}

/// What a writer has done since it was opened.
package struct WriterStatistics: Equatable, Sendable {
    /// Requests that were answered after a commit.
    package var requestCount = 0
    /// Batches that were committed.
    package var batchCount = 0
    /// Rows that the ledger has got.
    package var rowCount = 0
    /// How long the committed batches took together, their syncs included.
    package var batchTime = Duration.zero
    /// Requests that were answered with an error, because their batch was not committed.
    package var failedCount = 0
    /// Requests that were refused because the queue was full.
    package var refusedCount = 0
    /// How often the database was closed and opened again after an error.
    package var reopenCount = 0
    /// Rows that were forgotten because they had ended.
    package var forgottenCount = 0
    /// Requests that wait now.
    package var queueLength = 0
}
