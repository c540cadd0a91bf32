import Synchronization
import Telemetry

/// Measures the load of a loop, or of the thread beside it. Other threads can read it, and the loop writes two words
/// for each turn.
///
/// A turn is the work between two polls of the sockets, or a computation of the thread. While a turn runs, all other
/// work waits.
final class LoopLoad: Sendable {
    /// The length of a window. The longest turn is kept for one to two windows, so that every reader sees each peak.
    static let window: Duration = .seconds(30)

    private let turnStart = Atomic<Int64>(.min)
    private let windowStart = Atomic<Int64>(.min)
    private let longest = Atomic<Int64>(0)
    private let longestBefore = Atomic<Int64>(0)

    /// Notes that the loop has woken.
    func turnBegan(at time: MonotonicTime) {
        turnStart.store(time.nanoseconds, ordering: .relaxed)
    }

    /// Notes that the loop is about to poll its sockets.
    func turnEnded(at time: MonotonicTime) {
        let start = turnStart.exchange(.min, ordering: .relaxed)
        guard start != .min else { return }
        turnWindow(at: time)
        let length = time.nanoseconds - start
        if length > longest.load(ordering: .relaxed) { longest.store(length, ordering: .relaxed) }
    }

    private func turnWindow(at time: MonotonicTime) {
        let start = windowStart.load(ordering: .relaxed)
        guard start == .min || time.nanoseconds - start >= Self.window.clampedNanoseconds else { return }
        windowStart.store(time.nanoseconds, ordering: .relaxed)
        longestBefore.store(longest.exchange(0, ordering: .relaxed), ordering: .relaxed)
    }

    /// Returns the age of the running turn, which delays all other work of the loop; zero if no turn is running.
    func lag(at time: MonotonicTime) -> Duration {
        let start = turnStart.load(ordering: .relaxed)
        return start == .min ? .zero : .nanoseconds(max(0, time.nanoseconds - start))
    }

    /// The longest turn of the last 30 to 60 seconds in which the loop had something to do.
    var longestTurn: Duration {
        .nanoseconds(max(longest.load(ordering: .relaxed), longestBefore.load(ordering: .relaxed)))
    }
}
