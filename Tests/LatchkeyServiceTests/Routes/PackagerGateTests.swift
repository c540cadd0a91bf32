import ByteCoding
import Entitlements
import HTTPMessages
import HTTPServing
import KeyCrypto
import Licensing
import POSIXSockets
import PackagerAPI
import Telemetry
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

/// Which requests come from a packager, and when the gate accepts them.
@Suite struct PackagerGateTests {
    private let clock = ManualClock()
    private let registry = MetricsRegistry()
    private let gate: PackagerGate
    private let directory: PackagerDirectory

    init() throws {
        gate = PackagerGate(
            countingIn: registry.counters("refused_total", help: "h", by: PackagerGate.CredentialRefusal.self),
            clock: clock)
        let key = try HMACSHA256Key(SecretBytes.random(count: 32))
        let entries = try [
            (Packager(name: "first", rate: Rate(perSecond: 1, burst: 2)), "secret-of-first"),
            (Packager(name: "second"), "secret-of-second"),
            (Packager(name: "disabled", isDisabled: true), "secret-of-disabled"),
        ].map { packager, secret in
            PackagerDirectory.Entry(
                packager, secrets: [try AuthenticatorDigest(of: Array(secret.utf8), key: key)],
                certificates: [.subject("CN=" + packager.name)])
        }
        directory = PackagerDirectory(entries, key: key)
    }

    private static let stranger = SocketAddress.internet(.v4(0xC000_0201), port: 1)
    private static let tls = TLSFacts(version: .version13, isResumed: false)

    private static func peer(
        _ address: SocketAddress = stranger, tls: TLSFacts? = tls, isBehindTrustedProxy: Bool = false,
        hasProxyHeader: Bool = false
    ) -> HTTPPeer {
        HTTPPeer(
            address: address, listener: "public", tls: tls, isBehindTrustedProxy: isBehindTrustedProxy,
            hasProxyHeader: hasProxyHeader)
    }

    private func outcome(
        _ fields: HTTPFields, _ peer: HTTPPeer = peer(), in directory: PackagerDirectory? = nil
    ) -> Result<String, PackagerGate.Refusal> {
        let head = HTTPRequestHead(method: .post, target: HTTPTarget(path: "/speke"), fields: fields)
        do throws(PackagerGate.Refusal) {
            let request = HTTPRequest(head: head, body: [], peer: peer)
            return .success(try gate.sender(of: request, in: directory ?? self.directory).name)
        } catch {
            return .failure(error)
        }
    }

    @Test(
        arguments: [
            ["Authorization": "Bearer secret-of-second"], ["authorization": "Basic c2Vjb25kOnNlY3JldC1vZi1zZWNvbmQ="],
            ["X-API-Key": "secret-of-second"],
            ["x-api-key": "secret-of-second", "Authorization": "bearer secret-of-second"],
        ] as [HTTPFields])
    func findsThePackagerOfEachField(fields: HTTPFields) {
        #expect(outcome(fields) == .success("second"))
        #expect(outcome(fields, in: .empty) == .failure(.credential(.wrong)))
    }

    @Test func readsEveryFieldOfOneName() {
        let fields: HTTPFields = ["x-api-key": "secret-of-second", "X-Api-Key": "secret-of-first"]
        #expect(outcome(fields) == .failure(.credential(.ambiguous)))
    }

    /// A proxy that ends TLS presents its own certificate. It does not stand for a packager, even if it is one
    /// elsewhere.
    @Test func takesTheCertificateOfThePackagersOwnConnection() {
        let tls = TLSFacts(
            version: .version13, isResumed: false, clientCertificate: .init(subject: "CN=second", sha256: []))
        #expect(outcome([:], Self.peer(tls: tls)) == .success("second"))
        #expect(outcome([:], Self.peer(tls: tls, hasProxyHeader: true)) == .success("second"))
        #expect(outcome([:], Self.peer(tls: tls, isBehindTrustedProxy: true)) == .failure(.credential(.missing)))
    }

    @Test func refusesPlainHTTPFromOtherMachines() throws {
        let fields: HTTPFields = ["x-api-key": "secret-of-second"]
        for fields in [fields, [:], ["x-api-key": "wrong"]] {
            #expect(outcome(fields, Self.peer(tls: nil)) == .failure(.plaintext))
        }
        let loopback = SocketAddress.internet(try #require(IPAddress("::1")), port: 1)
        for peer in [
            Self.peer(loopback, tls: nil), Self.peer(.unix(path: "/run/latchkey"), tls: nil),
            Self.peer(tls: nil, isBehindTrustedProxy: true), Self.peer(tls: nil, hasProxyHeader: true), Self.peer(),
        ] {
            #expect(outcome(fields, peer) == .success("second"))
        }
    }

    /// Of 3,600 wrong secrets in a second, ten are answered at once, and then one each second. The others are answered
    /// with a wait. The secret of a disabled packager is refused like a wrong one.
    @Test(arguments: ["secret-of-nobody", "secret-of-disabled"])
    func answersMostWrongSecretsWithAWait(secret: String) throws {
        var plain = 0
        for _ in 0..<3600 {
            switch outcome(["x-api-key": secret]) {
            case .failure(.credential): plain += 1
            case let other: #expect(other == .failure(.slowed(retryAfterSeconds: 1)))
            }
        }
        #expect(plain == GuessLimiter.wrongMaximum)
        // A right secret of that network is accepted, also if it comes for the first time.
        #expect(outcome(["x-api-key": "secret-of-second"]) == .success("second"))
        // Other networks do not wait.
        let other = Self.peer(.internet(.v4(0xC000_0202), port: 1))
        #expect(outcome(["x-api-key": "secret-of-nobody"], other) == .failure(.credential(.wrong)))
        let counted = try MetricsText(parsing: registry.render())
        #expect(counted[#"refused_total{reason="wrong"}"#] == Double(plain + 1))
        #expect(counted[#"refused_total{reason="slowed"}"#] == Double(3600 - plain))
        clock.advance(by: .seconds(1))
        guard case .failure(.credential) = outcome(["x-api-key": secret]) else {
            Issue.record("the network still waits")
            return
        }
    }

    /// Wrong secrets of the same network come between the right ones.
    @Test func neverRefusesTheRightSecret() {
        var plain = 0
        for _ in 0..<1000 {
            if outcome(["x-api-key": "secret-of-nobody"]) == .failure(.credential(.wrong)) { plain += 1 }
            #expect(outcome(["x-api-key": "secret-of-second"]) == .success("second"))
            // Nothing is told of a packager that is disabled.
            #expect(outcome(["x-api-key": "secret-of-disabled"]) != .success("disabled"))
        }
        #expect(plain <= GuessLimiter.wrongMaximum)
    }

    /// Requests without a secret do not count as guesses, and a certificate cannot be guessed.
    @Test func slowsNothingElse() {
        let tls = TLSFacts(
            version: .version13, isResumed: false, clientCertificate: .init(subject: "CN=disabled", sha256: []))
        for _ in 0..<100 {
            #expect(outcome([:]) == .failure(.credential(.missing)))
            #expect(outcome([:], Self.peer(tls: tls)) == .failure(.credential(.disabled("disabled"))))
            #expect(outcome(["x-api-key": "secret-of-second"]) == .success("second"))
        }
    }

    @Test func keepsEachPackagerToItsRate() throws {
        func admit(_ packager: Packager) -> PackagerGate.Refusal? {
            do throws(PackagerGate.Refusal) {
                try gate.admit(packager)
                return nil
            } catch {
                return error
            }
        }
        let first = Packager(name: "first", rate: Rate(perSecond: 1, burst: 2))
        #expect(admit(first) == nil && admit(first) == nil)
        #expect(admit(first) == .rate(packager: "first", retryAfterSeconds: 1))
        #expect(admit(Packager(name: "other", rate: Rate(perSecond: 1, burst: 2))) == nil)
        for _ in 0..<100 { #expect(admit(Packager(name: "second")) == nil) }
        clock.advance(by: .seconds(1))
        #expect(admit(first) == nil && admit(first) != nil)
    }

    @Test func namesNothingOfASecretInACause() {
        let refusals: [PackagerGate.Refusal] = [
            .plaintext, .slowed(retryAfterSeconds: 2), .rate(packager: "p", retryAfterSeconds: 3),
            .credential(.missing),
            .credential(.malformed), .credential(.ambiguous), .credential(.wrong), .credential(.disabled("p")),
        ]
        #expect(Set(refusals.map(\.cause.text)).count == refusals.count)
        #expect(refusals.map(\.retryAfterSeconds) == [nil, 2, 3, nil, nil, nil, nil, nil])
    }
}
