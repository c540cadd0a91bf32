import EventLoops
import Telemetry

/// The one deadline of a connection, and the timer that watches it.
struct ConnectionDeadline {
    /// When the connection's patience ends.
    var instant = MonotonicTime.distantFuture
    /// When the timer fires: never later than `instant`, often earlier.
    var timerInstant = MonotonicTime.distantFuture
    var timer: TimerID?
}
