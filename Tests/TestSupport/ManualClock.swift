import Synchronization
package import Telemetry

/// A wall clock and a monotonic clock under a test's control. Time passes only when the test advances it. The test must
/// then wake loops that sleep.
package final class ManualClock: WallClock, MonotonicClock {
    private struct State {
        var wallTime: WallTime
        var monotonicTime: MonotonicTime
    }

    private let state: Mutex<State>

    /// Makes a clock with these times. The default wall time is 2026-01-01T00:00:00Z.
    package init(
        wallTime: WallTime = WallTime(seconds: 1_767_225_600),
        monotonicTime: MonotonicTime = MonotonicTime(nanoseconds: 0)
    ) {
        state = Mutex(State(wallTime: wallTime, monotonicTime: monotonicTime))
    }

    /// The wall time that was set or advanced.
    package var wallTime: WallTime { state.withLock { $0.wallTime } }

    /// The monotonic time that was advanced.
    package var monotonicTime: MonotonicTime { state.withLock { $0.monotonicTime } }

    /// Advances both clocks by a duration, exact to the nanosecond. The duration is not negative.
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

    /// Steps the wall time in either direction, as an administrator or a time server does.
    package func setWallTime(_ time: WallTime) {
        state.withLock { $0.wallTime = time }
    }
}
