import Glibc

/// A moment in UTC: POSIX seconds since 1970-01-01T00:00:00Z and a fraction.
package struct WallTime: Hashable, Sendable {
    /// Seconds since the epoch, rounded down.
    package let seconds: Int64

    /// The fraction of the second in nanoseconds, from 0 to 999,999,999.
    package let nanoseconds: UInt32

    /// A moment; nanoseconds beyond 999,999,999 count as 999,999,999.
    package init(seconds: Int64, nanoseconds: UInt32 = 0) {
        self.seconds = seconds
        self.nanoseconds = min(nanoseconds, 999_999_999)
    }
}

/// A clock for the time of day. It may step in both directions, so it cannot measure durations.
package protocol WallClock: Sendable {
    /// The time now; from any thread.
    var wallTime: WallTime { get }
}

/// The machine's time of day (`CLOCK_REALTIME`).
package struct SystemWallClock: WallClock {
    /// The clock; it has no state.
    package init() {}

    /// The time now; from any thread.
    package var wallTime: WallTime {
        let time = timespec.now(of: CLOCK_REALTIME)
        return WallTime(seconds: Int64(time.tv_sec), nanoseconds: UInt32(clamping: time.tv_nsec))
    }
}

extension timespec {
    static func now(of clock: clockid_t) -> timespec {
        var time = timespec()
        // Safe: the pointer is a local variable. The call cannot fail, because every Linux has the clocks that are used
        // here.
        _ = unsafe clock_gettime(clock, &time)
        return time
    }
}
