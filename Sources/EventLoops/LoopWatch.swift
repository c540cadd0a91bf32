import Synchronization

/// Shows whether the loops of a process make progress: each is asked to run something, and must have run it by the next
/// look.
///
/// A loop answers only at the end of a turn in which it also served its channels, timers and tasks (`EventLoop`), so an
/// answer is progress of its work, and not of a thread beside it. The thread for its computations answers as well,
/// after those that it was given before.
package final class LoopWatch: Sendable {
    private let loops: [LoopContext]
    /// Answers that have not come.
    private let owed = Atomic<Int>(0)

    package init(_ loops: [LoopContext]) {
        self.loops = loops
    }

    /// Whether every loop has answered since the look before, and then asks again. A loop that is stuck is asked no
    /// second time. A loop that has stopped owes nothing. To be called by one thread.
    package func look() -> Bool {
        guard owed.load(ordering: .acquiring) == 0 else { return false }
        owed.store(2 * loops.count, ordering: .relaxed)
        let answer: @Sendable () -> Void = { [self] in owed.subtract(1, ordering: .releasing) }
        for loop in loops {
            if !loop.execute(answer) { answer() }
            if !loop.executeBeside(answer) { answer() }
        }
        return true
    }
}
