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

    private func peer(_ address: String) throws -> HTTPPeer {
        HTTPPeer(address: .internet(try #require(IPAddress(address)), port: 1), listener: "l")
    }

    @Test func makesANetworkWaitAfterItsWrongSecrets() throws {
        let limiter = GuessLimiter(clock: clock)
        let peer = try peer("192.0.2.1")
        for _ in 0..<GuessLimiter.wrongMaximum {
            #expect(limiter.waitSeconds(of: peer) == nil)
            limiter.noteWrongSecret(of: peer)
        }
        #expect(limiter.waitSeconds(of: peer) == 1)
        // Wrong secrets that were checked at the same time count too.
        for _ in 0..<3 { limiter.noteWrongSecret(of: peer) }
        #expect(limiter.waitSeconds(of: peer) == 4)
        clock.advance(by: .seconds(4))
        #expect(limiter.waitSeconds(of: peer) == nil)
        limiter.noteWrongSecret(of: peer)
        #expect(limiter.waitSeconds(of: peer) == 1)
        clock.advance(by: .seconds(GuessLimiter.wrongMaximum))
        #expect(limiter.waitSeconds(of: peer) == nil)
    }

    @Test func takesClientsOfUnixSocketsForOneNetwork() {
        let limiter = GuessLimiter(clock: clock)
        let peers = ["/a", "/b"].map { HTTPPeer(address: .unix(path: $0), listener: "l") }
        for _ in 0..<GuessLimiter.wrongMaximum { limiter.noteWrongSecret(of: peers[0]) }
        #expect(limiter.waitSeconds(of: peers[1]) == 1)
    }

    @Test func remembersABoundedNumberOfNetworks() throws {
        let limiter = GuessLimiter(clock: clock)
        for number in 0..<3 * GuessLimiter.networksMaximum {
            limiter.noteWrongSecret(of: try peer("10.0.\(number / 256).\(number % 256)"))
            #expect(limiter.rememberedCount <= GuessLimiter.networksMaximum)
        }
    }
}
