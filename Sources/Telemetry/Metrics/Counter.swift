import Synchronization

/// A count that only increases while the process runs.
package final class Counter: Sendable {
    private let count = Atomic<UInt64>(0)

    /// Made by a `MetricsRegistry`, or by what counts before a registry shows it.
    package init() {}

    /// Adds to the count; from any thread. It costs one atomic addition.
    package func increment(by amount: UInt64 = 1) {
        count.wrappingAdd(amount, ordering: .relaxed)
    }

    /// The count so far.
    package var value: UInt64 { count.load(ordering: .relaxed) }
}

/// A whole number that goes up and down.
package final class Gauge: Sendable {
    private let current = Atomic<Int64>(0)

    /// Made by a `MetricsRegistry`.
    init() {}

    /// Sets the number; from any thread.
    package func set(_ value: Int64) {
        current.store(value, ordering: .relaxed)
    }

    /// Adds to the number, or subtracts from it; from any thread.
    package func add(_ difference: Int64) {
        current.wrappingAdd(difference, ordering: .relaxed)
    }

    /// The current number.
    package var value: Int64 { current.load(ordering: .relaxed) }
}

/// How often a cache had what it was asked for, and how often it had not.
package final class CacheCount: Sendable {
    private let hits = Counter()
    private let misses = Counter()

    package init() {}

    /// Counts a look-up; from any thread.
    package func note(isHit: Bool) { (isHit ? hits : misses).increment() }

    package var hitCount: UInt64 { hits.value }
    package var missCount: UInt64 { misses.value }
}
