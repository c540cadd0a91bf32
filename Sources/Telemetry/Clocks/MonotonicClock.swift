import Glibc

/// A moment on a clock that never runs backwards. Use it only for deadlines and differences.
package struct MonotonicTime: Hashable, Comparable, Sendable {
    /// Nanoseconds since the clock's arbitrary origin.
    package let nanoseconds: Int64

    /// The moment this many nanoseconds after the clock's origin.
    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The last moment that can be expressed, for a deadline that never comes.
    package static let distantFuture = MonotonicTime(nanoseconds: .max)

    /// Orders moments by time.
    package static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// The moment `duration` later (earlier if negative). A result out of range becomes the nearest possible moment.
    package static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
        let (sum, overflow) = time.nanoseconds.addingReportingOverflow(duration.clampedNanoseconds)
        return MonotonicTime(nanoseconds: overflow ? (duration < .zero ? .min : .max) : sum)
    }

    /// The exact time from `right` to `left`.
    package static func - (left: MonotonicTime, right: MonotonicTime) -> Duration {
        .nanoseconds(left.nanoseconds) - .nanoseconds(right.nanoseconds)
    }
}

extension Duration {
    /// The whole nanoseconds of a duration, limited to 292 years in either direction.
    package var clampedNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflowOfSum) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflow || overflowOfSum ? (seconds < 0 ? .min : .max) : sum
    }
}

/// A clock for durations, timers and deadlines. Steps of the time of day do not change it.
package protocol MonotonicClock: Sendable {
    /// The time now; from any thread.
    var monotonicTime: MonotonicTime { get }
}

/// The machine's monotonic clock (`CLOCK_MONOTONIC`).
package struct SystemMonotonicClock: MonotonicClock {
    /// The clock; it has no state.
    package init() {}

    /// The time now; from any thread.
    package var monotonicTime: MonotonicTime {
        let time = timespec.now(of: CLOCK_MONOTONIC)
        return MonotonicTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
