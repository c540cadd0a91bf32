package import ContentKeys
import EventLoops
package import Telemetry

/// What waits for the writer's thread, and what it works on. Bounded in length, and in the time for which a caller
/// waits.
final class WriteQueue: Sendable {
    /// A request, and who waits for its answer.
    struct Pending: Sendable {
        let request: WriteRequest
        /// Nil if no caller waits.
        let caller: CheckedContinuation<WriteResult, Never>?
        /// The index of the loop on which the caller waits; nil for any other thread.
        let loopIndex: Int?
        /// When the request came.
        let since: MonotonicTime
    }

    private struct State {
        var pending: [Pending] = []
        /// The batch that the writer works on; nil in place of those that were answered without it.
        var current: [Pending?] = []
        /// Since when it does.
        var currentSince: MonotonicTime?
        var patience: Duration?
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
    /// Apart from the rest, so that requests do not wake the watch.
    private let hasEnded = Monitor(false)

    /// `patience` is how long a caller waits; nil for as long as it takes.
    init(
        lengthMaximum: Int, batchSizeMaximum: Int, patience: Duration? = nil,
        clock: any MonotonicClock = SystemMonotonicClock()
    ) {
        precondition(lengthMaximum > 0 && batchSizeMaximum > 0, "a queue has a place")
        self.lengthMaximum = lengthMaximum
        self.batchSizeMaximum = batchSizeMaximum
        self.clock = clock
        var state = State()
        state.patience = patience
        self.state = Monitor(state)
    }

    var now: MonotonicTime { clock.monotonicTime }

    /// Sets how long a caller waits, from now on.
    func setPatience(_ patience: Duration) {
        state.withLock { $0.patience = patience }
    }

    /// Why the request was not taken, if it was not.
    func append(
        _ request: WriteRequest, caller: CheckedContinuation<WriteResult, Never>?, loopIndex: Int?
    ) -> StoreError? {
        let pending = Pending(request: request, caller: caller, loopIndex: loopIndex, since: now)
        return state.update { state in
            // A request to a stopped store comes too late; for the caller the store cannot be written.
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
            state.pending.append(pending)
            return nil
        }
    }

    /// The next batch; an empty one if nothing waits and `mayIdle` says that there is something else to do; nil at
    /// the end.
    func next(mayIdle: Bool) -> [WriteRequest]? {
        state.wait { state in
            if state.pending.isEmpty {
                if state.isStopped { return .some(nil) }
                return mayIdle ? .some([]) : nil
            }
            let batch = Array(state.pending.prefix(batchSizeMaximum))
            state.pending.removeFirst(batch.count)
            state.current = batch
            let start = now
            state.currentSince = start
            for pending in batch { times.waits.observe(start - pending.since) }
            return .some(batch.map(\.request))
        }
    }

    /// Ends the batch; those of its callers that still wait, in their places. `outcome` is what the writer's condition
    /// is from now on.
    func finish(_ outcome: WriterCondition) -> [Pending?] {
        state.withLock { state in
            defer { state.current = [] }
            if let start = state.currentSince { times.batches.observe(now - start) }
            state.currentSince = nil
            // A file that is gone stays gone until the watch sees it again.
            if state.condition != .replaced || outcome == .replaced { state.condition = outcome }
            return state.current
        }
    }

    /// Notes that the writer works on something for which no caller waits, and which may hang as well.
    func beginWork() {
        state.withLock { $0.currentSince = now }
    }

    /// Notes the end of that.
    func endWork() {
        state.withLock { state in
            state.currentSince = nil
            if state.condition == .hanging { state.condition = .sound }
        }
    }

    /// Refuses what comes from now on; what waits is still done.
    func stop() {
        state.update { $0.isStopped = true }
    }

    /// The writer's thread has ended.
    func end() {
        hasEnded.update { $0 = true }
    }

    /// Waits for that; false if it takes longer.
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

    /// Waits until it is time for the next look; false at the end.
    func waitForLook(until time: MonotonicTime) -> Bool {
        hasEnded.wait(until: time) { $0 ? false : nil } ?? true
    }

    /// Takes out the callers that have waited for too long, with what they are to hear.
    func takeLate() -> [(Pending, StoreError)] {
        let now = now
        return state.withLock { state in
            guard let patience = state.patience else { return [] }
            let isLate = { (pending: Pending) in now - pending.since >= patience }
            let running = state.currentSince.map { now - $0 } ?? .zero
            // A request comes a moment before the writer takes it, so the write that it waits for is younger than its
            // patience.
            let hasLate = state.current.contains { $0.map(isLate) == true } || state.pending.contains(where: isLate)
            let isHanging = running >= patience || hasLate && running >= patience / 2
            if isHanging, state.condition != .replaced { state.condition = .hanging }
            let error: StoreError = .unavailable(state.condition == .hanging ? .hanging : .busy)
            return Self.take(from: &state, where: isLate).map { ($0, error) }
        }
    }

    /// Takes out all callers, because the file is not the one that was opened, or the writer will not end.
    func takeAll(_ condition: WriterCondition) -> [Pending] {
        state.withLock { state in
            state.condition = condition
            return Self.take(from: &state) { _ in true }
        }
    }

    /// The file is the one that was opened, again.
    func fileIsBack() {
        state.withLock { if $0.condition == .replaced { $0.condition = .sound } }
    }

    /// Whether a write should be tried now, because the last ones failed and nothing else tries.
    var wantsTry: Bool {
        state.withLock { state in
            guard case .failing = state.condition else { return false }
            return state.pending.isEmpty && state.currentSince == nil && !state.isStopped
        }
    }

    /// Queues a write that means nothing, for which no caller waits: its result shows in the writer's condition.
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

/// Whether what is written becomes durable.
package enum WriterCondition: Equatable, Sendable {
    case sound
    /// The last write failed.
    case failing(StoreOutage)
    /// A write has not come back for longer than callers wait.
    case hanging
    /// The file was deleted or replaced while it was open.
    case replaced
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
    /// Requests that were answered with an error because they had waited for too long, or because the file was gone.
    package var lateCount = 0
    /// How often the database was closed and opened again after an error.
    package var reopenCount = 0
    /// Rows that were forgotten because they had ended.
    package var forgottenCount = 0
    /// Requests that wait now.
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
