import Entitlements
import Licensing
import Telemetry
import TestSupport
import Testing

@Suite struct RateLimiterTests {
    private static let one = Rate(perSecond: 1, burst: 1)

    private let clock = ManualClock()

    private func limiter(capacity: Int = 1024) -> RateLimiter<Int> {
        RateLimiter(capacity: capacity, clock: clock)
    }

    @Test func allowsABurstAndThenARate() {
        let (limiter, rate) = (limiter(), Rate(perSecond: 10, burst: 3))
        #expect((0..<3).allSatisfy { _ in limiter.take(1, at: rate) == nil })
        #expect(limiter.take(1, at: rate) == .milliseconds(100))
        clock.advance(by: .milliseconds(99))
        #expect(limiter.take(1, at: rate) == .milliseconds(1))
        clock.advance(by: .milliseconds(1))
        #expect(limiter.take(1, at: rate) == nil)
        #expect(limiter.take(1, at: rate) == .milliseconds(100))
    }

    /// A refused request costs nothing, so a party that keeps asking is not locked out permanently.
    @Test func doesNotCountWhatItRefuses() {
        let limiter = limiter()
        #expect(limiter.take(1, at: Self.one) == nil)
        for _ in 0..<1000 { #expect(limiter.take(1, at: Self.one) != nil) }
        clock.advance(by: .seconds(1))
        #expect(limiter.take(1, at: Self.one) == nil)
    }

    @Test func tellsTheWaitWithoutCounting() {
        let (limiter, rate) = (limiter(), Rate(perSecond: 10, burst: 3))
        for taken in 0..<3 {
            for _ in 0..<10 { #expect(limiter.wait(of: 1, at: rate) == nil) }
            #expect(limiter.count == (taken == 0 ? 0 : 1))
            #expect(limiter.take(1, at: rate) == nil)
        }
        #expect(limiter.wait(of: 1, at: rate) == .milliseconds(100))
        #expect(limiter.wait(of: 2, at: rate) == nil)
        clock.advance(by: .milliseconds(99))
        #expect(limiter.wait(of: 1, at: rate) == .milliseconds(1))
        clock.advance(by: .milliseconds(1))
        #expect(limiter.wait(of: 1, at: rate) == nil)
    }

    @Test func countsEachPartyByItself() {
        let limiter = limiter()
        #expect((0..<100).allSatisfy { limiter.take($0, at: Self.one) == nil })
        #expect((0..<100).allSatisfy { limiter.take($0, at: Self.one) != nil })
    }

    @Test func letsUrgentOnesThroughForAnotherBurst() {
        let (limiter, rate) = (limiter(), Rate(perSecond: 1, burst: 5))
        for _ in 0..<5 { _ = limiter.take(1, at: rate) }
        #expect(limiter.take(1, at: rate) != nil)
        #expect((0..<5).allSatisfy { _ in limiter.take(1, at: rate, urgent: true) == nil })
        #expect(limiter.take(1, at: rate, urgent: true) != nil)
    }

    /// A reload brings another rate, and requests under the old one still count.
    @Test func takesAnotherRateWithoutANewBurst() {
        let (limiter, slow) = (limiter(), Rate(perSecond: 1, burst: 2))
        #expect(limiter.take(1, at: slow) == nil && limiter.take(1, at: slow) == nil)
        #expect(limiter.take(1, at: slow) == .seconds(1))
        let quick = Rate(perSecond: 10, burst: 3)
        // The debt of two seconds is cut to the largest debt of the new rate, which is twice its burst.
        #expect(limiter.take(1, at: quick) == .milliseconds(400))
        clock.advance(by: .milliseconds(300))
        #expect(limiter.take(1, at: quick) == .milliseconds(100))
        clock.advance(by: .milliseconds(100))
        #expect(limiter.take(1, at: quick) == nil)
        #expect(limiter.take(1, at: quick) == .milliseconds(100))
    }

    @Test func letsNoPartyPayTheDebtOfASlowerRate() {
        let limiter = limiter()
        let slow = Rate(perSecond: 1, burst: 1000)
        for _ in 0..<1000 { #expect(limiter.take(1, at: slow) == nil) }
        let quick = Rate(perSecond: 1000, burst: 1000)
        #expect(limiter.take(1, at: quick) == .milliseconds(1001))
        #expect(limiter.take(1, at: quick, urgent: true) == .milliseconds(1))
        #expect(limiter.take(2, at: quick) == nil)
    }

    @Test func remembersABoundedNumber() {
        let limiter = limiter(capacity: 64)
        for party in 0..<10_000 { _ = limiter.take(party, at: Self.one) }
        #expect(limiter.count <= 64)
    }

    /// Over any time, no party gets more than its burst and the requests that the rate adds. A party that only asks
    /// when it may gets all of them.
    @Test func neverGivesMoreThanItSays() {
        var generator = SeededGenerator.announced("rate limiter")
        for _ in 0..<50 {
            let rate = Rate(
                perSecond: .random(in: 1...1000, using: &generator), burst: .random(in: 1...50, using: &generator))
            let limiter = limiter()
            var (given, elapsed) = (0, Int64(0))
            for _ in 0..<500 {
                if limiter.take(7, at: rate) == nil { given += 1 }
                let pause = Int64.random(in: 0...20_000_000, using: &generator)
                clock.advance(by: .nanoseconds(pause))
                elapsed += pause
            }
            #expect(given <= rate.burst + 1 + Int(elapsed / (1_000_000_000 / Int64(rate.perSecond))))
        }
    }
}
