import HTTPMessages
import HTTPServing
import KeyCrypto
import Licensing
import POSIXSockets
import ServiceConfiguration
import Telemetry
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

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

    private var credentials: AdminCredentials {
        AdminCredentials(tokens: [.init(name: "other", secret: other), .init(name: "alice", secret: token)])
    }

    private func refusal(by gate: AdminGate, of request: HTTPRequest) -> AdminRefusal? {
        do throws(AdminRefusal) {
            let sender = try gate.sender(of: request, among: credentials)
            #expect(sender.name == "alice" && sender.actor == "token:alice" && sender.roles == [.admin])
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

    /// Of 3,600 wrong tokens in a second, ten are answered at once, and afterwards one each second. The others are
    /// answered with a wait.
    @Test func answersMostWrongTokensWithAWait() throws {
        let gate = gate()
        var plain = 0
        for _ in 0..<3600 {
            let refusal = refusal(by: gate, of: request("a wrong token...."))
            if refusal?.problem.code == .adminTokenInvalid {
                plain += 1
            } else {
                #expect(refusal?.problem.code == .rateLimited && refusal?.problem.retryAfterSeconds == 1)
            }
        }
        #expect(plain == GuessLimiter.wrongMaximum)
        for _ in 0..<5 {
            clock.advance(by: .seconds(1))
            for _ in 0..<100 where refusal(by: gate, of: request("wrong"))?.problem.code == .adminTokenInvalid {
                plain += 1
            }
        }
        #expect(plain == GuessLimiter.wrongMaximum + 5)
        let counted = try MetricsText(parsing: registry.render())
        #expect(counted[#"refused_total{reason="wrong"}"#] == Double(plain))
        #expect(counted[#"refused_total{reason="slowed"}"#] == Double(3600 + 500 - plain))
    }

    /// A log-in at the page presents a token too. Wrong ones there and in `Authorization` count together.
    @Test func countsWrongTokensOfLogInsToo() throws {
        let gate = gate()
        let peer = request("").peer
        func code(_ secret: String) -> ProblemCode? {
            do throws(AdminRefusal) {
                let token = try gate.token(presenting: Array(secret.utf8), from: peer, among: credentials)
                #expect(token.name == "alice")
                return nil
            } catch {
                return error.problem.code
            }
        }
        #expect(code("") == .adminTokenInvalid)
        for _ in 1..<GuessLimiter.wrongMaximum { #expect(code("the wrong token!") == .adminTokenInvalid) }
        #expect(code("the wrong token!") == .rateLimited && code("") == .rateLimited)
        #expect(refusal(by: gate, of: request("the wrong token!"))?.problem.code == .rateLimited)
        #expect(code("the right token!") == nil)
    }

    /// Neither before its first use nor between any number of wrong tokens of its network. Otherwise a client behind
    /// the same address could lock out operators.
    @Test func neverRefusesTheRightToken() {
        let gate = gate()
        for _ in 0..<100 { _ = refusal(by: gate, of: request("a wrong token....")) }
        for _ in 0..<1000 {
            #expect(refusal(by: gate, of: request("the right token!")) == nil)
            #expect(refusal(by: gate, of: request("a wrong token...."))?.problem.code == .rateLimited)
        }
    }

    @Test(arguments: [
        ("keys.internal:9443", true), ("Keys.Internal", true), ("other.internal", false), ("10.0.0.1", true),
    ])
    func takesListedNamesAlone(host: String, isTaken: Bool) {
        let gate = gate(hosts: ["keys.internal"])
        let head = HTTPRequestHead(method: .get, target: HTTPTarget(path: "/"), fields: ["Host": host])
        let request = HTTPRequest(
            head: head, body: [], peer: HTTPPeer(address: .internet(.v4(1), port: 1), listener: "admin"))
        for credentials in [credentials, AdminCredentials()] {
            for isForBrowsers in [true, false] {
                #expect(isTaken == takes(gate, request, isForBrowsers, credentials))
            }
        }
    }

    /// Without listed names, a client that is no browser may use any name at a listener with credentials.
    @Test(arguments: ["keys.internal", "rebound.example:9443", ""])
    func takesOtherNamesOfProgramsAlone(host: String) {
        let head = HTTPRequestHead(
            method: .get, target: HTTPTarget(path: "/"), fields: host.isEmpty ? [:] : ["Host": host])
        let request = HTTPRequest(
            head: head, body: [], peer: HTTPPeer(address: .internet(.v4(1), port: 1), listener: "admin"))
        #expect(takes(gate(), request, false, credentials))
        #expect(!takes(gate(), request, true, credentials))
        #expect(takes(gate(), request, false, AdminCredentials()) == host.isEmpty)
    }

    private func takes(
        _ gate: AdminGate, _ request: HTTPRequest, _ isForBrowsers: Bool, _ credentials: AdminCredentials
    ) -> Bool {
        do throws(AdminRefusal) {
            try gate.checkHost(of: request, isForBrowsers: isForBrowsers, among: credentials)
            return true
        } catch {
            #expect(error.problem.code == .requestInvalid)
            return false
        }
    }
}
