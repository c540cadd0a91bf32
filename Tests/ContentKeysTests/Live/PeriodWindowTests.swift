import ContentKeys
import TestSupport
import Testing

/// Tests of the periods of a live content that are served.
@Suite struct PeriodWindowTests {
    /// A content with its periods, a time, and the served periods.
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        var schedule: PeriodSchedule?
        var periods: [KnownPeriod] = []
        var window: UInt32 = 0
        var endedAt: Int64?
        let times: ClosedRange<Int64>
        /// The served periods; nil if all are served.
        let served: ClosedRange<Int64>?

        var testDescription: String { name }
        var live: LivePeriods {
            LivePeriods(
                LiveContent(PeriodWindowTests.content, window: window, schedule: schedule, endedAt: endedAt),
                periods: periods)
        }
    }

    static let content = known { try ContentID("movie-live") }

    /// Hourly periods from 1,000,000 on; the first one has index 5.
    static let hourly = PeriodSchedule(
        firstIndex: 5, firstStart: 1_000_000, length: 3_600, tracks: [PeriodTrack(.unlabelled)])

    private static func hour(_ count: Int64) -> Int64 { 1_000_000 + 3_600 * count }

    private static func known<Value>(_ make: () throws -> Value) -> Value {
        do { return try make() } catch { preconditionFailure("a sample is valid") }
    }

    static let rows: [Row] = [
        Row(name: "the start of the first period", schedule: hourly, times: hour(0)...hour(0), served: 4...6),
        Row(name: "the last second of a period", schedule: hourly, times: hour(1) - 1...hour(1) - 1, served: 4...6),
        Row(name: "the first second of the next one", schedule: hourly, times: hour(1)...hour(1), served: 5...7),
        Row(name: "long before the first period", schedule: hourly, times: 0...0, served: 3...5),
        Row(
            name: "a window of one is the least", schedule: hourly, window: 1, times: hour(5)...hour(5),
            served: 9...11),
        Row(name: "a window", schedule: hourly, window: 4, times: hour(5)...hour(5), served: 6...11),
        Row(
            name: "a window that is longer than the content", schedule: hourly, window: 50, times: hour(0)...hour(0),
            served: -45...6),
        Row(
            name: "an uncertain time serves the periods of both ends", schedule: hourly, window: 2,
            times: hour(3)...hour(90), served: 6...96),
        Row(
            name: "no period begins after the end", schedule: hourly, endedAt: hour(2), times: hour(90)...hour(90),
            served: 6...8),
        Row(
            name: "an end that is yet to come", schedule: hourly, endedAt: hour(9), times: hour(2)...hour(2),
            served: 6...8),
        Row(name: "nothing is known", times: 0...0, served: nil),
        Row(
            name: "without times the newest period is the next one",
            periods: [9, 8, 7].map { KnownPeriod(index: $0) }, times: 0...0, served: 7...9),
        Row(name: "one period without a time", periods: [KnownPeriod(index: 0)], times: 0...0, served: -2...0),
        Row(
            name: "the last one that has begun",
            periods: [
                KnownPeriod(index: 9, start: 300), KnownPeriod(index: 8, start: 200), KnownPeriod(index: 7, start: 100),
            ], times: 299...299, served: 7...9),
        Row(
            name: "one that begins at this second",
            periods: [KnownPeriod(index: 9, start: 300), KnownPeriod(index: 8, start: 200)], times: 300...300,
            served: 8...10),
        Row(
            name: "none has begun", periods: [KnownPeriod(index: 9, start: 300), KnownPeriod(index: 8, start: 200)],
            times: 0...0, served: 6...8),
        Row(
            name: "a newer one without a time shows that time has passed",
            periods: [KnownPeriod(index: 20), KnownPeriod(index: 8, start: 200)], times: 250...250, served: 18...20),
        Row(
            name: "an older one without a time changes nothing",
            periods: [KnownPeriod(index: 9, start: 300), KnownPeriod(index: 8)], times: 300...300, served: 8...10),
        Row(
            name: "the end of a period does not begin another one",
            periods: [KnownPeriod(index: 8, start: 200, end: 300)], times: 5_000...5_000, served: 7...9),
        Row(
            name: "uncertain times of a packager",
            periods: [
                KnownPeriod(index: 9, start: 300), KnownPeriod(index: 8, start: 200), KnownPeriod(index: 7, start: 100),
            ], times: 150...300, served: 6...10),
    ]

    @Test(arguments: rows)
    func servesTheseAndNoOthers(row: Row) throws {
        let window = row.live.window(at: row.times)
        #expect(window?.served == row.served)
        guard let window, let served = row.served else { return }
        for period in UInt32(clamping: served.lowerBound)...UInt32(clamping: served.upperBound) {
            #expect(window.refusal(of: period, Self.content) == nil)
        }
        if let before = UInt32(exactly: served.lowerBound - 1) {
            #expect(window.refusal(of: before, Self.content)?.reason == .past)
        }
        #expect(window.refusal(of: UInt32(served.upperBound + 1), Self.content)?.reason == .future)
    }

    @Test func saysWhyAPeriodIsNotServed() throws {
        let live = LivePeriods(LiveContent(Self.content, window: 4, schedule: Self.hourly))
        let window = try #require(live.window(at: Self.hour(4)...Self.hour(4)))
        #expect(
            window.refusal(of: 3, Self.content)?.description
                == "period 3 has left the window of movie-live: current 9, window 4")
        #expect(
            window.refusal(of: 11, Self.content)?.description == "period 11 of movie-live is not due yet: current 9")
    }

    /// Period indices end at 2^32 - 1, and times far away cause no overflow.
    @Test func countsToTheLastPeriodAndNoFurther() throws {
        let schedule = try #require(
            PeriodSchedule(
                firstIndex: .max - 1, firstStart: -9_000_000_000_000_000_000, length: 60,
                tracks: [PeriodTrack(.unlabelled)]))
        #expect(schedule.index(at: .max) == Int64(UInt32.max))
        #expect(schedule.needed(at: Int64(UInt32.max)) == .max ... .max)
        #expect(schedule.index(at: .min) == Int64(UInt32.max) - 2)
    }

    @Test func needsTheCurrentPeriodAndThoseAhead() throws {
        let schedule = try #require(
            PeriodSchedule(
                firstIndex: 5, firstStart: 0, length: 60, ahead: 3, tracks: [PeriodTrack(.unlabelled)]))
        #expect(schedule.needed(at: 9) == 9...12)
        // Before the first period begins, the first period is needed.
        #expect(schedule.needed(at: 4) == 5...7)
        #expect(schedule.needed(at: schedule.index(at: 120)) == 7...10)
        #expect(schedule.start(of: 7) == 120)
    }

    @Test func refusesSchedulesThatMakeNoSense() {
        let track = PeriodTrack(.unlabelled)
        func schedule(length: Int64 = 60, ahead: UInt32 = 1, tracks: [PeriodTrack]) -> PeriodSchedule? {
            PeriodSchedule(firstIndex: 0, firstStart: 0, length: length, ahead: ahead, tracks: tracks)
        }
        #expect(schedule(tracks: [track]) != nil)
        #expect(schedule(length: 59, tracks: [track]) == nil)
        #expect(schedule(length: 31_622_401, tracks: [track]) == nil)
        #expect(schedule(ahead: 0, tracks: [track]) == nil)
        #expect(schedule(ahead: 65, tracks: [track]) == nil)
        #expect(schedule(tracks: []) == nil)
        #expect(schedule(tracks: [track, track]) == nil)
        #expect(schedule(tracks: [PeriodTrack(Track(.sd)), PeriodTrack(Track(.hd))]) != nil)
    }
}

/// Properties of any schedule, any periods and any time.
@Suite struct PeriodWindowProperties {
    @Test func holdForAnyContent() throws {
        var generator = SeededGenerator.announced("PeriodWindowProperties")
        var checked = 0
        for _ in 0..<5_000 {
            let live = Self.content(&generator)
            let times = [Self.time(&generator), Self.time(&generator)].sorted()
            guard let window = live.window(at: times[0]...times[1]) else {
                #expect(live.content.schedule == nil && live.periods.isEmpty)
                continue
            }
            checked += 1
            Self.check(live, window, times)
        }
        #expect(checked > 4_000)
    }

    private static func check(_ live: LivePeriods, _ window: PeriodWindow, _ times: [Int64]) {
        guard let early = live.window(at: times[0]...times[0]), let late = live.window(at: times[1]...times[1]) else {
            Issue.record("whether a period is known does not depend on the time")
            return
        }
        // A single time has one current period, and a later time never has an earlier one.
        #expect(early.current.count == 1 && late.current.count == 1)
        #expect(early.current.upperBound <= late.current.lowerBound)
        // An uncertain time serves the periods of both ends, and none before or after them.
        #expect(window.served.lowerBound == early.served.lowerBound)
        #expect(window.served.upperBound == late.served.upperBound)
        // N-1, N and N+1 are always served.
        for current in [early.current.lowerBound, late.current.lowerBound] {
            for period in current - 1...current + 1 {
                guard let period = UInt32(exactly: period) else { continue }
                #expect(window.refusal(of: period, live.content.contentID) == nil)
            }
        }
        // A longer window never serves fewer periods.
        var longer = live.content
        longer.window += 1
        let wider = LivePeriods(longer, periods: live.periods).window(at: times[0]...times[1])
        #expect(wider.map { $0.served.contains(window.served.lowerBound) } == true)
        // A period that has a key, and no time from the packager, is at most the next period.
        if live.content.schedule == nil, let newest = live.periods.filter({ $0.start == nil }).map(\.index).max() {
            #expect(Int64(newest) <= early.served.upperBound)
        }
    }

    private static func content(_ generator: inout SeededGenerator) -> LivePeriods {
        var content = LiveContent(PeriodWindowTests.content, window: UInt32.random(in: 0...12, using: &generator))
        if Bool.random(using: &generator) {
            content.schedule = PeriodSchedule(
                firstIndex: UInt32.random(in: 0...40, using: &generator), firstStart: time(&generator),
                length: Int64.random(in: 60...900, using: &generator), tracks: [PeriodTrack(.unlabelled)])
        }
        if UInt8.random(in: 0...3, using: &generator) == 0 { content.endedAt = time(&generator) }
        guard content.schedule == nil else { return LivePeriods(content) }
        let indexes = (0..<UInt8.random(in: 0...12, using: &generator)).map { _ in
            UInt32.random(in: 0...40, using: &generator)
        }
        let periods = Set(indexes).sorted(by: >).map { index in
            let start = Bool.random(using: &generator) ? time(&generator) : nil
            return KnownPeriod(index: index, start: start, end: start.map { $0 + 60 })
        }
        return LivePeriods(content, periods: periods)
    }

    private static func time(_ generator: inout SeededGenerator) -> Int64 {
        Int64.random(in: -1_000...50_000, using: &generator)
    }
}
