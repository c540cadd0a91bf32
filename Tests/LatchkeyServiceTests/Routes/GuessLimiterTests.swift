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
        for _ in 0..<GuessLimiter.wrongMaximum { #expect(limiter.waitSeconds(afterWrongSecretOf: peer) == nil) }
        // What is answered with a wait makes the wait no longer.
        for _ in 0..<100 { #expect(limiter.waitSeconds(afterWrongSecretOf: peer) == 1) }
        clock.advance(by: .milliseconds(999))
        #expect(limiter.waitSeconds(afterWrongSecretOf: peer) == 1)
        clock.advance(by: .milliseconds(1))
        #expect(limiter.waitSeconds(afterWrongSecretOf: peer) == nil)
        #expect(limiter.waitSeconds(afterWrongSecretOf: peer) == 1)
        clock.advance(by: .seconds(GuessLimiter.wrongMaximum))
        for _ in 0..<GuessLimiter.wrongMaximum { #expect(limiter.waitSeconds(afterWrongSecretOf: peer) == nil) }
        #expect(limiter.waitSeconds(afterWrongSecretOf: peer) == 1)
    }

    @Test func makesNoOtherNetworkWait() throws {
        let limiter = GuessLimiter(clock: clock)
        let peer = try peer("2001:db8::1")
        for _ in 0...GuessLimiter.wrongMaximum { _ = limiter.waitSeconds(afterWrongSecretOf: peer) }
        #expect(limiter.waitSeconds(afterWrongSecretOf: try self.peer("2001:db8::2")) == 1)
        #expect(limiter.waitSeconds(afterWrongSecretOf: try self.peer("2001:db8:0:1::2")) == nil)
    }

    @Test func takesClientsOfUnixSocketsForOneNetwork() {
        let limiter = GuessLimiter(clock: clock)
        let peers = ["/a", "/b"].map { HTTPPeer(address: .unix(path: $0), listener: "l") }
        for _ in 0..<GuessLimiter.wrongMaximum { _ = limiter.waitSeconds(afterWrongSecretOf: peers[0]) }
        #expect(limiter.waitSeconds(afterWrongSecretOf: peers[1]) == 1)
    }

    @Test func remembersABoundedNumberOfNetworks() throws {
        let limiter = GuessLimiter(clock: clock)
        for number in 0..<3 * GuessLimiter.networksMaximum {
            _ = limiter.waitSeconds(afterWrongSecretOf: try peer("10.0.\(number / 256).\(number % 256)"))
            #expect(limiter.rememberedCount <= GuessLimiter.networksMaximum)
        }
    }
}
