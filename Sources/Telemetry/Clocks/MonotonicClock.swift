import Glibc

/// A moment on a clock that never runs backwards, good for deadlines and differences only.
package struct MonotonicTime: Hashable, Comparable, Sendable {
    /// Nanoseconds since the clock's arbitrary origin.
    package let nanoseconds: Int64

    /// A moment so many nanoseconds after the clock's origin.
    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The end of time: a deadline that never comes.
    package static let distantFuture = MonotonicTime(nanoseconds: .max)

    /// Orders moments as they follow one another.
    package static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// The moment `duration` later (earlier if negative); out of range becomes the nearest moment there is.
    package static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
        let (sum, overflow) = time.nanoseconds.addingReportingOverflow(duration.clampedNanoseconds)
        return MonotonicTime(nanoseconds: overflow ? (duration < .zero ? .min : .max) : sum)
    }

    /// The time from `right` to `left`, exactly.
    package static func - (left: MonotonicTime, right: MonotonicTime) -> Duration {
        .nanoseconds(left.nanoseconds) - .nanoseconds(right.nanoseconds)
    }
}

extension Duration {
    /// The whole nanoseconds of a duration; 292 years at most in either direction.
    package var clampedNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflowOfSum) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflow || overflowOfSum ? (seconds < 0 ? .min : .max) : sum
    }
}

/// Where durations are measured, and timers and deadlines are taken from. Steps of the time of day do not move it.
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
