import EventLoops
import Testing

@Suite struct LoopInstantTests {
    @Test func addsAndSubtracts() {
        let start = LoopInstant(nanoseconds: 1_000)
        #expect(start + .microseconds(2) == LoopInstant(nanoseconds: 3_000))
        #expect((start + .seconds(1)) - start == .seconds(1))
        #expect(start - (start + .seconds(1)) == .seconds(-1))
    }

    @Test func staysInRange() {
        #expect(LoopInstant(nanoseconds: 5) + .seconds(Int64.max) == .distantFuture)
        #expect(LoopInstant.distantFuture + .seconds(1) == .distantFuture)
        #expect(LoopInstant(nanoseconds: -5) + .seconds(Int64.min) == LoopInstant(nanoseconds: .min))
    }

    @Test func theSystemClockRuns() {
        let clock = SystemLoopClock()
        let first = clock.now
        #expect(first.nanoseconds > 0)
        #expect(clock.now >= first)
    }
}
