import Entitlements
import Licensing
import Telemetry
import TestSupport
import Testing

@Suite struct RateLimiterTests {
    private let clock = ManualClock()

    private func limiter(_ rate: Rate, capacity: Int = 1024) -> RateLimiter<Int> {
        RateLimiter(rate, capacity: capacity, clock: clock)
    }

    @Test func allowsABurstAndThenARate() {
        let limiter = limiter(Rate(perSecond: 10, burst: 3))
        #expect((0..<3).allSatisfy { _ in limiter.take(1) == nil })
        #expect(limiter.take(1) == .milliseconds(100))
        clock.advance(by: .milliseconds(99))
        #expect(limiter.take(1) == .milliseconds(1))
        clock.advance(by: .milliseconds(1))
        #expect(limiter.take(1) == nil)
        #expect(limiter.take(1) == .milliseconds(100))
    }

    /// What is refused costs nothing: who keeps asking is not kept out for ever.
    @Test func doesNotCountWhatItRefuses() {
        let limiter = limiter(Rate(perSecond: 1, burst: 1))
        #expect(limiter.take(1) == nil)
        for _ in 0..<1000 { #expect(limiter.take(1) != nil) }
        clock.advance(by: .seconds(1))
        #expect(limiter.take(1) == nil)
    }

    @Test func countsEachPartyByItself() {
        let limiter = limiter(Rate(perSecond: 1, burst: 1))
        #expect((0..<100).allSatisfy { limiter.take($0) == nil })
        #expect((0..<100).allSatisfy { limiter.take($0) != nil })
    }

    @Test func letsUrgentOnesThroughForAnotherBurst() {
        let limiter = limiter(Rate(perSecond: 1, burst: 5))
        for _ in 0..<5 { _ = limiter.take(1) }
        #expect(limiter.take(1) != nil)
        #expect((0..<5).allSatisfy { _ in limiter.take(1, urgent: true) == nil })
        #expect(limiter.take(1, urgent: true) != nil)
    }

    @Test func remembersABoundedNumber() {
        let limiter = limiter(Rate(perSecond: 1, burst: 1), capacity: 64)
        for party in 0..<10_000 { _ = limiter.take(party) }
        #expect(limiter.count <= 64)
    }

    /// Over any time no party gets more than its burst and what the rate adds; and one that only asks when it may gets all of it.
    @Test func neverGivesMoreThanItSays() {
        var generator = SeededGenerator.announced("rate limiter")
        for _ in 0..<50 {
            let rate = Rate(
                perSecond: .random(in: 1...1000, using: &generator), burst: .random(in: 1...50, using: &generator))
            let limiter = limiter(rate)
            var (given, elapsed) = (0, Int64(0))
            for _ in 0..<500 {
                if limiter.take(7) == nil { given += 1 }
                let pause = Int64.random(in: 0...20_000_000, using: &generator)
                clock.advance(by: .nanoseconds(pause))
                elapsed += pause
            }
            #expect(given <= rate.burst + 1 + Int(elapsed / (1_000_000_000 / Int64(rate.perSecond))))
        }
    }
}
