import Telemetry
import Testing

@testable import StorageSQLite

/// How many requests a batch waits for, as a script: a batch begins, and then the next one may wait.
@Suite struct BatchPacingTests {
    private static let spacing = Duration.milliseconds(2)
    private static let start = MonotonicTime(nanoseconds: 1_000_000_000)

    @Test func theFirstBatchWaitsForNothing() {
        let pacing = BatchPacing(spacing: Self.spacing)
        for count in 0...40 { #expect(pacing.wait(with: count, at: Self.start) == nil) }
    }

    @Test(arguments: [1, 2]) func fewRequestsAtATimeWaitForNothing(count: Int) {
        var pacing = BatchPacing(spacing: Self.spacing)
        for _ in 0..<200 {
            pacing.begin(count, at: Self.start)
            #expect(pacing.wait(with: 1, at: Self.start) == nil)
        }
    }

    @Test func theWaitEndsWithTheTimeAndWithTheRequests() {
        var pacing = BatchPacing(spacing: Self.spacing)
        pacing.begin(8, at: Self.start)
        let target = pacing.target
        #expect(target >= 8)
        let end = Self.start + Self.spacing
        #expect(pacing.wait(with: 1, at: Self.start) == end)
        #expect(pacing.wait(with: target - 1, at: Self.start + .microseconds(1999)) == end)
        #expect(pacing.wait(with: target, at: Self.start) == nil)
        #expect(pacing.wait(with: 1, at: end) == nil)
        #expect(pacing.wait(with: 1, at: Self.start + .seconds(60)) == nil, "a request after a pause")
    }

    /// While enough requests come, the batches grow up to the maximum.
    @Test func batchesGrowUnderLoad() {
        var pacing = BatchPacing(spacing: Self.spacing)
        pacing.begin(3, at: Self.start)
        for _ in 0..<40 { pacing.begin(pacing.target, at: Self.start) }
        #expect(pacing.target == BatchPacing.targetMaximum)
        pacing.begin(500, at: Self.start)
        #expect(pacing.target == BatchPacing.targetMaximum)
    }

    /// Clients that all wait for the writer are hardly ever waited for: the batches that wait in vain become rare.
    @Test(arguments: [3, 4, 10, 31]) func aFixedNumberOfClientsIsFound(clients: Int) {
        var pacing = BatchPacing(spacing: Self.spacing)
        var vain: [Int] = []
        for batch in 0..<2000 {
            pacing.begin(clients, at: Self.start)
            #expect(pacing.target >= clients)
            if pacing.target > clients { vain.append(batch) }
        }
        #expect(vain.count <= 2000 / BatchPacing.probeDistanceMaximum + 8)
        #expect(zip(vain, vain.dropFirst()).allSatisfy { $1 - $0 <= BatchPacing.probeDistanceMaximum })
    }

    /// When the load ends, the next batch waits for what is there, and then for nothing.
    @Test func batchesShrinkWithTheLoad() {
        var pacing = BatchPacing(spacing: Self.spacing)
        for _ in 0..<40 { pacing.begin(max(pacing.target, 3), at: Self.start) }
        pacing.begin(5, at: Self.start)
        #expect((5...6).contains(pacing.target))
        pacing.begin(1, at: Self.start)
        #expect(pacing.target == 1)
    }
}
