import HTTPMessages
import HTTPServing
import KeyCrypto
import Licensing
import POSIXSockets
import ServiceConfiguration
import Telemetry
import TestSupport
import Testing

@testable import LatchkeyService

@Suite struct AdminGateTests {
    private let clock = ManualClock()
    private let registry = MetricsRegistry()
    private let refusedTokens: MetricFamily<AdminGate.TokenRefusal, Counter>
    private let other = SharedSecret(SecretBytes(copying: Array("another token...".utf8)))
    private let token = SharedSecret(SecretBytes(copying: Array("the right token!".utf8)))

    init() {
        refusedTokens = registry.counters("refused_total", help: "h", by: AdminGate.TokenRefusal.self)
    }

    private func gate(hosts: Set<String> = []) -> AdminGate {
        AdminGate(hosts: hosts, countingIn: refusedTokens, clock: clock)
    }

    private func refusal(by gate: AdminGate, of request: HTTPRequest) -> AdminGate.Refusal? {
        do throws(AdminGate.Refusal) {
            let holder = try gate.holder(
                in: request, of: [.init(name: "other", secret: other), .init(name: "alice", secret: token)])
            #expect(holder == "alice")
            return nil
        } catch {
            return error
        }
    }

    private func request(_ presented: String, from address: String = "192.0.2.1") -> HTTPRequest {
        HTTPRequest(
            head: HTTPRequestHead(
                method: .get, target: HTTPTarget(path: "/metrics"), fields: ["Authorization": "Bearer \(presented)"]),
            body: [], peer: HTTPPeer(address: .internet(IPAddress(address) ?? .v4(0), port: 1), listener: "admin"))
    }

    /// Of 3,600 guesses in a second, ten are checked. Afterwards one is checked each second.
    @Test func slowsWrongTokens() throws {
        let gate = gate()
        var judged = 0
        for _ in 0..<3600 {
            let refusal = refusal(by: gate, of: request("a wrong token...."))
            if refusal?.code == .adminTokenInvalid { judged += 1 } else { #expect(refusal?.code == .rateLimited) }
        }
        #expect(judged == GuessLimiter.wrongMaximum)
        for _ in 0..<5 {
            clock.advance(by: .seconds(1))
            for _ in 0..<100 where refusal(by: gate, of: request("wrong"))?.code == .adminTokenInvalid {
                judged += 1
            }
        }
        #expect(judged == GuessLimiter.wrongMaximum + 5)
        let counted = try MetricsText(parsing: registry.render())
        #expect(counted[#"refused_total{reason="wrong"}"#] == Double(judged))
        #expect(counted[#"refused_total{reason="slowed"}"#] == Double(3600 + 500 - judged))
        // Even a right guess would not be accepted now.
        #expect(refusal(by: gate, of: request("the right token!"))?.retryAfterSeconds == 1)
        clock.advance(by: .seconds(1))
        #expect(refusal(by: gate, of: request("the right token!")) == nil)
    }

    @Test func slowsNoOtherNetwork() {
        let gate = gate()
        for _ in 0..<100 { _ = refusal(by: gate, of: request("wrong", from: "2001:db8::1")) }
        let rest = request("the right token!", from: "2001:db8::2")
        #expect(refusal(by: gate, of: rest)?.code == .rateLimited)
        let other = request("the right token!", from: "2001:db8:0:1::2")
        #expect(refusal(by: gate, of: other) == nil)
    }

    @Test func neverSlowsTheRightToken() {
        let gate = gate()
        for _ in 0..<1000 { #expect(refusal(by: gate, of: request("the right token!")) == nil) }
    }

    @Test(arguments: [
        ("keys.internal:9443", true), ("Keys.Internal", true), ("other.internal", false), ("10.0.0.1", true),
    ])
    func takesListedNamesAlone(host: String, isTaken: Bool) {
        let gate = gate(hosts: ["keys.internal"])
        let head = HTTPRequestHead(method: .get, target: HTTPTarget(path: "/"), fields: ["Host": host])
        let request = HTTPRequest(
            head: head, body: [], peer: HTTPPeer(address: .internet(.v4(1), port: 1), listener: "admin"))
        for hasToken in [true, false] {
            #expect((gate.refusal(ofHostIn: request, hasToken: hasToken) == nil) == isTaken)
        }
    }
}
