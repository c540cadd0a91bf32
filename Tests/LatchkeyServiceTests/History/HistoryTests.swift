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
    private let sink = MemoryLogSink()

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

    // MARK: The file

    /// A history after so many steps, whose licenses are 1, 2, 3 ….
    private func history(_ steps: Int) -> History {
        let level = Monitor<Double>(0)
        let history = History([.connections: .level { level.update { $0 } }], wallClock: clock, clock: clock)
        for step in 0..<steps {
            level.update { $0 = Double(step + 1) }
            clock.advance(by: HistoryRing.step)
            history.look()
        }
        return history
    }

    private func connections(_ history: History) throws -> (startsAt: Double, values: [Double?]) {
        let answer = try json(history)
        let index = try #require(HistorySeries.allCases.firstIndex(of: .connections))
        let values = try #require(answer["series"]?.array?[index].object?["values"]?.array)
        return (try #require(answer["startsAt"]?.number?.double), values.map { $0.number?.double })
    }

    @Test func aRestartKeepsTheHour() throws {
        let folder = try TemporaryDirectory()
        let path = folder.path("latchkey.db.plots")
        let before = history(4)
        let begin = try connections(before).startsAt
        #expect(HistoryFile.write(before.saved.encoded, to: path) == nil)
        clock.advance(by: .seconds(25))
        let after = history(0)
        HistoryFile.restore(after, from: path, logger: Logger(level: .info, sink: sink, clock: clock))
        clock.advance(by: HistoryRing.step)
        after.look()
        // Two steps were missed, and nothing is invented for them.
        #expect(try connections(after).values == [1, 2, 3, 4, nil, nil, 0])
        #expect(abs(try connections(after).startsAt - begin) <= 10)
        #expect(sink.lines.isEmpty)
        // Of a longer outage only what is within the hour is left, and of an hour nothing.
        for (seconds, count) in [(3000, 4 + 300), (3600, 0), (1_000_000, 0), (-100, 0)] {
            let saved = SavedHistory(
                names: before.saved.names, endsAt: clock.wallTime.seconds - Int64(seconds), steps: before.saved.steps)
            let late = history(0)
            late.restore(saved)
            #expect(try connections(late).values.count == count, "\(seconds)")
        }
    }

    @Test func readsTheSeriesByTheirNames() throws {
        let history = history(0)
        let endsAt = clock.wallTime.seconds
        history.restore(SavedHistory(names: ["of-another-version", "connections"], endsAt: endsAt, steps: [[5, 7]]))
        #expect(try connections(history).values == [7])
    }

    /// Whatever a crash or a person has left there, the daemon starts, and says so in one line.
    @Test func ignoresADamagedFile() throws {
        let good = history(3).saved.encoded
        #expect(SavedHistory(good) != nil)
        for length in stride(from: 0, to: good.count, by: 7) {
            #expect(SavedHistory(Array(good.prefix(length))) == nil)
        }
        for place in stride(from: 0, to: good.count, by: 11) {
            var altered = good
            altered[place] ^= 1
            #expect(SavedHistory(altered) == nil)
        }
        let folder = try TemporaryDirectory()
        let path = folder.path("latchkey.db.plots")
        let large = [UInt8](repeating: 0, count: SavedHistory.sizeMaximum + 1)
        for (count, bytes) in [Array(good.dropLast()), [], large].enumerated() {
            #expect(HistoryFile.write(bytes, to: path) == nil)
            let after = history(0)
            HistoryFile.restore(after, from: path, logger: Logger(level: .info, sink: sink, clock: clock))
            #expect(try connections(after).values.isEmpty)
            #expect(sink.lines.count { $0.contains("history_file_ignored") } == count + 1)
        }
        #expect(HistoryFile.write(good, to: folder.path("none/latchkey.db.plots")) != nil)
        // An hour of all series stays far below the bound.
        #expect(history(400).saved.encoded.count < SavedHistory.sizeMaximum / 4)
    }

    // MARK: Names

    @Test func everySeriesHasASourceInADaemon() throws {
        let registry = MetricsRegistry()
        let metrics = ServiceMetrics(registry: registry, rsaOperations: .init())
        let groups = Set(ProblemCode.allCases.map(\.historySeries))
        #expect(groups.count == 9 && groups.allSatisfy { $0.rawValue.hasPrefix("refusals_") })
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
        metrics.player.refused(.rateLimited)
        metrics.player.refused(.overloaded)
        metrics.player.refused(.bodyEmpty)
        clock.advance(by: .seconds(1))
        let sample = Dictionary(
            uniqueKeysWithValues: zip(HistorySeries.allCases, sampler.sample(at: clock.monotonicTime)))
        #expect(sample[.refusalsToken] == 2 && sample[.refusalsKey] == 1 && sample[.refusalsFault] == 1)
        #expect(sample[.refusalsOverload] == 2 && sample[.refusalsAnonymous] == 1)
        #expect(sample[.refusals] == 7 && sample[.refusalsSPC] == 0)
    }

    /// The page about metrics says what each series is.
    @Test func theArticleNamesEverySeries() throws {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Documentation/reference/metrics.md")
        let article = try String(contentsOf: file, encoding: .utf8)
        for series in HistorySeries.allCases { #expect(article.contains("`\(series.rawValue)`"), "\(series)") }
    }
}
