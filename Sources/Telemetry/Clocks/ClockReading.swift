import Glibc

/// The machine's boot-time clock (`CLOCK_BOOTTIME`): it is never set, and it goes on while the machine is suspended.
package struct SystemBootClock: MonotonicClock {
    /// The clock; it has no state.
    package init() {}

    /// The time since the machine was started; from any thread.
    package var monotonicTime: MonotonicTime {
        let time = timespec.now(of: CLOCK_BOOTTIME)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}

/// The wall clock and the boot-time clock at one moment, in nanoseconds. Values beyond 146 years from their origin are
/// cut to that.
package struct ClockReading: Equatable, Sendable {
    /// Since 1970-01-01T00:00:00Z.
    package let wall: Int64
    /// Since the machine was started.
    package let boot: Int64

    package init(wall: WallTime, boot: MonotonicTime) {
        self.wall = wall.clampedNanoseconds
        self.boot = min(max(boot.nanoseconds, 0), WallTime.nanosecondsMaximum)
    }

    init(wallNanoseconds: Int64, bootNanoseconds: Int64) {
        wall = wallNanoseconds
        boot = bootNanoseconds
    }

    /// When the machine was started, as the wall clock tells it. Only a step of the wall clock changes it.
    package var offset: Int64 { wall - boot }
}

extension WallTime {
    /// A sum of two such numbers does not overflow.
    fileprivate static let nanosecondsMaximum: Int64 = 1 << 62

    /// Nanoseconds since 1970, at most 146 years in either direction.
    package var clampedNanoseconds: Int64 {
        let limit = Self.nanosecondsMaximum / 1_000_000_000 - 1
        return min(max(seconds, -limit), limit) * 1_000_000_000 + Int64(nanoseconds)
    }

    /// A moment so many nanoseconds after 1970-01-01T00:00:00Z, or before if negative.
    package init(nanosecondsSince1970 nanoseconds: Int64) {
        let seconds = nanoseconds >= 0 ? nanoseconds / 1_000_000_000 : -((-nanoseconds + 999_999_999) / 1_000_000_000)
        self.init(seconds: seconds, nanoseconds: UInt32(nanoseconds - seconds * 1_000_000_000))
    }
}
