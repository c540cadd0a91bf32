import Glibc

/// A moment on a clock that never runs backwards, good for differences only.
package struct MonotonicTime: Hashable, Comparable, Sendable {
    /// Nanoseconds since the clock's arbitrary origin.
    package let nanoseconds: Int64

    /// A moment so many nanoseconds after the clock's origin.
    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// Orders moments as they follow one another.
    package static func < (left: MonotonicTime, right: MonotonicTime) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// The time from `right` to `left`.
    package static func - (left: MonotonicTime, right: MonotonicTime) -> Duration {
        .nanoseconds(left.nanoseconds) - .nanoseconds(right.nanoseconds)
    }

    /// The moment so much later, to the nanosecond; the nearest one there is, if that is out of range.
    package static func + (time: MonotonicTime, duration: Duration) -> MonotonicTime {
        let (seconds, attoseconds) = (Duration.nanoseconds(time.nanoseconds) + duration).components
        let (product, overflowOfProduct) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, overflowOfSum) = product.addingReportingOverflow(attoseconds / 1_000_000_000)
        guard !overflowOfProduct, !overflowOfSum else {
            return MonotonicTime(nanoseconds: seconds < 0 ? .min : .max)
        }
        return MonotonicTime(nanoseconds: sum)
    }
}

/// Where durations are measured. Steps of the time of day do not move it.
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
