import HTTPServing
import POSIXSockets
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

@Suite struct GuessLimiterTests {
    private let clock = ManualClock()
    private let wrong = Array("wrong".utf8)
    private let right = Array("right".utf8)

    private func peer(_ address: String) throws -> HTTPPeer {
        HTTPPeer(address: .internet(try #require(IPAddress(address)), port: 1), listener: "l")
    }

    @Test func makesANetworkWaitAfterItsWrongSecrets() throws {
        let limiter = GuessLimiter(clock: clock)
        let peer = try peer("192.0.2.1")
        for _ in 0..<GuessLimiter.wrongMaximum {
            #expect(limiter.waitSeconds(of: peer, with: wrong) == nil)
            limiter.noteWrongSecret(wrong, of: peer)
        }
        #expect(limiter.waitSeconds(of: peer, with: wrong) == 1)
        // Wrong secrets that were checked at the same time count too.
        for _ in 0..<3 { limiter.noteWrongSecret(wrong, of: peer) }
        #expect(limiter.waitSeconds(of: peer, with: wrong) == 4)
        clock.advance(by: .seconds(4))
        #expect(limiter.waitSeconds(of: peer, with: wrong) == nil)
        limiter.noteWrongSecret(wrong, of: peer)
        #expect(limiter.waitSeconds(of: peer, with: wrong) == 1)
        clock.advance(by: .seconds(GuessLimiter.wrongMaximum))
        #expect(limiter.waitSeconds(of: peer, with: wrong) == nil)
    }

    @Test func takesClientsOfUnixSocketsForOneNetwork() {
        let limiter = GuessLimiter(clock: clock)
        let peers = ["/a", "/b"].map { HTTPPeer(address: .unix(path: $0), listener: "l") }
        for _ in 0..<GuessLimiter.wrongMaximum { limiter.noteWrongSecret(wrong, of: peers[0]) }
        #expect(limiter.waitSeconds(of: peers[1], with: wrong) == 1)
    }

    @Test func remembersABoundedNumberOfNetworks() throws {
        let limiter = GuessLimiter(clock: clock)
        for number in 0..<3 * GuessLimiter.networksMaximum {
            limiter.noteWrongSecret(wrong, of: try peer("10.0.\(number / 256).\(number % 256)"))
            #expect(limiter.rememberedCount <= GuessLimiter.networksMaximum)
        }
    }

    @Test func letsARightSecretThroughForAnHour() throws {
        let limiter = GuessLimiter(clock: clock)
        let peer = try peer("192.0.2.1")
        let other = try self.peer("198.51.100.1")
        func guess(_ count: Int = GuessLimiter.wrongMaximum) {
            for _ in 0..<count { for peer in [peer, other] { limiter.noteWrongSecret(wrong, of: peer) } }
        }
        limiter.noteRightSecret(right, of: peer)
        guess()
        #expect(limiter.waitSeconds(of: peer, with: right) == nil)
        // The guesses themselves gain nothing, nor does another network with the same secret.
        #expect(limiter.waitSeconds(of: peer, with: wrong) == 1)
        #expect(limiter.waitSeconds(of: peer, with: nil) == 1)
        #expect(limiter.waitSeconds(of: other, with: right) == 1)
        // A right secret does not make the network's guesses forgotten.
        limiter.noteRightSecret(right, of: peer)
        #expect(limiter.waitSeconds(of: peer, with: wrong) == 1)
        clock.advance(by: GuessLimiter.rightLife - .nanoseconds(1))
        guess()
        #expect(limiter.waitSeconds(of: peer, with: right) == nil)
        clock.advance(by: .nanoseconds(1))
        #expect(limiter.waitSeconds(of: peer, with: right) != nil)
    }

    /// A secret that was replaced is checked once more, and is then as slow as any other.
    @Test func forgetsASecretThatIsNoLongerRight() throws {
        let limiter = GuessLimiter(clock: clock)
        let peer = try peer("192.0.2.1")
        limiter.noteRightSecret(right, of: peer)
        for _ in 0..<GuessLimiter.wrongMaximum { limiter.noteWrongSecret(wrong, of: peer) }
        #expect(limiter.waitSeconds(of: peer, with: right) == nil)
        limiter.noteWrongSecret(right, of: peer)
        #expect(limiter.waitSeconds(of: peer, with: right) != nil)
    }

    @Test func remembersABoundedNumberOfRightSecrets() throws {
        let limiter = GuessLimiter(clock: clock)
        for number in 0..<2 * GuessLimiter.rightMaximum {
            limiter.noteRightSecret(right, of: try peer("10.0.\(number / 256).\(number % 256)"))
            #expect(limiter.rightCount <= GuessLimiter.rightMaximum)
        }
    }
}
