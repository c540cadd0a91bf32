package import EventLoops
import Telemetry

/// Work that maintains the daemon: a pass, a pause, and the next pass, until it is stopped.
///
/// Passes of one routine never overlap. Each is a task of a loop. So routines share a thread, and a pass that waits for
/// a store or a service does not hold up the others.
package final class Routine: Sendable {
    private struct Work: Sendable {
        let pause: @Sendable () -> Duration
        let pass: @Sendable () async -> Void
    }

    private struct State {
        /// Nil before the start, and after the end.
        var work: Work?
        /// The tasks that a stop waits for: the pass under way, and the last work.
        var taskCount = 0
        var isPassing = false
        /// Whether the next pass begins without a pause.
        var isWanted = false
        /// The number of the next pass. A timer of an earlier one does nothing.
        var turn = 0
    }

    private let loop: LoopContext
    private let state = Monitor(State())

    package init(on loop: LoopContext) {
        self.loop = loop
    }

    /// Begins the first pass after the time `first`, and each further one after a pause.
    package func start(
        after first: Duration = .zero, every pause: @escaping @Sendable () -> Duration,
        pass: @escaping @Sendable () async -> Void
    ) {
        state.withLock { $0.work = Work(pause: pause, pass: pass) }
        schedule(0, after: first)
    }

    /// The same with a constant pause.
    package func start(
        after first: Duration = .zero, every pause: Duration, _ pass: @escaping @Sendable () async -> Void
    ) {
        start(after: first, every: { pause }, pass: pass)
    }

    /// Begins a pass now, or right after the one that is under way.
    package func passSoon() {
        let turn: Int? = state.withLock { state in
            guard !state.isPassing else {
                state.isWanted = true
                return nil
            }
            state.turn += 1
            return state.turn
        }
        if let turn { schedule(turn, after: .zero) }
    }

    /// Begins no further pass, does the last work, and waits for it and for the pass under way, but not longer than
    /// `limit`.
    ///
    /// Must not be called on a loop. A second call only waits.
    package func stop(within limit: Duration, last: (@Sendable () async -> Void)? = nil) {
        let hasLast = state.withLock { state in
            guard state.work.take() != nil, last != nil else { return false }
            state.taskCount += 1
            return true
        }
        if hasLast, let last { perform(last) }
        let deadline = SystemMonotonicClock().monotonicTime + limit
        _ = state.wait(until: deadline) { $0.taskCount == 0 ? () : nil }
    }

    /// Does work that is already counted.
    private func perform(_ work: @escaping @Sendable () async -> Void) {
        loop.spawn { [self] in
            await work()
            state.update { $0.taskCount -= 1 }
        }
    }

    private func schedule(_ turn: Int, after pause: Duration) {
        _ = loop.execute { [self] in _ = loop.schedule(after: pause) { [self] in begin(turn) } }
    }

    private func begin(_ turn: Int) {
        let work: Work? = state.withLock { state in
            guard let work = state.work, turn == state.turn, !state.isPassing else { return nil }
            state.isPassing = true
            state.taskCount += 1
            return work
        }
        guard let work else { return }
        perform { [self] in
            await work.pass()
            end(work)
        }
    }

    private func end(_ work: Work) {
        let (turn, isWanted) = state.withLock { state in
            defer { state.isWanted = false }
            state.isPassing = false
            state.turn += 1
            return (state.turn, state.isWanted)
        }
        schedule(turn, after: isWanted ? .zero : work.pause())
    }
}
