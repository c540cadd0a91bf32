import Synchronization
package import Telemetry

/// Both clocks under a test's control: time passes only when the test says so. Loops that sleep must be woken
/// afterwards.
package final class ManualClock: WallClock, MonotonicClock {
    private struct State {
        var wallTime: WallTime
        var monotonicTime: MonotonicTime
    }

    private let state: Mutex<State>

    /// A clock that stands at these moments; the time of day is 2026-01-01T00:00:00Z unless told otherwise.
    package init(
        wallTime: WallTime = WallTime(seconds: 1_767_225_600),
        monotonicTime: MonotonicTime = MonotonicTime(nanoseconds: 0)
    ) {
        state = Mutex(State(wallTime: wallTime, monotonicTime: monotonicTime))
    }

    /// The time of day as it was set and advanced.
    package var wallTime: WallTime { state.withLock { $0.wallTime } }

    /// The monotonic time as it was advanced.
    package var monotonicTime: MonotonicTime { state.withLock { $0.monotonicTime } }

    /// Lets time pass on both clocks, to the nanosecond; only forwards.
    package func advance(by duration: Duration) {
        precondition(duration >= .zero, "time does not run backwards; set the time of day instead")
        state.withLock { state in
            state.monotonicTime = state.monotonicTime + duration
            let fraction = Duration.nanoseconds(Int64(state.wallTime.nanoseconds)) + duration
            let (seconds, attoseconds) = fraction.components
            state.wallTime = WallTime(
                seconds: state.wallTime.seconds + seconds, nanoseconds: UInt32(attoseconds / 1_000_000_000))
        }
    }

    /// Steps the time of day in either direction, as an administrator or a time server does.
    package func setWallTime(_ time: WallTime) {
        state.withLock { $0.wallTime = time }
    }
}
