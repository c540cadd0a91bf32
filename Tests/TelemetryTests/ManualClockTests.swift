import Testing

@testable import Telemetry

@Suite struct ManualClockTests {
    @Test func bothClocksStandUntilTimePasses() {
        let clock = ManualClock()
        #expect(clock.wallTime == WallTime(seconds: 1_767_225_600))
        #expect(clock.monotonicTime == MonotonicTime(nanoseconds: 0))
        clock.advance(by: .milliseconds(1_999) + .nanoseconds(7))
        #expect(clock.wallTime == WallTime(seconds: 1_767_225_601, nanoseconds: 999_000_007))
        #expect(clock.monotonicTime == MonotonicTime(nanoseconds: 1_999_000_007))
        clock.advance(by: .nanoseconds(999_993))
        #expect(clock.wallTime == WallTime(seconds: 1_767_225_602))
    }

    @Test func aStepOfTheTimeOfDayMovesNoDuration() {
        let clock = ManualClock(wallTime: WallTime(seconds: -1, nanoseconds: 500_000_000))
        let before = clock.monotonicTime
        clock.setWallTime(WallTime(seconds: -86_400))
        clock.advance(by: .seconds(2))
        #expect(clock.wallTime == WallTime(seconds: -86_398))
        #expect(clock.monotonicTime - before == .seconds(2))
    }
}

@Suite struct MonotonicTimeTests {
    @Test(
        arguments: [
            (0, .nanoseconds(1), 1), (5, .nanoseconds(-7), -2), (Int64.max, .nanoseconds(1), Int64.max),
            (Int64.max - 1, .nanoseconds(1), Int64.max), (Int64.min, .nanoseconds(-1), Int64.min),
            (0, .seconds(Int64.max), Int64.max), (0, .seconds(Int64.min), Int64.min),
            (9_007_199_254_740_993, .nanoseconds(1), 9_007_199_254_740_994), (0, .milliseconds(1_500), 1_500_000_000),
        ] as [(Int64, Duration, Int64)])
    func additionIsExactAndEndsAtTheLastMoment(start: Int64, duration: Duration, end: Int64) {
        #expect(MonotonicTime(nanoseconds: start) + duration == MonotonicTime(nanoseconds: end))
    }

    @Test func differencesNeverOverflow() {
        let whole = MonotonicTime(nanoseconds: .max) - MonotonicTime(nanoseconds: .min)
        #expect(whole == .nanoseconds(Int64.max) + .nanoseconds(Int64.max) + .nanoseconds(1))
    }

    @Test func theSystemClockDoesNotRunBackwards() {
        let clock = SystemMonotonicClock()
        let times = (0..<1000).map { _ in clock.monotonicTime }
        #expect(times == times.sorted())
    }

    @Test func nanosecondsStayBelowASecond() {
        #expect(WallTime(seconds: 1, nanoseconds: .max).nanoseconds == 999_999_999)
        #expect(SystemWallClock().wallTime.nanoseconds < 1_000_000_000)
    }
}
