package import ContentKeys
import EventLoops
package import Telemetry

/// The requests that wait for the writer's thread, and the batch that it works on.
///
/// The number of waiting requests and the time that a caller waits are limited.
final class WriteQueue: Sendable {
    /// A request and the caller that waits for its answer.
    struct Pending: Sendable {
        let request: WriteRequest
        /// The waiting caller; nil if no caller waits.
        let caller: CheckedContinuation<WriteResult, Never>?
        /// The index of the loop on which the caller waits; nil for any other thread.
        let loopIndex: Int?
        /// When the request arrived.
        let since: MonotonicTime
    }

    private struct State {
        var pending: [Pending] = []
        /// The batch that the writer works on. A request that the watch has answered is replaced by nil.
        var current: [Pending?] = []
        /// When the writer began its current work; nil if it has none.
        var currentSince: MonotonicTime?
        var patience: Duration?
        var pacing: BatchPacing
        /// Whether the writer waits for more requests before it begins a batch.
        var isGathering = false
        var isStopped = false
        var condition = WriterCondition.sound
        var statistics = WriterStatistics()
    }

    /// How long requests wait, and how long batches take.
    let times = WriterTimes()
    private let lengthMaximum: Int
    private let batchSizeMaximum: Int
    private let clock: any MonotonicClock
    private let state: Monitor<State>
    /// Separate from `state`, so that requests do not wake the watch.
    private let hasEnded = Monitor(false)

    /// Makes an empty queue. `patience` is how long a caller waits; nil if there is no limit.
    init(
        lengthMaximum: Int, batchSizeMaximum: Int, patience: Duration? = nil, pacing: BatchPacing = BatchPacing(),
        clock: any MonotonicClock = SystemMonotonicClock()
    ) {
        precondition(lengthMaximum > 0 && batchSizeMaximum > 0, "a queue has a place")
        self.lengthMaximum = lengthMaximum
        self.batchSizeMaximum = batchSizeMaximum
        self.clock = clock
        var state = State(pacing: pacing)
        state.patience = patience
        self.state = Monitor(state)
    }

    var now: MonotonicTime { clock.monotonicTime }

    /// Sets how long callers wait from now on.
    func setPatience(_ patience: Duration) {
        state.withLock { $0.patience = patience }
    }

    /// Appends a request and returns nil, or returns the reason for a refusal.
    func append(
        _ request: WriteRequest, caller: CheckedContinuation<WriteResult, Never>?, loopIndex: Int?
    ) -> StoreError? {
        let pending = Pending(request: request, caller: caller, loopIndex: loopIndex, since: now)
        var refusal: StoreError?
        state.change { state in
            refusal = Self.refusal(in: &state, lengthMaximum)
            guard refusal == nil else { return false }
            state.pending.append(pending)
            // A writer that gathers requests is woken by the last one that it waits for.
            return !state.isGathering || state.pending.count >= state.pacing.target
        }
        return refusal
    }

    private static func refusal(in state: inout State, _ lengthMaximum: Int) -> StoreError? {
        // The store has stopped. To the caller it cannot be written any more.
        if state.isStopped { return .unavailable(.notWritable) }
        switch state.condition {
        case .hanging: return .unavailable(.hanging)
        case .replaced: return .unavailable(.replaced)
        case .sound, .failing: break
        }
        guard state.pending.count < lengthMaximum else {
            state.statistics.refusedCount += 1
            return .unavailable(.busy)
        }
        return nil
    }

    /// Waits for the next batch. Returns nil when the queue has stopped and is empty.
    ///
    /// If `mayIdle` is set and no request waits, returns an empty batch, because the writer has other work. Under load
    /// a batch waits for more requests (`BatchPacing`).
    func next(mayIdle: Bool) -> [WriteRequest]? {
        while true {
            let next = state.wait { state -> Next? in
                guard state.pending.isEmpty else { return gatherOrBegin(in: &state) }
                if state.isStopped { return .stopped }
                return mayIdle ? .batch([]) : nil
            }
            switch next {
            case .stopped: return nil
            case .batch(let requests): return requests
            case .gathering(let end): if let requests = gather(until: end) { return requests }
            }
        }
    }

    /// What the writer does next.
    private enum Next {
        case stopped
        case batch([WriteRequest])
        /// It waits for more requests until this time.
        case gathering(until: MonotonicTime)
    }

    private func gatherOrBegin(in state: inout State) -> Next {
        guard !state.isStopped, let end = state.pacing.wait(with: state.pending.count, at: now) else {
            return .batch(begin(in: &state))
        }
        state.isGathering = true
        return .gathering(until: end)
    }

    /// Waits for more requests, and then begins a batch. Returns nil if the watch has taken all requests meanwhile.
    private func gather(until end: MonotonicTime) -> [WriteRequest]? {
        _ = state.wait(until: end) { state in
            state.isStopped || state.pending.count >= state.pacing.target ? true : nil
        }
        return state.withLock { state in
            state.isGathering = false
            return state.pending.isEmpty ? nil : begin(in: &state)
        }
    }

    /// Begins a batch of the requests that wait, of which there is at least one.
    private func begin(in state: inout State) -> [WriteRequest] {
        let start = now
        let batch = Array(state.pending.prefix(batchSizeMaximum))
        state.pending.removeFirst(batch.count)
        state.current = batch
        state.currentSince = start
        state.pacing.begin(batch.count, at: start)
        for pending in batch { times.waits.observe(start - pending.since) }
        return batch.map(\.request)
    }

    /// Ends the batch and sets the writer's condition to `outcome`. Returns the batch's requests in their order; nil
    /// replaces a request that was answered already.
    func finish(_ outcome: WriterCondition) -> [Pending?] {
        state.withLock { state in
            defer { state.current = [] }
            if let start = state.currentSince { times.batches.observe(now - start) }
            state.currentSince = nil
            // A replaced file stays replaced until the watch finds the original file again.
            if state.condition != .replaced || outcome == .replaced { state.condition = outcome }
            return state.current
        }
    }

    /// Notes that the writer has begun work for which no caller waits, and which may hang too.
    func beginWork() {
        state.withLock { $0.currentSince = now }
    }

    /// Notes that this work has ended.
    func endWork() {
        state.withLock { state in
            state.currentSince = nil
            if state.condition == .hanging { state.condition = .sound }
        }
    }

    /// Refuses later requests. Waiting requests are still executed.
    func stop() {
        state.update { $0.isStopped = true }
    }

    /// Notes that the writer's thread has ended.
    func end() {
        hasEnded.update { $0 = true }
    }

    /// Waits until the writer's thread has ended. Returns false if the deadline passes.
    func waitForEnd(until deadline: MonotonicTime) -> Bool {
        hasEnded.wait(until: deadline) { $0 ? true : nil } ?? false
    }

    func count(_ change: (inout WriterStatistics) -> Void) {
        state.withLock { change(&$0.statistics) }
    }

    var condition: WriterCondition { state.withLock { $0.condition } }

    var statistics: WriterStatistics {
        state.withLock { state in
            var statistics = state.statistics
            statistics.queueLength = state.pending.count
            return statistics
        }
    }

    // MARK: The watch

    /// Waits for the time of the next check. Returns false if the writer's thread has ended.
    func waitForLook(until time: MonotonicTime) -> Bool {
        hasEnded.wait(until: time) { $0 ? false : nil } ?? true
    }

    /// Removes the callers that have waited too long. Returns them with the errors for their answers.
    func takeLate() -> [(Pending, StoreError)] {
        let now = now
        return state.withLock { state in
            guard let patience = state.patience else { return [] }
            let isLate = { (pending: Pending) in now - pending.since >= patience }
            let running = state.currentSince.map { now - $0 } ?? .zero
            // A request arrives shortly before the writer takes it. A write that a late request waits for may therefore
            // have run for less than `patience`.
            let hasLate = state.current.contains { $0.map(isLate) == true } || state.pending.contains(where: isLate)
            let isHanging = running >= patience || hasLate && running >= patience / 2
            if isHanging, state.condition != .replaced { state.condition = .hanging }
            let error: StoreError = .unavailable(state.condition == .hanging ? .hanging : .busy)
            return Self.take(from: &state, where: isLate).map { ($0, error) }
        }
    }

    /// Removes all callers, because the file was replaced or the writer does not end.
    func takeAll(_ condition: WriterCondition) -> [Pending] {
        state.withLock { state in
            state.condition = condition
            return Self.take(from: &state) { _ in true }
        }
    }

    /// Notes that the path leads to the original file again.
    func fileIsBack() {
        state.withLock { if $0.condition == .replaced { $0.condition = .sound } }
    }

    /// Whether to try a write now, because the last writes failed and no request waits.
    var wantsTry: Bool {
        state.withLock { state in
            guard case .failing = state.condition else { return false }
            return state.pending.isEmpty && state.currentSince == nil && !state.isStopped
        }
    }

    /// Queues a write without meaning, for which no caller waits. Its result shows in the writer's condition.
    func tryToWrite() {
        _ = append(.tryToWrite, caller: nil, loopIndex: nil)
    }

    private static func take(from state: inout State, where isTaken: (Pending) -> Bool) -> [Pending] {
        var taken: [Pending] = []
        for (index, pending) in state.current.enumerated() {
            guard let pending, isTaken(pending) else { continue }
            taken.append(pending)
            state.current[index] = nil
        }
        taken += state.pending.filter(isTaken)
        state.pending.removeAll(where: isTaken)
        state.statistics.lateCount += taken.count
        return taken
    }
}

/// Whether writes become durable.
package enum WriterCondition: Equatable, Sendable {
    case sound
    /// The last write failed.
    case failing(StoreOutage)
    /// A write has taken longer than callers wait.
    case hanging
    /// The file was deleted or replaced while it was open.
    case replaced
}

/// The writer's counters since it was opened.
package struct WriterStatistics: Equatable, Sendable {
    /// Requests that were answered after a commit.
    package var requestCount = 0
    /// Batches that were committed.
    package var batchCount = 0
    /// Rows that were added to the ledger.
    package var rowCount = 0
    /// The total duration of the committed batches, including their syncs.
    package var batchTime = Duration.zero
    /// Requests that were answered with an error, because their batch was not committed.
    package var failedCount = 0
    /// Requests that were refused because the queue was full.
    package var refusedCount = 0
    /// Requests that were answered with an error because they had waited too long, or because the file was replaced.
    package var lateCount = 0
    /// The number of times that the database was closed and opened again after an error.
    package var reopenCount = 0
    /// Ended rows that were deleted.
    package var forgottenCount = 0
    /// Requests that currently wait.
    package var queueLength = 0
}

/// How long writes wait and take.
package final class WriterTimes: Sendable {
    /// From the moment that a request comes to the start of its batch.
    package let waits = Histogram(bounds: Histogram.partDurationBounds)
    /// Of a batch, its sync included, whether it was committed or failed.
    package let batches = Histogram(bounds: Histogram.partDurationBounds)

    init() {}
}
