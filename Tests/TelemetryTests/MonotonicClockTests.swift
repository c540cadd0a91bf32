import Testing

@testable import Telemetry

@Suite struct MonotonicTimeTests {
    @Test func addsAndSubtracts() {
        let start = MonotonicTime(nanoseconds: 1_000)
        #expect(start + .microseconds(2) == MonotonicTime(nanoseconds: 3_000))
        #expect((start + .seconds(1)) - start == .seconds(1))
        #expect(start - (start + .seconds(1)) == .seconds(-1))
    }

    @Test func staysInRange() {
        #expect(MonotonicTime(nanoseconds: 5) + .seconds(Int64.max) == .distantFuture)
        #expect(MonotonicTime.distantFuture + .seconds(1) == .distantFuture)
        #expect(MonotonicTime(nanoseconds: -5) + .seconds(Int64.min) == MonotonicTime(nanoseconds: .min))
    }

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
        #expect(times[0].nanoseconds > 0)
        #expect(times == times.sorted())
    }
}

@Suite struct WallTimeTests {
    @Test func nanosecondsStayBelowASecond() {
        #expect(WallTime(seconds: 1, nanoseconds: .max).nanoseconds == 999_999_999)
        #expect(SystemWallClock().wallTime.nanoseconds < 1_000_000_000)
    }
}
