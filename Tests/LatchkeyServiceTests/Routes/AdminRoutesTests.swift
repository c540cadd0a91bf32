import ByteCoding
import CommandLineKit
import DeviceSimulation
import FairPlay
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

@Suite struct AdminRoutesTests {
    private let fixture: RoutesFixture

    init() throws {
        fixture = try RoutesFixture()
    }

    @Test func givesTheMetricsToTheAdministrator() async throws {
        let response = await fixture.askAdmin(
            .get, "/metrics", ["Authorization": "Bearer \(RoutesFixture.adminToken)"])
        #expect(response.status == .ok)
        #expect(response.fields["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8")
        #expect(response.fields["Cache-Control"] == "no-store")
    }

    @Test(arguments: [
        nil, "", "Bearer ", "Bearer an administrator's toke", "Bearer an administrator's tokem",
        "Bearer an administrator's token!", "Basic an administrator's token", "an administrator's token",
    ])
    func givesThemToNobodyElse(authorization: String?) async throws {
        let response = await fixture.askAdmin(
            .get, "/metrics", authorization.map { ["Authorization": $0] } ?? [:])
        #expect(response.status == .unauthorized)
        #expect(response.fields["WWW-Authenticate"] == "Bearer")
        let body = try JSONReader.parse(response.body).object
        #expect(body?["code"]?.string == "admin_token_invalid")
    }

    @Test func refusesTwoDifferentTokens() async {
        let fields: HTTPFields = [
            "Authorization": "Bearer \(RoutesFixture.adminToken)", "Authorization": "Bearer other",
        ]
        #expect(await fixture.askAdmin(.get, "/metrics", fields).status == .unauthorized)
    }

    @Test func asksForNoTokenWhereNoneIsConfigured() async throws {
        let fixture = try RoutesFixture(adminToken: nil)
        #expect(await fixture.askAdmin(.get, "/metrics").status == .ok)
    }

    @Test(arguments: [
        "/fps/license", "/fps/certificate", "//", "/index.html", "/page", "/metrics/", "/Metrics", "/admin",
    ])
    func servesNothingElse(path: String) async {
        for method in [HTTPMethod.get, .post] {
            let response = await fixture.askAdmin(
                method, path, ["Authorization": "Bearer \(RoutesFixture.adminToken)"])
            #expect(response.status == .notFound)
        }
    }

    @Test(arguments: ["/livez", "/readyz", "/metrics"])
    func changesNothing(path: String) async throws {
        for method in [HTTPMethod.post, .put, .patch, .delete, .options] {
            let response = await fixture.askAdmin(method, path)
            #expect(response.status == .methodNotAllowed)
            #expect(response.fields["Allow"] == "GET, HEAD")
            let detail = try #require(try JSONReader.parse(response.body).object?["detail"]?.string)
            #expect(detail.hasSuffix("the method \(method.rawValue)."))
        }
    }

    @Test func tellsTheCauseOfARefusalByItsRequestID() async throws {
        let refused = await fixture.license([1], token: nil)
        let id = try #require(refused.fields["X-Request-Id"])
        let admin: HTTPFields = ["Authorization": "Bearer \(RoutesFixture.adminToken)"]
        let response = await fixture.askAdmin(.get, "/v1/refusals/\(id)", admin)
        #expect(response.status == .ok)
        let body = try #require(try JSONReader.parse(response.body).object)
        #expect(body["request_id"]?.string == id)
        #expect(body["code"]?.string == "token_missing")
        #expect(body["event"]?.string == "license_refused")
        #expect(body["cause"]?.string?.isEmpty == false)
        #expect(await fixture.askAdmin(.get, "/v1/refusals/\(id)").status == .unauthorized)
        #expect(await fixture.askAdmin(.get, "/v1/refusals/0000000000000000", admin).status == .notFound)
        #expect(await fixture.askAdmin(.post, "/v1/refusals/\(id)", admin).status == .methodNotAllowed)
        #expect(await fixture.ask(.get, "/v1/refusals/\(id)").status == .notFound)
    }

    /// A look-up that finds nothing is no refusal, which would hide the refusals that operators look for.
    @Test(arguments: ["0000000000000000", "0af7651916cd43dd8448eb211c80319c"])
    func notesNoRefusalForALookUp(name: String) async throws {
        let admin: HTTPFields = ["Authorization": "Bearer \(RoutesFixture.adminToken)"]
        var next = name
        for _ in 0..<3 {
            let response = await fixture.askAdmin(.get, "/v1/refusals/\(next)", admin)
            let body = try #require(try JSONReader.parse(response.body).object)
            #expect(response.status == .notFound && body["code"]?.string == "not_found")
            #expect(body["detail"]?.string?.hasPrefix("No refusal with this request id") == true)
            #expect(body["hint"]?.string?.contains("/fps/license") == false)
            next = try #require(response.fields["X-Request-Id"])
        }
    }

    /// A thousand refusals leave twenty log lines, but the cause of each can still be queried.
    @Test func keepsCausesThatTheLogLeavesOut() async throws {
        let fixture = try RoutesFixture(linesPerEvent: 20)
        var last: String?
        for _ in 0..<1000 { last = await fixture.license([1], token: nil).fields["X-Request-Id"] }
        let lines = fixture.log.lines.filter { $0.contains("license_refused") }
        #expect(lines.count == 20)
        let id = try #require(last)
        let admin: HTTPFields = ["Authorization": "Bearer \(RoutesFixture.adminToken)"]
        #expect(await fixture.askAdmin(.get, "/v1/refusals/\(id)", admin).status == .ok)
    }

    @Test(arguments: [HTTPProblem.methodNotImplemented, .transferCodingNotImplemented, .versionNotSupported])
    func logsNoErrorForWhatIsNotServed(problem: HTTPProblem) async {
        let peer = RoutesFixture.request(.get, "/").peer
        let status = await fixture.onLoop { [fixture] loop in
            fixture.publicRoutes.refusal(of: problem, in: nil, from: peer, on: loop).status
        }
        #expect(status == problem.status)
        #expect(fixture.log.lines.count == 1)
        #expect(fixture.log.lines.allSatisfy { $0.contains(#""level":"info""#) })
    }

    @Test(arguments: [
        ("localhost", true), ("LOCALHOST:9443", true), ("127.0.0.1:9443", true), ("[::1]:9443", true),
        ("rebound.example", false), ("rebound.example:9443", false), ("localhost.example", false),
    ])
    func takesNoNameWithoutAToken(host: String, isServed: Bool) async throws {
        let fixture = try RoutesFixture(adminToken: nil)
        let response = await fixture.askAdmin(.get, "/metrics", ["Host": host])
        #expect(response.status == (isServed ? .ok : .badRequest))
        // With a token the host name does not matter, unless the configuration lists names.
        #expect(await self.fixture.askAdmin(.get, "/livez", ["Host": host]).status == .ok)
    }

    @Test func tellsItsHealthWithoutAToken() async {
        #expect(await fixture.askAdmin(.get, "/livez").status == .ok)
        #expect(await fixture.askAdmin(.get, "/readyz").status == .serviceUnavailable)
        fixture.health.setReady(true)
        #expect(await fixture.askAdmin(.get, "/readyz").status == .ok)
    }

    @Test func countsWhatHappens() async throws {
        let before = try await fixture.metrics()
        #expect(before["latchkey_rsa_operations_total"] == 0)
        #expect(before["latchkey_build_info{version=\"\(LatchkeyVersion.current)\"}"] == 1)
        for code in ProblemCode.allCases {
            #expect(before["latchkey_licenses_refused_total{code=\"\(code.rawValue)\"}"] == 0)
        }

        let token = try fixture.token()
        for message in [try fixture.deviceRequest(.v1), try fixture.deviceRequest(.v1), try fixture.deviceRequest(.v2)]
        {
            #expect(await fixture.license(message.message, token: token).status == .ok)
        }
        _ = await fixture.license([1], token: nil)
        _ = await fixture.license([1], token: token)

        let after = try await fixture.metrics()
        #expect(after["latchkey_licenses_issued_total{spc_version=\"1\"}"] == 2)
        #expect(after["latchkey_licenses_issued_total{spc_version=\"2\"}"] == 1)
        #expect(after["latchkey_licenses_refused_total{code=\"token_missing\"}"] == 1)
        #expect(after["latchkey_licenses_refused_total{code=\"spc_malformed\"}"] == 1)
        #expect(after["latchkey_license_duration_seconds_count"] == 3)
        #expect(after["latchkey_rsa_operations_total"] == 3)
        #expect(after["process_resident_memory_bytes"].map { $0 > 1_000_000 } == true)
    }
}
