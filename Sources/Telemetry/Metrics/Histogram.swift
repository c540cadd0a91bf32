import Synchronization

/// How often a quantity fell under each of a few fixed bounds.
package final class Histogram: Sendable {
    /// Bounds for the time of a request, in seconds: 0.5 ms to 2.5 s.
    package static let requestDurationBounds = [
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5,
    ]

    /// Bounds for the parts of a request, in seconds: 0.1 ms to 2.5 s.
    package static let partDurationBounds = [
        0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5,
    ]

    /// What a scrape sees: for each bound how many values did not exceed it, all values, and their sum.
    struct Snapshot: Equatable {
        let cumulativeCounts: [UInt64]
        let count: UInt64
        let sum: Double
    }

    let bounds: [Double]
    /// One for each bound, and one for what exceeds them all.
    private let counts: [Counter]
    /// The bits of a `Double`.
    private let sumBits = Atomic<UInt64>(0)

    /// For what is counted before a registry shows it; the bounds are finite and grow.
    package init(bounds: [Double]) {
        precondition(!bounds.isEmpty && bounds.allSatisfy(\.isFinite), "a histogram has finite bounds")
        precondition(zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }, "the bounds of a histogram grow")
        self.bounds = bounds
        counts = (0...bounds.count).map { _ in Counter() }
    }

    /// Counts a value in the unit of the bounds; from any thread. NaN is ignored, as it would spoil the sum for ever.
    package func observe(_ value: Double) {
        guard !value.isNaN else { return }
        counts[bounds.firstIndex { value <= $0 } ?? bounds.count].increment()
        var bits = sumBits.load(ordering: .relaxed)
        while true {
            let sum = (Double(bitPattern: bits) + value).bitPattern
            let (isExchanged, original) = sumBits.weakCompareExchange(
                expected: bits, desired: sum, ordering: .relaxed)
            if isExchanged { return }
            bits = original
        }
    }

    /// Counts a time in seconds; from any thread.
    package func observe(_ duration: Duration) {
        observe(duration / .seconds(1))
    }

    /// The count is the last cumulative one, so the two agree even while others observe.
    var snapshot: Snapshot {
        var total: UInt64 = 0
        let cumulative = counts.map { count in
            total += count.value
            return total
        }
        return Snapshot(
            cumulativeCounts: cumulative.dropLast(), count: total,
            sum: Double(bitPattern: sumBits.load(ordering: .relaxed)))
    }
}
