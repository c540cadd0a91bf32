import Telemetry
import Testing

@testable import EventLoops

@Suite struct LoopLoadTests {
    private let load = LoopLoad()

    private func time(_ milliseconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }

    private func turn(from start: Int64, to end: Int64) {
        load.turnBegan(at: time(start))
        load.turnEnded(at: time(end))
    }

    @Test func lagsForAsLongAsATurnRuns() {
        #expect(load.lag(at: time(5)) == .zero)
        load.turnBegan(at: time(10))
        #expect(load.lag(at: time(10)) == .zero)
        #expect(load.lag(at: time(250)) == .milliseconds(240))
        load.turnEnded(at: time(300))
        #expect(load.lag(at: time(400)) == .zero)
    }

    @Test func keepsTheLongestTurnForOneToTwoWindows() {
        turn(from: 0, to: 90)
        turn(from: 100, to: 101)
        #expect(load.longestTurn == .milliseconds(90))
        turn(from: 31_000, to: 31_002)
        #expect(load.longestTurn == .milliseconds(90))
        turn(from: 62_000, to: 62_003)
        #expect(load.longestTurn == .milliseconds(3))
    }

    @Test func endsNoTurnThatHasNotBegun() {
        load.turnEnded(at: time(50))
        #expect(load.longestTurn == .zero)
    }
}
