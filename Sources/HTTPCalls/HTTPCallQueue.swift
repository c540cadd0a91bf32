import Synchronization
import Telemetry

/// One call, and the task that waits for it.
struct QueuedCall: Sendable {
    let message: HTTPCallMessage
    let fields: [String]
    let deadline: MonotonicTime
    let caller: CheckedContinuation<Result<HTTPCallAnswer, HTTPCallError>, Never>
}

/// The bounded queue of calls that wait for the thread of the calls. Any thread may use it.
final class HTTPCallQueue: Sendable {
    private struct State {
        /// The waiting calls, the oldest first.
        var waiting: [QueuedCall] = []
        var underWay = 0
        var isStopped = false
    }

    /// The next work of the thread.
    struct Turn {
        /// The calls to start now. Each has a place.
        var started: [QueuedCall] = []
        /// The calls that are not started, because their timeout is reached or the server is shutting down.
        var refused: [(QueuedCall, HTTPCallError)] = []
        /// The deadline of the oldest call that still waits.
        var nextDeadline: MonotonicTime?
        var isStopped = false
    }

    private let placeCount: Int
    private let waitingMaximum: Int
    private let state = Mutex(State())

    init(placeCount: Int, waitingMaximum: Int) {
        self.placeCount = placeCount
        self.waitingMaximum = waitingMaximum
    }

    /// Adds a call. Returns the error if the call is refused.
    func append(_ call: QueuedCall) -> HTTPCallError? {
        state.withLock { state in
            if state.isStopped { return .stopped }
            // Calls for free places do not count as waiting.
            guard state.waiting.count < waitingMaximum + placeCount - state.underWay else { return .busy }
            state.waiting.append(call)
            return nil
        }
    }

    /// Returns the calls that have a place, and those to refuse. All calls have the same timeout, so the oldest call
    /// reaches it first.
    func turn(now: MonotonicTime) -> Turn {
        state.withLock { state in
            var turn = Turn(isStopped: state.isStopped)
            if state.isStopped {
                turn.refused = state.waiting.map { ($0, .stopped) }
                state.waiting = []
                return turn
            }
            let late = state.waiting.prefix { $0.deadline <= now }
            // The error is `busy` and not `timedOut`, because the service was not asked.
            turn.refused = late.map { ($0, .busy) }
            let fresh = state.waiting.dropFirst(late.count).prefix(placeCount - state.underWay)
            turn.started = Array(fresh)
            state.underWay += fresh.count
            state.waiting.removeFirst(late.count + fresh.count)
            turn.nextDeadline = state.waiting.first?.deadline
            return turn
        }
    }

    /// Notes that a started call has ended.
    func noteEnd() {
        state.withLock { $0.underWay -= 1 }
    }

    func stop() {
        state.withLock { $0.isStopped = true }
    }
}
