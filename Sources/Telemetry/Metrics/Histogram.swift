import Synchronization

/// Counts how many values of a quantity were within each of a few fixed bounds.
package final class Histogram: Sendable {
    /// Bounds for the time of a request, in seconds: 0.5 ms to 2.5 s.
    package static let requestDurationBounds = [
        0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5,
    ]

    /// Bounds for the parts of a request, in seconds: 0.1 ms to 2.5 s.
    package static let partDurationBounds = [
        0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5,
    ]

    /// The values at one time: for each bound how many values did not exceed it, the number of all values, and their
    /// sum.
    package struct Snapshot: Equatable, Sendable {
        package let cumulativeCounts: [UInt64]
        package let count: UInt64
        package let sum: Double
    }

    package let bounds: [Double]
    /// A counter for each bound, and one for the values above all bounds.
    private let counts: [Counter]
    /// The sum, as the bits of a `Double`.
    private let sumBits = Atomic<UInt64>(0)

    /// Made by a `MetricsRegistry`, or by a part that a registry shows later. The bounds must be finite and in
    /// increasing order.
    package init(bounds: [Double]) {
        precondition(!bounds.isEmpty && bounds.allSatisfy(\.isFinite), "a histogram has finite bounds")
        precondition(zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }, "the bounds of a histogram grow")
        self.bounds = bounds
        counts = (0...bounds.count).map { _ in Counter() }
    }

    /// Counts a value in the unit of the bounds; from any thread. NaN is ignored, because it would make the sum NaN
    /// permanently.
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

    /// The values at this time. `count` is the sum of the same counters, so it fits `cumulativeCounts` even while other
    /// threads observe values.
    package var snapshot: Snapshot {
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

extension Histogram {
    /// Estimates a quantile of the values that were counted between two snapshots; nil if there were none.
    ///
    /// Within a bucket, values count as evenly distributed. A value above all bounds counts as the largest bound.
    package func quantile(_ share: Double, from before: Snapshot, to after: Snapshot) -> Double? {
        // The counters only increase.
        let total = Double(after.count &- before.count)
        guard total > 0 else { return nil }
        let rank = share * total
        var (lowerBound, lowerCount) = (0.0, 0.0)
        for (index, bound) in bounds.enumerated() {
            let count = Double(after.cumulativeCounts[index] &- before.cumulativeCounts[index])
            if count >= rank && count > lowerCount {
                return lowerBound + (bound - lowerBound) * (rank - lowerCount) / (count - lowerCount)
            }
            (lowerBound, lowerCount) = (bound, count)
        }
        return bounds[bounds.count - 1]
    }
}
