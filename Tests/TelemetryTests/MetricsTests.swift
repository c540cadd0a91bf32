import Testing

@testable import Telemetry

@Suite struct MetricsTests {
    @Test func countersAndGaugesAreExactAcrossThreads() async {
        let registry = MetricsRegistry()
        let counter = registry.counter("latchkey_things_total", help: "Things.")
        let gauge = registry.gauge("latchkey_depth", help: "Depth.")
        let histogram = registry.histogram("latchkey_sizes", help: "Sizes.", bounds: [1, 2])
        await withTaskGroup { group in
            for _ in 0..<4 {
                group.addTask {
                    for step in 0..<5000 {
                        counter.increment()
                        gauge.add(step.isMultiple(of: 2) ? 3 : -2)
                        histogram.observe(Double(step % 4))
                    }
                }
            }
        }
        counter.increment(by: 5)
        #expect(counter.value == 20_005)
        #expect(gauge.value == 10_000)
        #expect(
            histogram.snapshot
                == Histogram.Snapshot(cumulativeCounts: [10_000, 15_000], count: 20_000, sum: 30_000))
        gauge.set(-7)
        #expect(gauge.value == -7)
    }

    @Test(
        arguments: [
            (0.0, [1, 1, 1]), (0.5, [1, 1, 1]), (0.50001, [0, 1, 1]), (1, [0, 1, 1]), (2, [0, 0, 1]), (2.1, [0, 0, 0]),
            (-1, [1, 1, 1]), (.infinity, [0, 0, 0]),
        ] as [(Double, [UInt64])])
    func aBoundBelongsToItsBucket(value: Double, counts: [UInt64]) {
        let histogram = Histogram(bounds: [0.5, 1, 2])
        histogram.observe(value)
        #expect(histogram.snapshot == .init(cumulativeCounts: counts, count: 1, sum: value))
    }

    @Test func durationsCountInSeconds() {
        let histogram = Histogram(bounds: Histogram.requestDurationBounds)
        histogram.observe(.microseconds(500))
        histogram.observe(.milliseconds(2500))
        histogram.observe(.seconds(3))
        #expect(histogram.snapshot.cumulativeCounts.first == 1)
        #expect(histogram.snapshot.cumulativeCounts.last == 2)
        #expect(histogram.snapshot.count == 3)
        #expect(histogram.snapshot.sum == 0.0005 + 2.5 + 3)
    }

    /// Only the values between the two snapshots count.
    @Test func quantilesLieWithinTheirBuckets() throws {
        let histogram = Histogram(bounds: [1, 2, 4])
        histogram.observe(100)
        let before = histogram.snapshot
        #expect(histogram.quantile(0.5, from: before, to: before) == nil)
        for _ in 0..<10 { histogram.observe(1.5) }
        let after = histogram.snapshot
        #expect(histogram.quantile(0.5, from: before, to: after) == 1.5)
        #expect(histogram.quantile(1, from: before, to: after) == 2)
        histogram.observe(0.5)
        for _ in 0..<9 { histogram.observe(50) }
        let last = histogram.snapshot
        #expect(histogram.quantile(0.05, from: before, to: last) == 1)
        #expect(histogram.quantile(0.55, from: before, to: last) == 2)
        #expect(histogram.quantile(0.99, from: before, to: last) == 4)
    }

    @Test func whatIsNoNumberIsIgnored() {
        let histogram = Histogram(bounds: [1])
        histogram.observe(.nan)
        #expect(histogram.snapshot == .init(cumulativeCounts: [0], count: 0, sum: 0))
    }
}
