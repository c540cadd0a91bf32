import ByteCoding
import Entitlements
import HTTPMessages
import HTTPServing
import Licensing
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

/// Requests that are refused because of their heads, before their bodies are kept.
@Suite struct BodyDecisionTests {
    private func decide(
        _ fixture: RoutesFixture, _ method: HTTPMethod, _ path: String, _ fields: HTTPFields = [:]
    ) async -> HTTPBodyDecision {
        let routes = fixture.publicRoutes
        return await fixture.onLoop { routes.decideBody(of: RoutesFixture.request(method, path, fields), on: $0) }
    }

    private func decideAsAdmin(
        _ fixture: RoutesFixture, _ method: HTTPMethod, _ path: String, token: String?
    ) async -> HTTPBodyDecision {
        let routes = fixture.adminRoutes
        let fields: HTTPFields = token.map { ["Authorization": "Bearer \($0)"] } ?? [:]
        return await fixture.onLoop { routes.decideBody(of: RoutesFixture.request(method, path, fields), on: $0) }
    }

    private func code(_ decision: HTTPBodyDecision) throws -> String? {
        guard case .refuse(let response) = decision else { return nil }
        return try JSONReader.parse(response.body).object?["code"]?.string
    }

    private func word(_ decision: HTTPBodyDecision) -> String {
        switch decision {
        case .keep: "keep"
        case .drop: "drop"
        case .refuse(let response): "\(response.status.code)"
        }
    }

    @Test(arguments: ["/fps/license", "/fps/licenses/query", "/fps/challenge"])
    func keepsBodiesOfTokenHoldersAlone(path: String) async throws {
        let fixture = try RoutesFixture()
        let good = ["Authorization": "Bearer \(try fixture.token())"] as HTTPFields
        #expect(word(await decide(fixture, .post, path, good)) == "keep")
        #expect(try code(await decide(fixture, .post, path)) == "token_missing")
        #expect(try code(await decide(fixture, .post, path, ["Authorization": "Bearer a.b"])) == "token_malformed")
        let late = ["Authorization": "Bearer \(try fixture.token(startsIn: 5000))"] as HTTPFields
        #expect(try code(await decide(fixture, .post, path, late)) == "token_not_yet")
        let changed = String(decoding: Array(try fixture.token().utf8).changingDigit(beforeLast: 4), as: UTF8.self)
        let broken = ["Authorization": "Bearer \(changed)"] as HTTPFields
        #expect(try code(await decide(fixture, .post, path, broken)) == "token_signature")
    }

    /// Only its first bytes show that a body is a report of ended sessions, which is acknowledged with any token.
    @Test(arguments: [
        (HTTPBodyFraming.length(1), "keep"), (.length(8192), "keep"), (.length(8193), "401"), (.chunked, "401"),
        (.stream, "401"),
    ])
    func keepsWhatMayBeAReport(framing: HTTPBodyFraming, expected: String) async throws {
        let fixture = try RoutesFixture()
        let routes = fixture.publicRoutes
        for (path, isLicense) in [("/fps/license", true), ("/fps/challenge", false)] {
            let request = RoutesFixture.request(.post, path, framing: framing)
            let decision = await fixture.onLoop { routes.decideBody(of: request, on: $0) }
            #expect(word(decision) == (isLicense ? expected : "401"))
            let large = RoutesFixture.request(
                .post, path, ["X-Long": String(repeating: "a", count: 4096)], framing: framing)
            #expect(word(await fixture.onLoop { routes.decideBody(of: large, on: $0) }) == "401")
        }
    }

    /// The answer does not reveal whether the request was refused before or after its body.
    @Test func refusesByTheHeadAsItRefusesTheWholeRequest() async throws {
        let fixture = try RoutesFixture()
        let whole = await fixture.license([1, 2, 3], token: nil)
        guard case .refuse(let early) = await decide(fixture, .post, "/fps/license") else {
            Issue.record("it is not refused")
            return
        }
        #expect(early.status == whole.status)
        #expect(early.body.count == whole.body.count)
        #expect(early.fields.map(\.name) == whole.fields.map(\.name))
        #expect(early.fields["X-Error-Code"] == whole.fields["X-Error-Code"])
        #expect(try await fixture.metrics()[#"latchkey_licenses_refused_total{code="token_missing"}"#] == 2)
    }

    /// A stranger cannot make the daemon keep a body with a request that needs none.
    @Test(arguments: [
        (HTTPMethod.options, "/fps/license"), (.get, "/fps/license"), (.put, "/fps/license"), (.post, "/livez"),
        (.get, "/livez"), (.post, "/fps/certificate"), (.post, "/nothing"), (.options, "*"),
        (.post, "/hms/fp/token"), (.post, "/sees/SEESServlet"),
    ])
    func dropsBodiesThatNoAnswerDependsOn(method: HTTPMethod, path: String) async throws {
        let fixture = try RoutesFixture()
        #expect(word(await decide(fixture, method, path)) == "drop")
    }

    /// A request is counted once, whether its body arrives with its head or later.
    @Test func countsNoHeadThatItAdmits() async throws {
        let fixture = try RoutesFixture(rates: RequestRates(perAddress: Rate(perSecond: 1, burst: 2)))
        let good = ["Authorization": "Bearer \(try fixture.token())"] as HTTPFields
        for _ in 0..<10 { #expect(word(await decide(fixture, .post, "/fps/license", good)) == "keep") }
        // Two refusals use up the burst.
        #expect(try code(await decide(fixture, .post, "/fps/license")) == "token_missing")
        #expect(try code(await decide(fixture, .post, "/fps/license")) == "token_missing")
        #expect(try code(await decide(fixture, .post, "/fps/license")) == "rate_limited")
        #expect(try code(await decide(fixture, .post, "/fps/license", good)) == "rate_limited")
        fixture.clock.advance(by: .seconds(1))
        #expect(word(await decide(fixture, .post, "/fps/license", good)) == "keep")
    }

    @Test func refusalsAreOpenToWebPages() async throws {
        let fixture = try RoutesFixture()
        fixture.use(CORSPolicy(origins: .any))
        guard case .refuse(let response) = await decide(fixture, .post, "/fps/license", ["Origin": "https://a.example"])
        else {
            Issue.record("it is not refused")
            return
        }
        #expect(response.fields["Access-Control-Allow-Origin"] == "*")
    }

    @Test func keepsBodiesOfAdministratorsAlone() async throws {
        let fixture = try RoutesFixture()
        for path in ["/v1/explain", "/v1/revocations"] {
            #expect(word(await decideAsAdmin(fixture, .post, path, token: RoutesFixture.adminToken)) == "keep")
            #expect(try code(await decideAsAdmin(fixture, .post, path, token: nil)) == "admin_token_invalid")
            #expect(try code(await decideAsAdmin(fixture, .post, path, token: "wrong")) == "admin_token_invalid")
        }
        #expect(word(await decideAsAdmin(fixture, .get, "/metrics", token: nil)) == "drop")
    }
}
