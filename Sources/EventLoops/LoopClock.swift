import Glibc

/// A moment on a loop's clock: nanoseconds since an arbitrary origin, which never runs backwards.
package struct LoopInstant: Comparable, Hashable, Sendable {
    /// Nanoseconds since the clock's origin.
    package let nanoseconds: Int64

    /// A moment so many nanoseconds after the clock's origin.
    package init(nanoseconds: Int64) {
        self.nanoseconds = nanoseconds
    }

    /// The end of time: a deadline that never comes.
    package static let distantFuture = LoopInstant(nanoseconds: .max)

    package static func < (left: LoopInstant, right: LoopInstant) -> Bool {
        left.nanoseconds < right.nanoseconds
    }

    /// The moment `duration` later (earlier if negative); out of range becomes the nearest moment there is.
    package static func + (instant: LoopInstant, duration: Duration) -> LoopInstant {
        let (sum, overflow) = instant.nanoseconds.addingReportingOverflow(duration.clampedNanoseconds)
        return LoopInstant(nanoseconds: overflow ? (duration < .zero ? .min : .max) : sum)
    }

    /// The time from `right` to `left`.
    package static func - (left: LoopInstant, right: LoopInstant) -> Duration {
        .nanoseconds(left.nanoseconds.subtractingReportingOverflow(right.nanoseconds).partialValue)
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

/// Where a loop takes the time for timers and deadlines from. Steps of the wall clock must not move it.
package protocol LoopClock: Sendable {
    /// The time now; from any thread.
    var now: LoopInstant { get }
}

/// The machine's monotonic clock.
package struct SystemLoopClock: LoopClock {
    /// The clock; it has no state.
    package init() {}

    package var now: LoopInstant {
        var time = timespec()
        // Cannot fail: every Linux has this clock, and the pointer is a local variable.
        _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return LoopInstant(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
    }
}
