import EventLoops
import Telemetry

/// The deadline of a connection, and its timer.
struct ConnectionDeadline {
    /// The deadline.
    var instant = MonotonicTime.distantFuture
    /// When the timer fires. It is never later than `instant`, and often earlier.
    private var timerInstant = MonotonicTime.distantFuture
    private var timer: TimerID?

    /// Sets the timer if it would fire too late. A timer that fires too early is set again then.
    ///
    /// So most requests need no change of the timer. `schedule` makes a timer.
    mutating func arm(on loop: LoopContext, schedule: (MonotonicTime) -> TimerID) {
        guard instant < timerInstant else { return }
        timerInstant = instant
        if let timer, loop.reschedule(timer, at: instant) { return }
        timer = schedule(instant)
    }

    /// Notes that the timer has fired. Returns whether the deadline has passed; no deadline runs then. Otherwise the
    /// timer must be armed again.
    mutating func timerFired(at now: MonotonicTime) -> Bool {
        timer = nil
        timerInstant = .distantFuture
        guard now >= instant else { return false }
        instant = .distantFuture
        return true
    }

    func cancel(on loop: LoopContext) {
        if let timer { loop.cancel(timer) }
    }
}
