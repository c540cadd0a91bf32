import Telemetry
import TestSupport
import Testing

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
