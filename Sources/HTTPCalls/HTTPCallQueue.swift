import Synchronization
import Telemetry

/// One call, and the task that waits for it.
struct QueuedCall: Sendable {
    let body: [UInt8]
    let fields: [String]
    let deadline: MonotonicTime
    let caller: CheckedContinuation<Result<[UInt8], HTTPCallError>, Never>
}

/// The calls that wait for the thread of the calls, bounded. Any thread may use it.
final class HTTPCallQueue: Sendable {
    private struct State {
        /// The oldest first.
        var waiting: [QueuedCall] = []
        var underWay = 0
        var isStopped = false
    }

    /// What the thread does next.
    struct Turn {
        /// To be started now; each has a place.
        var started: [QueuedCall] = []
        /// Never started: their time is over, or the server goes down.
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

    /// Takes a call in, or says why not.
    func append(_ call: QueuedCall) -> HTTPCallError? {
        state.withLock { state in
            if state.isStopped { return .stopped }
            // A call for which there is a place does not wait.
            guard state.waiting.count < waitingMaximum + placeCount - state.underWay else { return .busy }
            state.waiting.append(call)
            return nil
        }
    }

    /// Hands out the calls that have a place. All calls have the same time-out, so that the oldest ends first.
    func turn(now: MonotonicTime) -> Turn {
        state.withLock { state in
            var turn = Turn(isStopped: state.isStopped)
            if state.isStopped {
                turn.refused = state.waiting.map { ($0, .stopped) }
                state.waiting = []
                return turn
            }
            let late = state.waiting.prefix { $0.deadline <= now }
            // That a call waited too long tells nothing of the service.
            turn.refused = late.map { ($0, .busy) }
            let fresh = state.waiting.dropFirst(late.count).prefix(placeCount - state.underWay)
            turn.started = Array(fresh)
            state.underWay += fresh.count
            state.waiting.removeFirst(late.count + fresh.count)
            turn.nextDeadline = state.waiting.first?.deadline
            return turn
        }
    }

    /// A call that was started has ended.
    func noteEnd() {
        state.withLock { $0.underWay -= 1 }
    }

    func stop() {
        state.withLock { $0.isStopped = true }
    }
}
