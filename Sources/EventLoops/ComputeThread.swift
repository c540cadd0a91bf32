import Glibc
import Synchronization
import Telemetry

/// A thread beside a loop, for computations that would hold up everything else on the loop.
///
/// It runs what it is given in that order. Its nice value is 5, so that where processors are short the loop, whose
/// turns are short, goes first.
final class ComputeThread: Sendable {
    private struct State {
        var waiting: [@Sendable () -> Void] = []
        var isStopped = false
    }

    private static let niceValue: Int32 = 5

    private let state: Monitor<State>
    private let load: LoopLoad
    private let thread: JoinableThread

    /// Starts the thread with the name `compute-INDEX`.
    init(index: Int, clock: any MonotonicClock) throws(EventLoopError) {
        let (state, load) = (Monitor(State()), LoopLoad())
        (self.state, self.load) = (state, load)
        thread = JoinableThread(
            try NativeThread(name: "compute-\(index)") {
                // Linux sets the value of the calling thread alone. If a system refuses it, the thread works as well.
                _ = setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, Self.niceValue)
                while let bodies = Self.next(in: state) {
                    for body in bodies {
                        load.turnBegan(at: clock.monotonicTime)
                        body()
                        load.turnEnded(at: clock.monotonicTime)
                    }
                }
            })
    }

    /// The age of the computation that runs; zero if none runs.
    func lag(at time: MonotonicTime) -> Duration { load.lag(at: time) }

    /// Runs a closure on the thread, after those that wait already. Returns `false` if the thread has been stopped and
    /// will not run it.
    func execute(_ body: @escaping @Sendable () -> Void) -> Bool {
        var isAccepted = false
        state.change { state in
            guard !state.isStopped else { return false }
            isAccepted = true
            state.waiting.append(body)
            return state.waiting.count == 1
        }
        return isAccepted
    }

    /// Lets the thread end once it has run what it was given, and waits for that.
    func stop() {
        state.update { $0.isStopped = true }
        thread.join()
    }

    /// Waits for closures, and takes all of them; nil once the thread has been stopped and nothing is left.
    private static func next(in state: Monitor<State>) -> [@Sendable () -> Void]? {
        state.wait { state in
            if state.waiting.isEmpty { return state.isStopped ? .some(nil) : nil }
            defer { state.waiting = [] }
            return state.waiting
        }
    }
}
