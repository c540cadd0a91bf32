/// Counts durations in buckets of bounded number and size, and gives percentiles of them.
///
/// A percentile is at most 0.8 % above the true value and never below it, to a whole microsecond. The smallest and the
/// largest duration are exact. The memory does not grow with the number of durations.
struct LatencyHistogram: Equatable, Sendable {
    /// Each power of two has this many buckets, so a bucket is at most 1/128 of its values wide.
    private static let bucketsPerPower = 128
    private static let powerOfBuckets = 7
    /// The longest duration that has a bucket of its own size: about 19 hours in microseconds.
    private static let largest = (1 << 36) - 1
    private static let bucketCount = index(of: largest) + 1

    private var counts = [Int](repeating: 0, count: bucketCount)
    private(set) var count = 0
    private(set) var minimum: Int?
    private(set) var maximum: Int?

    /// Adds a duration in microseconds. A negative one counts as 0.
    mutating func add(microseconds: Int) {
        let value = max(0, microseconds)
        counts[Self.index(of: min(value, Self.largest))] += 1
        count += 1
        minimum = min(minimum ?? value, value)
        maximum = max(maximum ?? value, value)
    }

    mutating func add(_ duration: Duration) {
        let seconds = duration.components
        // Durations of more than a year would overflow later, and no load lasts so long.
        let whole = Int(min(seconds.seconds, 1 << 25)) * 1_000_000
        add(microseconds: whole + Int(seconds.attoseconds / 1_000_000_000_000))
    }

    /// Adds all durations of another histogram.
    mutating func merge(_ other: LatencyHistogram) {
        for index in counts.indices { counts[index] += other.counts[index] }
        count += other.count
        minimum = [minimum, other.minimum].compactMap(\.self).min()
        maximum = [maximum, other.maximum].compactMap(\.self).max()
    }

    /// Returns the duration in microseconds that this share of all durations does not exceed. Returns nil if the
    /// histogram is empty.
    ///
    /// `share` is from 0 to 1, so that 0.99 is the 99th percentile.
    func percentile(_ share: Double) -> Int? {
        guard let minimum, let maximum else { return nil }
        let rank = max(1, Int((share * Double(count)).rounded(.up)))
        var seen = 0
        for (index, bucket) in counts.enumerated() {
            seen += bucket
            // The last bucket also has the durations that are longer than all buckets.
            if seen >= rank { return index == counts.count - 1 ? maximum : min(Self.upperBound(of: index), maximum) }
        }
        return max(minimum, maximum)
    }

    /// Values below 256 have a bucket each. Above that, the bucket is the value's first eight bits and their place.
    private static func index(of value: Int) -> Int {
        let shift = max(0, Int.bitWidth - value.leadingZeroBitCount - powerOfBuckets - 1)
        return shift * bucketsPerPower + (value >> shift)
    }

    /// The largest value of a bucket.
    private static func upperBound(of index: Int) -> Int {
        let shift = max(0, index / bucketsPerPower - 1)
        let first = index - shift * bucketsPerPower
        return ((first + 1) << shift) - 1
    }
}
