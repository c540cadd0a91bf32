import ByteCoding
import HTTPMessages
import HTTPServing
import Licensing
import POSIXSockets
import PackagerAPI
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

/// Sessions of the operator's page, and who a sender is, through the routes.
@Suite struct SessionEndpointTests {
    private static let secret = "the secret of alice"
    private static let own: HTTPFields = [
        "Host": "localhost:9443", "Origin": "http://localhost:9443", "Sec-Fetch-Site": "same-origin",
    ]

    private let fixture: RoutesFixture

    init() throws {
        fixture = try RoutesFixture(administrators: Self.credentials())
        fixture.health.setReady(true)
    }

    private static func credentials(
        secret: String = secret, roles: Set<AdminRole> = [.support]
    ) -> AdminCredentials {
        AdminCredentials(
            tokens: [
                RoutesFixture.token("alice", secret, roles: roles), RoutesFixture.token("bob", "the secret of bob"),
            ],
            clients: [
                .init(name: "carol", certificates: [.subject("CN=carol,O=Example")], roles: [.security]),
                .init(name: "dave", certificates: [.sha256([UInt8](repeating: 7, count: 32))], roles: [.metrics]),
                .init(name: "erin", certificates: [.subject("CN=dave")], roles: [.admin]),
            ])
    }

    private static func peer(
        subject: String? = nil, sha256: [UInt8] = [], isBehindTrustedProxy: Bool = false
    ) -> HTTPPeer {
        HTTPPeer(
            address: .internet(.v4(0x7f00_0001), port: 1), listener: "test",
            tls: TLSFacts(
                version: .version13, isResumed: false,
                clientCertificate: subject.map { TLSClientCertificate(subject: $0, sha256: sha256) }),
            isBehindTrustedProxy: isBehindTrustedProxy)
    }

    private func object(_ response: HTTPResponse) throws -> JSONObject {
        try #require(try JSONReader.parse(response.body).object)
    }

    private func words(_ object: JSONObject, _ name: String) -> [String] {
        object[name]?.array?.compactMap(\.string) ?? []
    }

    private func logIn(
        _ secret: String = secret, _ fields: HTTPFields = own, from peer: HTTPPeer? = nil
    ) async -> HTTPResponse {
        var fields = fields
        fields.append("Content-Type", "application/json")
        let body = JSONWriter.object { $0.member("token", secret) }
        return await fixture.askAdmin(.post, "/v1/session", fields, body: body, from: peer)
    }

    /// The fields of a request in a new session, with its form token.
    private func session() async throws -> HTTPFields {
        let response = await logIn()
        let cookie = try #require(response.fields["Set-Cookie"]?.split(separator: ";").first)
        var fields = Self.own
        fields.append("Cookie", String(cookie))
        fields.append("X-Latchkey-Form", try #require(try object(response)["formToken"]?.string))
        return fields
    }

    private func code(_ method: HTTPMethod, _ path: String, _ fields: HTTPFields) async -> String? {
        await fixture.askAdmin(method, path, fields).fields["X-Error-Code"]
    }

    private func changing(_ fields: HTTPFields, _ name: String, _ value: String?) -> HTTPFields {
        var changed = HTTPFields()
        for field in fields where field.name != name { changed.append(field.name, field.value) }
        if let value { changed.append(name, value) }
        return changed
    }

    // MARK: Who the sender is

    @Test func saysWhoTheHolderOfATokenIs() async throws {
        let response = await fixture.askAdmin(.get, "/v1/whoami", ["Authorization": "Bearer \(Self.secret)"])
        let body = try object(response)
        #expect(response.status == .ok && response.fields["Cache-Control"] == "no-store")
        #expect(body["name"]?.string == "alice" && body["kind"]?.string == "token")
        #expect(words(body, "roles") == ["support"] && body["actor"]?.string == "token:alice")
        #expect(words(body, "permissions") == ["watch", "look", "explain", "release"])
        #expect(body["formToken"] == nil && body["idleSeconds"] == nil && body["endsAt"] == nil)
        #expect(await code(.get, "/v1/whoami", [:]) == "admin_token_invalid")
    }

    @Test func saysThatAnOpenListenerKnowsNobody() async throws {
        let open = try RoutesFixture(adminToken: nil)
        let body = try object(await open.askAdmin(.get, "/v1/whoami", ["Authorization": "Bearer x"]))
        #expect(body["kind"]?.string == "none" && words(body, "roles") == [])
        #expect(words(body, "permissions") == ["scrape", "watch", "look", "explain"])
        for name in ["name", "actor"] {
            #expect(body[name]?.isNull == true)
        }
        let refused = await open.askAdmin(
            .post, "/v1/session", ["Host": "localhost", "Content-Type": "application/json"],
            body: Array(#"{"token":"x"}"#.utf8))
        #expect(refused.fields["X-Error-Code"] == "admin_token_invalid")
    }

    @Test func saysWhoTheHolderOfACertificateIs() async throws {
        let carol = try object(
            await fixture.askAdmin(.get, "/v1/whoami", from: Self.peer(subject: "CN=carol,O=Example")))
        #expect(carol["kind"]?.string == "certificate" && carol["actor"]?.string == "certificate:carol")
        #expect(words(carol, "roles") == ["security"])
        let dave = try object(
            await fixture.askAdmin(
                .get, "/v1/whoami", from: Self.peer(subject: "CN=x", sha256: [UInt8](repeating: 7, count: 32))))
        #expect(dave["name"]?.string == "dave")
    }

    @Test func acceptsNoOtherCertificate() async throws {
        let refused = [
            Self.peer(subject: "CN=carol"), Self.peer(subject: "CN=carol,O=Example", isBehindTrustedProxy: true),
            // One client has the subject and another one the fingerprint.
            Self.peer(subject: "CN=dave", sha256: [UInt8](repeating: 7, count: 32)), Self.peer(),
        ]
        for peer in refused {
            #expect(await fixture.askAdmin(.get, "/v1/whoami", from: peer).status == .unauthorized)
        }
    }

    /// A client chooses its token, and sends its certificate always.
    @Test func aTokenDecidesBeforeACertificate() async throws {
        let peer = Self.peer(subject: "CN=carol,O=Example")
        let alice = await fixture.askAdmin(
            .get, "/v1/whoami", ["Authorization": "Bearer \(Self.secret)"], from: peer)
        #expect(try object(alice)["actor"]?.string == "token:alice")
        let wrong = await fixture.askAdmin(.get, "/v1/whoami", ["Authorization": "Bearer wrong"], from: peer)
        #expect(wrong.status == .unauthorized)
    }

    /// A browser sends its certificate for every page that asks.
    @Test func aCertificateIsNotForOtherPages() async throws {
        let peer = Self.peer(subject: "CN=carol,O=Example")
        let foreign: HTTPFields = ["Host": "localhost:9443", "Origin": "https://evil.example"]
        let response = await fixture.askAdmin(.post, "/v1/explain", foreign, from: peer)
        #expect(response.fields["X-Error-Code"] == "admin_origin_refused")
        let program = await fixture.askAdmin(.post, "/v1/explain", ["Host": "localhost:9443"], from: peer)
        #expect(program.fields["X-Error-Code"] == "request_invalid", "the body is empty")
    }

    // MARK: Beginning and end

    @Test func beginsASession() async throws {
        let response = await logIn()
        #expect(response.status == .ok && response.fields["Cache-Control"] == "no-store")
        let cookie = try #require(response.fields["Set-Cookie"])
        #expect(cookie.hasPrefix("latchkey_admin=") && cookie.hasSuffix("; Path=/; HttpOnly; SameSite=Strict"))
        let body = try object(response)
        #expect(body["kind"]?.string == "session" && body["actor"]?.string == "token:alice")
        #expect(words(body, "roles") == ["support"])
        #expect(body["idleSeconds"]?.number?.signed == 900)
        #expect(body["endsAt"]?.number?.signed == fixture.clock.wallTime.seconds + 12 * 3600)
        let fields = try await session()
        let again = try object(await fixture.askAdmin(.get, "/v1/whoami", fields))
        #expect(again["kind"]?.string == "session" && again["formToken"]?.string == fields["X-Latchkey-Form"])
    }

    /// Neither the id nor the form token is in the log, at any level.
    @Test func logsNoSecret() async throws {
        let fields = try await session()
        _ = await fixture.askAdmin(.delete, "/v1/session", fields)
        let id = try #require(fields["Cookie"]?.split(separator: "=").last)
        let form = try #require(fields["X-Latchkey-Form"])
        #expect(fixture.log.lines.contains { $0.contains("admin_session_began") && $0.contains("token:alice") })
        #expect(fixture.log.lines.contains { $0.contains("admin_session_ended") })
        #expect(!fixture.log.lines.contains { $0.contains(id) || $0.contains(form) || $0.contains(Self.secret) })
    }

    @Test func isSecureOverTLS() async throws {
        let fields: HTTPFields = ["Host": "localhost:9443", "Origin": "https://localhost:9443"]
        let direct = try #require(await logIn(Self.secret, fields, from: Self.peer()).fields["Set-Cookie"])
        #expect(direct.hasPrefix("__Host-latchkey_admin=") && direct.hasSuffix("; Secure"))
        let proxy = HTTPPeer(
            address: .internet(.v4(1), port: 1), listener: "test", isBehindTrustedProxy: true)
        var forwarded = fields
        forwarded.append("X-Forwarded-Proto", "https")
        let behind = try #require(await logIn(Self.secret, forwarded, from: proxy).fields["Set-Cookie"])
        #expect(behind.hasPrefix("__Host-latchkey_admin=") && behind.hasSuffix("; Secure"))
        let unnamed = try #require(await logIn(Self.secret, fields, from: proxy).fields["Set-Cookie"])
        #expect(unnamed.hasPrefix("latchkey_admin="))
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"token":1}"#, #"{"token":"x","name":"y"}"#, #"{"token":"x","token":"x"}"#, "token=x",
        #"{"token":"\#(String(repeating: "x", count: 9000))"}"#,
    ])
    func readsOneTokenAlone(body: String) async {
        let fields: HTTPFields = ["Host": "localhost", "Content-Type": "application/json"]
        let response = await fixture.askAdmin(.post, "/v1/session", fields, body: Array(body.utf8))
        #expect(response.fields["X-Error-Code"] == (body.utf8.count > 8192 ? "body_too_large" : "request_invalid"))
    }

    @Test(arguments: [nil, "text/plain", "application/x-www-form-urlencoded", "application/jsonp"])
    func readsJSONAlone(type: String?) async {
        var fields: HTTPFields = ["Host": "localhost"]
        if let type { fields.append("Content-Type", type) }
        let body = JSONWriter.object { $0.member("token", Self.secret) }
        let response = await fixture.askAdmin(.post, "/v1/session", fields, body: body)
        #expect(response.status == .unsupportedMediaType && response.fields["Set-Cookie"] == nil)
    }

    /// `AdminGateTests` shows the limit, which tokens in `Authorization` share.
    @Test func answersMostWrongTokensWithAWait() async {
        var codes: [String] = []
        for _ in 0..<200 { codes.append(await logIn("wrong").fields["X-Error-Code"] ?? "none") }
        #expect(Set(codes) == ["admin_token_invalid", "rate_limited"])
        #expect(codes.prefix(GuessLimiter.wrongMaximum).allSatisfy { $0 == "admin_token_invalid" })
        #expect(await logIn().status == .ok)
    }

    @Test func endsASession() async throws {
        let (fields, other) = (try await session(), try await session())
        let response = await fixture.askAdmin(.delete, "/v1/session", fields)
        #expect(response.status == .ok && String(decoding: response.body, as: UTF8.self) == #"{"hasEnded":true}"#)
        #expect(response.fields["Set-Cookie"]?.hasSuffix("; Max-Age=0") == true)
        #expect(await code(.get, "/v1/whoami", fields) == "admin_token_invalid")
        #expect(await code(.get, "/v1/whoami", other) == nil)
        let token = await fixture.askAdmin(
            .delete, "/v1/session", ["Host": "localhost", "Authorization": "Bearer \(Self.secret)"])
        #expect(String(decoding: token.body, as: UTF8.self) == #"{"hasEnded":false}"#)
    }

    /// A browser that logs in again leaves no session behind.
    @Test func aNewSessionReplacesTheOneOfTheCookie() async throws {
        let fields = try await session()
        #expect(await logIn(Self.secret, changing(fields, "X-Latchkey-Form", nil)).status == .ok)
        #expect(await code(.get, "/v1/whoami", fields) == "admin_token_invalid")
    }

    // MARK: Rules of a session

    @Test func hasTheRolesOfItsTokenNow() async throws {
        let fields = try await session()
        #expect(await code(.get, "/v1/refusals/0000000000000000", fields) == "not_found")
        #expect(await code(.post, "/v1/drain", fields) == "admin_role_missing")
        fixture.use(Self.credentials(roles: [.admin]))
        #expect(await code(.post, "/v1/drain", fields) == nil)
        #expect(fixture.health.drain?.actor == "token:alice")
        fixture.use(Self.credentials(roles: [.metrics]))
        #expect(await code(.get, "/v1/refusals/0000000000000000", fields) == "admin_role_missing")
        fixture.use(Self.credentials(secret: "a new secret of alice"))
        #expect(await code(.get, "/v1/whoami", fields) == "admin_token_invalid")
    }

    @Test func endsWhenItIsIdle() async throws {
        let fields = try await session()
        for _ in 0..<3 {
            fixture.clock.advance(by: .seconds(899))
            #expect(await code(.get, "/v1/whoami", fields) == nil)
        }
        fixture.clock.advance(by: .seconds(900))
        #expect(await code(.get, "/v1/whoami", fields) == "admin_token_invalid")
    }

    /// A request that is refused as another page's does not keep the session alive.
    @Test func refusedRequestsDoNotKeepItAlive() async throws {
        let fields = try await session()
        fixture.clock.advance(by: .seconds(600))
        let foreign = changing(fields, "Sec-Fetch-Site", "cross-site")
        #expect(await code(.get, "/v1/whoami", foreign) == "admin_origin_refused")
        fixture.clock.advance(by: .seconds(300))
        #expect(await code(.get, "/v1/whoami", fields) == "admin_token_invalid")
    }

    /// What changes something needs the form token, the own origin and the own site.
    @Test func anotherPageCannotUseIt() async throws {
        let fields = try await session()
        fixture.use(Self.credentials(roles: [.admin]))
        let strange = try await session()["X-Latchkey-Form"]
        let changes: [(String, String?)] = [
            ("X-Latchkey-Form", nil), ("X-Latchkey-Form", ""), ("X-Latchkey-Form", "0"), ("X-Latchkey-Form", strange),
            ("Origin", "https://evil.example"), ("Origin", "null"), ("Sec-Fetch-Site", "cross-site"),
            ("Sec-Fetch-Site", "same-site"), ("Sec-Fetch-Site", "none"),
        ]
        for (name, value) in changes {
            for (method, path) in [(HTTPMethod.post, "/v1/drain"), (.delete, "/v1/session")] {
                let code = await code(method, path, changing(fields, name, value))
                #expect(code == "admin_origin_refused", "\(path) \(name): \(value ?? "none")")
            }
        }
        #expect(fixture.health.drain == nil)
        // A browser that sends neither field still needs the form token.
        let old = changing(changing(fields, "Origin", nil), "Sec-Fetch-Site", nil)
        #expect(await code(.post, "/v1/drain", changing(old, "X-Latchkey-Form", nil)) == "admin_origin_refused")
        #expect(await code(.post, "/v1/drain", old) == nil)
        #expect(fixture.health.drain?.actor == "token:alice")
    }

    @Test(arguments: [("Origin", "https://evil.example"), ("Sec-Fetch-Site", "cross-site")])
    func anotherPageCannotLogIn(name: String, value: String) async {
        let response = await logIn(Self.secret, changing(Self.own, name, value))
        #expect(response.fields["X-Error-Code"] == "admin_origin_refused" && response.fields["Set-Cookie"] == nil)
    }

    @Test(arguments: [("cross-site", true), ("same-site", true), ("none", false), ("same-origin", false)])
    func anotherPageCannotRead(site: String, isRefused: Bool) async throws {
        let fields = changing(try await session(), "Sec-Fetch-Site", site)
        #expect(await code(.get, "/v1/whoami", fields) == (isRefused ? "admin_origin_refused" : nil))
    }

    @Test(arguments: ["https://evil.example", "null", "http://localhost"])
    func anotherOriginCannotRead(origin: String) async throws {
        let fields = changing(try await session(), "Origin", origin)
        #expect(await code(.get, "/v1/whoami", fields) == "admin_origin_refused")
        #expect(await code(.get, "/v1/whoami", changing(fields, "Origin", nil)) == nil)
    }

    /// A name that an attacker points to this machine, with the cookie that the browser keeps for that name.
    @Test(arguments: ["evil.example", "evil.example:9443", "localhost.evil.example", ""])
    func anotherNameCannotUseIt(host: String) async throws {
        let fields = changing(
            changing(try await session(), "Origin", "http://\(host)"), "Host", host.isEmpty ? nil : host)
        for (method, path) in [(HTTPMethod.get, "/v1/whoami"), (.post, "/v1/drain"), (.delete, "/v1/session")] {
            #expect(await code(method, path, fields) == "request_invalid", "\(path)")
        }
        #expect(await logIn(Self.secret, changing(fields, "Cookie", nil)).fields["X-Error-Code"] == "request_invalid")
        // A program with a token may use the name, as before.
        let token = await fixture.askAdmin(
            .get, "/v1/whoami", ["Host": host, "Authorization": "Bearer \(Self.secret)"])
        #expect(token.status == .ok)
    }

    @Test func aListedNameMayUseIt() async throws {
        let fixture = try RoutesFixture(administrators: Self.credentials(), adminHosts: ["keys.internal"])
        let fields: HTTPFields = [
            "Host": "keys.internal:9443", "Origin": "http://keys.internal:9443", "Content-Type": "application/json",
        ]
        let body = JSONWriter.object { $0.member("token", Self.secret) }
        #expect(await fixture.askAdmin(.post, "/v1/session", fields, body: body).status == .ok)
    }

    /// The body of a stranger is not kept if its head shows that the request cannot begin a session.
    @Test(arguments: [
        (HTTPBodyFraming.length(100), "localhost", "same-origin", "keep"),
        (.length(9000), "localhost", "same-origin", "body_too_large"),
        (.chunked, "localhost", "same-origin", "body_too_large"),
        (.length(100), "evil.example", "same-origin", "request_invalid"),
        (.length(100), "localhost", "cross-site", "admin_origin_refused"),
    ])
    func decidesAboutBodiesByTheirHeads(
        framing: HTTPBodyFraming, host: String, site: String, expected: String
    ) async throws {
        let routes = fixture.adminRoutes
        let request = RoutesFixture.request(
            .post, "/v1/session", ["Host": host, "Sec-Fetch-Site": site], framing: framing)
        let decision = await fixture.onLoop { routes.decideBody(of: request, on: $0) }
        switch decision {
        case .keep: #expect(expected == "keep")
        case .drop: Issue.record("the body is dropped")
        case .refuse(let response): #expect(response.fields["X-Error-Code"] == expected)
        }
    }

    /// Long answers ask again whether they may go on.
    @Test func tellsWhetherAPermissionStillHolds() async throws {
        let registry = AdminSessions(clock: fixture.clock, wallClock: fixture.clock)
        let counts = MetricsRegistry().counters("refused_total", help: "h", by: AdminGate.TokenRefusal.self)
        let gate = AdminGate(sessions: registry, countingIn: counts)
        let credentials = Self.credentials()
        let (id, endsAt) = try registry.begin(of: credentials.tokens[0], at: 0)
        let session = AdminSender(proof: .session(id, of: credentials.tokens[0], endsAt: endsAt))
        let token = AdminSender(proof: .token(credentials.tokens[0]))
        let client = AdminSender(proof: .certificate(credentials.clients[0]))
        let stranger = AdminSender(proof: .none)
        for sender in [session, token, client] {
            #expect(gate.allows(sender, .watch, under: credentials))
            #expect(!gate.allows(sender, .scrape, under: credentials))
            #expect(!gate.allows(sender, .watch, under: AdminCredentials()))
        }
        #expect(gate.allows(stranger, .watch, under: AdminCredentials()))
        #expect(
            !gate.allows(stranger, .watch, under: credentials)
                && !gate.allows(stranger, .revoke, under: AdminCredentials())
        )
        let others = Self.credentials(roles: [.security])
        #expect(gate.allows(token, .revoke, under: others) && !gate.allows(token, .release, under: others))
        registry.end(id)
        #expect(!gate.allows(session, .watch, under: credentials) && gate.allows(token, .watch, under: credentials))
    }
}
