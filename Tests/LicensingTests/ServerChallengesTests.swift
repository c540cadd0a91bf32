import KeyCrypto
import Telemetry
import TestSupport
import Testing

@testable import Licensing

@Suite struct ServerChallengesTests {
    private let clock = ManualClock()
    private let viewer = ServerChallenges.Holder(issuer: "portal", subject: "viewer-1")
    private let other = ServerChallenges.Holder(issuer: "portal", subject: "viewer-2")

    private func challenges(perHolder: Int = 8, inAll: Int = 100) -> ServerChallenges {
        var limits = ServerChallenges.Limits()
        limits.countPerHolder = perHolder
        limits.countInAll = inAll
        return ServerChallenges(limits: limits, clock: clock)
    }

    /// Draws the numbers in turn.
    private func issue(
        _ numbers: UInt64..., to holder: ServerChallenges.Holder, from challenges: ServerChallenges
    ) throws -> ServerChallenges.Issued {
        var left = numbers
        return try challenges.issue(to: holder) { left.removeFirst() }
    }

    @Test func acceptsEachOnce() throws {
        let challenges = challenges()
        #expect(try issue(7, to: viewer, from: challenges) == .challenge(7))
        #expect(challenges.accept(7, from: viewer))
        #expect(!challenges.accept(7, from: viewer))
        #expect(challenges.count == 0)
    }

    @Test func acceptsNoneThatWasNotGivenOut() {
        #expect(!challenges().accept(7, from: viewer))
        #expect(!challenges().accept(0, from: viewer))
    }

    /// What another one sends does not use it up either.
    @Test func acceptsItOnlyFromItsHolder() throws {
        let challenges = challenges()
        _ = try issue(7, to: viewer, from: challenges)
        #expect(!challenges.accept(7, from: other))
        #expect(!challenges.accept(7, from: ServerChallenges.Holder(issuer: "elsewhere", subject: "viewer-1")))
        #expect(challenges.accept(7, from: viewer))
    }

    @Test func neverGivesOutZeroNorOneThatIsOpen() throws {
        let challenges = challenges()
        #expect(try issue(0, 7, to: viewer, from: challenges) == .challenge(7))
        #expect(try issue(7, 0, 8, to: other, from: challenges) == .challenge(8))
    }

    @Test func endsWithItsLife() throws {
        let challenges = challenges()
        _ = try issue(7, to: viewer, from: challenges)
        _ = try issue(8, to: viewer, from: challenges)
        clock.advance(by: challenges.limits.life - .nanoseconds(1))
        #expect(challenges.accept(7, from: viewer))
        clock.advance(by: .nanoseconds(1))
        #expect(!challenges.accept(8, from: viewer))
        #expect(challenges.count == 0)
    }

    @Test func givesAHolderAFewAndSaysWhenToComeBack() throws {
        let challenges = challenges(perHolder: 2)
        _ = try issue(1, to: viewer, from: challenges)
        clock.advance(by: .seconds(100))
        _ = try issue(2, to: viewer, from: challenges)
        #expect(try issue(3, to: viewer, from: challenges) == .tooMany(retryAfter: .seconds(200)))
        #expect(try issue(3, to: other, from: challenges) == .challenge(3))
        #expect(challenges.accept(1, from: viewer))
        #expect(try issue(4, to: viewer, from: challenges) == .challenge(4))
    }

    @Test func givesOutOnlySoManyInAll() throws {
        let challenges = challenges(inAll: 3)
        for number in 1...3 as ClosedRange<UInt64> {
            let holder = ServerChallenges.Holder(issuer: "portal", subject: "viewer-\(number)")
            _ = try issue(number, to: holder, from: challenges)
        }
        #expect(try issue(9, to: other, from: challenges) == .tooMany(retryAfter: .seconds(300)))
        clock.advance(by: .seconds(300))
        #expect(try issue(9, to: other, from: challenges) == .challenge(9))
        #expect(challenges.count == 1)
    }

    /// Numbers that were accepted at once leave nothing behind that grows until their life would have ended.
    @Test func holdsNoMoreThanMayBeOpen() throws {
        let challenges = challenges(inAll: 16)
        for number in 1...1_000 as ClosedRange<UInt64> {
            #expect(try issue(number, to: viewer, from: challenges) == .challenge(number))
            #expect(challenges.accept(number, from: viewer))
            #expect(challenges.heldCount <= 2 * 16 + 1)
        }
    }

    /// So nobody searches among them for the oldest open one, which would be done while all others wait.
    @Test func forgetsAcceptedOnesInFront() throws {
        let challenges = challenges()
        for number in 1...5 as ClosedRange<UInt64> { _ = try issue(number, to: viewer, from: challenges) }
        for number in 1...4 as ClosedRange<UInt64> { #expect(challenges.accept(number, from: viewer)) }
        _ = try issue(6, to: other, from: challenges)
        #expect(challenges.heldCount == 2)
    }

    /// Against a model that keeps everything: random givings, takings and times.
    @Test func agreesWithAPlainModel() throws {
        var generator = SeededGenerator.announced("challenges against a model")
        let challenges = challenges(perHolder: 3, inAll: 8)
        var model: [(number: UInt64, holder: ServerChallenges.Holder, endsAt: MonotonicTime)] = []
        let holders = (0..<4).map { ServerChallenges.Holder(issuer: "portal", subject: "\($0)") }
        for step in 0..<5_000 {
            clock.advance(by: .seconds(Int.random(in: 0...20, using: &generator)))
            model.removeAll { $0.endsAt <= clock.monotonicTime }
            let holder = holders[Int.random(in: 0..<4, using: &generator)]
            if Bool.random(using: &generator) {
                let number = UInt64(step + 1)
                let fits = model.count < 8 && model.count(where: { $0.holder == holder }) < 3
                let issued = try issue(number, to: holder, from: challenges)
                #expect((issued == .challenge(number)) == fits)
                if fits { model.append((number, holder, clock.monotonicTime + .seconds(300))) }
            } else {
                let number = model.randomElement(using: &generator)?.number ?? 1
                let index = model.firstIndex { $0.number == number && $0.holder == holder }
                #expect(challenges.accept(number, from: holder) == (index != nil))
                if let index { model.remove(at: index) }
            }
            #expect(challenges.count == model.count)
        }
    }
}
