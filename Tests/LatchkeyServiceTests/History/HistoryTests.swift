import ByteCoding
import Foundation
import KeyCrypto
import Licensing
import Synchronization
import Telemetry
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

/// The samples behind the operator's plots.
@Suite struct HistoryTests {
    private let clock = ManualClock(wallTime: WallTime(seconds: 1_000_000))

    private func seconds(_ number: Int) -> Duration { .seconds(number) }

    // MARK: The ring

    private func ring(_ values: [Float], stepsBetween steps: Int = 1) -> HistoryRing {
        let start = clock.monotonicTime
        var ring = HistoryRing(seriesCount: 2, at: start)
        for (index, value) in values.enumerated() {
            ring.add([value, -value], at: start + HistoryRing.step * ((index + 1) * steps))
        }
        return ring
    }

    @Test func keepsTheStepsOfAnHourInOneBlock() {
        let values = (0..<800).map { Float($0) }
        let ring = ring(values)
        #expect(ring.count == 360)
        #expect(ring.values(of: 0) == Array(values.suffix(360)))
        #expect(ring.values(of: 1) == values.suffix(360).map { -$0 })
        #expect(ring.values(of: 0, skipping: 358) == [798, 799])
        #expect(HistoryRing(at: clock.monotonicTime).memorySize < 512 * 1024)
    }

    /// A loop that was held up has missed steps. They are there, without values.
    @Test func hasNoValuesForMissedSteps() {
        let values = ring([1, 2], stepsBetween: 3).values(of: 0)
        #expect(values.count == 6)
        #expect(values.map(\.isNaN) == [true, true, false, true, true, false])
        #expect(ring([5], stepsBetween: 100_000).values(of: 0).count == 360)
    }

    @Test func isDueAfterAStep() {
        let start = clock.monotonicTime
        var ring = HistoryRing(seriesCount: 1, at: start)
        #expect(!ring.isDue(at: start + .milliseconds(9_999)))
        #expect(ring.isDue(at: start + .seconds(10)))
        // The next step begins where this one should have ended, so that delays do not add up.
        ring.add([1], at: start + .seconds(12))
        #expect(!ring.isDue(at: start + .milliseconds(19_999)))
        #expect(ring.isDue(at: start + .seconds(20)))
        // Too early a sample changes nothing.
        ring.add([2], at: start + .seconds(13))
        #expect(ring.values(of: 0) == [1])
    }

    @Test func showsOnlyLaterSteps() {
        let ring = ring([1, 2, 3])
        let now = (WallTime(seconds: 1_000_035), clock.monotonicTime + .seconds(35))
        let all = ring.window(since: nil, now: now)
        #expect(all.startsAt == 1_000_000 && all.skipped == 0)
        for (since, skipped) in [(0.0, 0), (1_000_010, 1), (1_000_009.9, 1), (1_000_030, 3), (2_000_000, 3)] {
            let window = ring.window(since: since, now: now)
            #expect(window.skipped == skipped)
            #expect(window.startsAt == 1_000_000 + Double(10 * skipped))
        }
    }

    // MARK: Samples

    @Test func samplesAreTheDifferencesSinceTheSampleBefore() throws {
        let count = Counter()
        let histogram = Histogram(bounds: [1, 2])
        let level = Monitor(Double?.none)
        count.increment(by: 1000)
        histogram.observe(2)
        var sampler = HistorySampler(
            [
                .licensesV1: .rate { Double(count.value) }, .latency99: .quantile(0.5, histogram),
                .connections: .level { level.update { $0 } }, .loopLag: .peak { level.update { $0 ?? 0 } },
            ], at: clock.monotonicTime)
        func sample(after time: Duration) -> [HistorySeries: Float] {
            clock.advance(by: time)
            return Dictionary(
                uniqueKeysWithValues: zip(HistorySeries.allCases, sampler.sample(at: clock.monotonicTime)))
        }
        count.increment(by: 30)
        let first = sample(after: .seconds(10))
        #expect(first[.licensesV1] == 3 && first[.latency99]?.isNaN == true && first[.connections]?.isNaN == true)
        #expect(first[.http2xx]?.isNaN == true)
        level.update { $0 = 7 }
        sampler.look()
        level.update { $0 = 2 }
        histogram.observe(0.5)
        let second = sample(after: .seconds(2))
        #expect(second[.licensesV1] == 0 && second[.latency99] == 0.5)
        #expect(second[.connections] == 2 && second[.loopLag] == 7)
        #expect(sample(after: .seconds(2))[.loopLag] == 2)
    }

    private func json(_ history: History, since: Double? = nil) throws -> JSONObject {
        try #require(JSONReader.parse(JSONWriter.object { history.write(since: since, to: &$0) }).object)
    }

    @Test func keepsEveryFifthLookAndTellsEach() throws {
        let count = Counter()
        let history = History([.licensesV2: .rate { Double(count.value) }], wallClock: clock, clock: clock)
        let told = Monitor<[[Float]]>([])
        history.tell { sample in told.update { $0.append(sample) } }
        for _ in 0..<15 {
            count.increment(by: 4)
            clock.advance(by: History.pause)
            history.look()
        }
        let index = try #require(HistorySeries.allCases.firstIndex(of: .licensesV2))
        #expect(told.update { $0.map { $0[index] } } == [Float](repeating: 2, count: 15))
        let answer = try json(history)
        #expect(answer["count"]?.number?.signed == 3 && answer["stepSeconds"]?.number?.signed == 10)
        let start = try #require(answer["startsAt"]?.number?.double)
        #expect(start == Double(clock.wallTime.seconds) - 30)
        let series = try #require(answer["series"]?.array)
        #expect(series.compactMap { $0.object?["name"]?.string } == HistorySeries.allCases.map(\.rawValue))
        let values = try #require(series[index].object?["values"]?.array)
        #expect(values.compactMap { $0.number?.double } == [2, 2, 2])
        // A series without a source is there, with null.
        #expect(series[0].object?["values"]?.array?.compactMap { $0.number?.double } == [])
        #expect(try json(history, since: start + 20)["count"]?.number?.signed == 1)
    }

    /// The clock of the wall may be set while the plots are read.
    @Test func aStepOfTheWallClockLosesNothing() throws {
        let history = History([:], wallClock: clock, clock: clock)
        for _ in 0..<10 {
            clock.advance(by: History.pause)
            history.look()
        }
        clock.setWallTime(WallTime(seconds: 50))
        let answer = try json(history)
        #expect(answer["count"]?.number?.signed == 2)
        #expect(answer["startsAt"]?.number?.double == 30)
    }

    // MARK: Names

    @Test func everySeriesHasASourceInADaemon() throws {
        let registry = MetricsRegistry()
        let metrics = ServiceMetrics(registry: registry, rsaOperations: .init())
        let groups = Set(ProblemCode.allCases.map(\.historySeries))
        #expect(groups.count == 7 && groups.allSatisfy { $0.rawValue.hasPrefix("refusals_") })
        let sources = metrics.historySources
        for series in groups.union([.refusals, .licensesV1, .http5xx, .latencyMedian, .connections]) {
            #expect(sources[series] != nil, "\(series)")
        }
    }

    @Test func countsRefusalsInTheirGroups() throws {
        let metrics = ServiceMetrics(registry: MetricsRegistry(), rsaOperations: .init())
        var sampler = HistorySampler(metrics.historySources, at: clock.monotonicTime)
        metrics.player.refused(.tokenExpired)
        metrics.player.refused(.tokenExpired)
        metrics.player.refused(.keyNotFound)
        metrics.player.refused(.storageUnavailable)
        clock.advance(by: .seconds(1))
        let sample = Dictionary(
            uniqueKeysWithValues: zip(HistorySeries.allCases, sampler.sample(at: clock.monotonicTime)))
        #expect(sample[.refusalsToken] == 2 && sample[.refusalsKey] == 1 && sample[.refusalsFault] == 1)
        #expect(sample[.refusals] == 4 && sample[.refusalsSPC] == 0)
    }

    /// The article Metrics says what each series is.
    @Test func theArticleNamesEverySeries() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/LatchkeyService/LatchkeyService.docc/Metrics.md")
        let article = try String(contentsOf: file, encoding: .utf8)
        for series in HistorySeries.allCases { #expect(article.contains("`\(series.rawValue)`"), "\(series)") }
    }
}
