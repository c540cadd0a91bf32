import TestSupport
import Testing

@testable import PlayerTools

@Suite struct LatencyHistogramTests {
    private static let shares = [0.0, 0.001, 0.25, 0.5, 0.9, 0.99, 0.999, 1]

    private func histogram(_ values: [Int]) -> LatencyHistogram {
        var histogram = LatencyHistogram()
        for value in values { histogram.add(microseconds: value) }
        return histogram
    }

    /// The percentile of a sorted list, by the same definition.
    private func expected(_ share: Double, of sorted: [Int]) -> Int {
        sorted[max(1, Int((share * Double(sorted.count)).rounded(.up))) - 1]
    }

    @Test func hasNoPercentileWithoutDurations() {
        let empty = LatencyHistogram()
        #expect(empty.percentile(0.5) == nil)
        #expect(empty.minimum == nil && empty.maximum == nil && empty.count == 0)
    }

    @Test(arguments: [0, 1, 127, 128, 255, 256, 257, 1_000_000, 1 << 36, 1 << 50, Int.max])
    func givesASingleDurationExactly(value: Int) {
        let histogram = histogram([value])
        for share in Self.shares { #expect(histogram.percentile(share) == value) }
    }

    @Test func countsANegativeDurationAsZero() {
        #expect(histogram([-5]).percentile(1) == 0)
    }

    @Test func addsDurationsInMicroseconds() {
        var histogram = LatencyHistogram()
        histogram.add(.seconds(2) + .microseconds(3) + .nanoseconds(999))
        #expect(histogram.maximum == 2_000_003)
        histogram.add(.seconds(Int64.max))
        #expect(histogram.count == 2)
    }

    /// Every percentile is at least the one of the sorted list, and at most 0.8 % above it.
    @Test func isNearASortedList() {
        var generator = SeededGenerator.announced("LatencyHistogramTests")
        for _ in 0..<50 {
            let values = (0..<Int.random(in: 1...2_000, using: &generator)).map { _ in
                Int.random(in: 0..<1 << Int.random(in: 1...36, using: &generator), using: &generator)
            }
            let sorted = values.sorted()
            let histogram = histogram(values)
            #expect(histogram.minimum == sorted.first && histogram.maximum == sorted.last)
            for share in Self.shares {
                let exact = expected(share, of: sorted)
                let found = histogram.percentile(share) ?? -1
                #expect(found >= exact)
                #expect(
                    Double(found - exact) <= Double(exact) * 0.008, "\(share) of \(values.count): \(exact), \(found)")
            }
        }
    }

    @Test func mergesAsIfAllDurationsWereAddedToOne() {
        var generator = SeededGenerator.announced("LatencyHistogramTests.merge")
        let parts = (0..<4).map { count in
            (0..<count * 100).map { _ in Int.random(in: 0..<10_000_000, using: &generator) }
        }
        var merged = LatencyHistogram()
        for part in parts { merged.merge(histogram(part)) }
        #expect(merged == histogram(parts.flatMap(\.self)))
    }
}
