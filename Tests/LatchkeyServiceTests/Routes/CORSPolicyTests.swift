import Administration
import Entitlements
import EventLoops
import Foundation
import HTTPMessages
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

@Suite struct CORSPolicyTests {
    private let fixture: RoutesFixture

    init() throws {
        fixture = try RoutesFixture()
    }

    private func ask(
        _ policy: CORSPolicy, _ method: HTTPMethod, _ path: String, origin: String?, _ more: HTTPFields = [:]
    ) async -> HTTPResponse {
        var fields = more
        if let origin { fields.append("Origin", origin) }
        fixture.use(policy)
        return await fixture.answer(fixture.publicRoutes, RoutesFixture.request(method, path, fields))
    }

    private let listed = CORSPolicy(
        origins: .listed(["https://app.example", "null"]), allowsCredentials: true, otherFields: ["X-Customer"],
        maximumAge: .seconds(60))
    private let exposed =
        "X-License-Id, X-License-Issued, X-License-Expires, X-License-Renew-After, X-License-Type, X-Session-Token, "
        + "X-Error-Code, X-Request-Id, Retry-After"

    static let requests: [(HTTPMethod, String, HTTPStatus)] = [
        (.post, "/fps/license", .unauthorized), (.get, "/fps/license", .methodNotAllowed),
        (.get, "/fps/certificate", .ok), (.get, "/livez", .ok), (.get, "/readyz", .serviceUnavailable),
        (.get, "/nowhere", .notFound),
    ]

    /// Errors are readable too: a page that may not read them sees only a network failure.
    @Test(arguments: requests)
    func opensEveryAnswerToEveryPage(method: HTTPMethod, path: String, status: HTTPStatus) async {
        for origin in ["https://any.example", "null", nil] {
            let response = await ask(CORSPolicy(), method, path, origin: origin)
            #expect(response.status == status)
            #expect(response.fields.values(of: "Access-Control-Allow-Origin") == ["*"])
            #expect(response.fields["Access-Control-Expose-Headers"] == exposed)
            #expect(response.fields["Access-Control-Allow-Credentials"] == nil)
            #expect(response.fields["Vary"] == nil)
        }
    }

    @Test(arguments: requests)
    func opensEveryAnswerToListedPages(method: HTTPMethod, path: String, status: HTTPStatus) async {
        for origin in ["https://app.example", "null"] {
            let response = await ask(listed, method, path, origin: origin)
            #expect(response.status == status)
            #expect(response.fields.values(of: "Access-Control-Allow-Origin") == [origin])
            #expect(response.fields["Access-Control-Expose-Headers"] == exposed)
            #expect(response.fields["Access-Control-Allow-Credentials"] == "true")
            #expect(response.fields["Vary"] == "Origin")
        }
    }

    /// The requests are still answered, because CORS is no access control.
    @Test(arguments: [
        "https://app.example:443", "https://app.example/", "http://app.example", "https://other.example", "", nil,
    ])
    func opensNothingToOtherPages(origin: String?) async {
        for method in [HTTPMethod.get, .options] {
            let response = await ask(listed, method, "/livez", origin: origin)
            #expect(response.status == (method == .get ? .ok : .noContent))
            #expect(!response.fields.contains { $0.name.hasPrefix("Access-Control") })
            #expect(response.fields["Vary"] == "Origin")
        }
    }

    /// A preflight needs no token on any path.
    @Test(arguments: [
        ("/fps/license", "POST, OPTIONS"), ("/fps/challenge", "POST, OPTIONS"), ("/livez", "GET, HEAD, OPTIONS"),
        ("/fps/certificate", "GET, HEAD, OPTIONS"), ("/nowhere", "GET, HEAD, POST, OPTIONS"),
        ("*", "GET, HEAD, POST, OPTIONS"),
    ])
    func answersPreflights(path: String, methods: String) async {
        let preflight: HTTPFields = [
            "Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,content-type",
        ]
        let response = await ask(listed, .options, path, origin: "https://app.example", preflight)
        #expect(response.status == .noContent)
        #expect(response.body.isEmpty)
        #expect(response.fields["Access-Control-Allow-Origin"] == "https://app.example")
        #expect(response.fields["Access-Control-Allow-Methods"] == methods)
        #expect(response.fields["Allow"] == methods)
        // A refusal of another method names the same methods.
        let refused = await ask(listed, .put, path, origin: nil)
        #expect(refused.fields["Allow"] == (refused.status == .notFound ? nil : methods))
        #expect(response.fields["Access-Control-Max-Age"] == "60")
        let allowed = response.fields["Access-Control-Allow-Headers"]?.split(separator: ", ") ?? []
        for name in [
            "authorization", "content-type", "nv-authorizations", "x-axdrm-message", "pragma", "x-customer",
            "traceparent",
            "tracestate",
        ] {
            #expect(allowed.contains(Substring(name)))
        }
        #expect(Set(allowed).count == allowed.count)
    }

    /// Every header that may contain a token, and the headers that NAGRA's players send with it.
    @Test func allowsEveryHeaderOfATokenByItself() async {
        let finder = TokenFinder(headerNames: ["X-Operator-Token"])
        #expect(finder.fieldNames.count >= 7 && finder.fieldNames.contains("X-Operator-Token"))
        let without = TokenFinder(ignoring: [.headers], headerNames: ["X-Operator-Token"])
        #expect(!without.fieldNames.contains("X-Operator-Token"))
        let response = await ask(
            CORSPolicy().allowing(finder.fieldNames), .options, "/fps/license", origin: "https://app.example")
        let allowed = response.fields["Access-Control-Allow-Headers"]?.components(separatedBy: ", ") ?? []
        for name in finder.fieldNames.union(["x-correlation-id"]) { #expect(allowed.contains(name.lowercased())) }
        #expect(Set(allowed).count == allowed.count)
        // Without a configured header, the default policy covers all places.
        let standard = await ask(CORSPolicy(), .options, "/fps/license", origin: "https://app.example")
        let ordinary = standard.fields["Access-Control-Allow-Headers"]?.components(separatedBy: ", ") ?? []
        for name in TokenFinder().fieldNames { #expect(ordinary.contains(name.lowercased())) }
    }

    /// The headers of CMCD, and those in which services put their tokens and data.
    @Test func allowsTheHeadersThatPlayersSend() async {
        let response = await ask(CORSPolicy(), .options, "/fps/license", origin: "https://app.example")
        let allowed = response.fields["Access-Control-Allow-Headers"]?.components(separatedBy: ", ") ?? []
        for name in [
            "cmcd-request", "cmcd-object", "cmcd-session", "cmcd-status", "x-dt-custom-data", "dt-custom-data",
            "x-keyos-authorization", "x-vudrm-token", "usertoken", "brandguid", "kid", "iv", "x-requested-with",
        ] {
            #expect(allowed.contains(name), "\(name)")
        }
        #expect(!allowed.contains("content-encoding"), "no body is decoded")
    }

    /// A browser sends nothing after these answers, so they are counted by what it asked for.
    @Test func countsWhatAPreflightDoesNotGet() async throws {
        let wanted = { (headers: String) -> HTTPFields in
            ["Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": headers]
        }
        let page = "https://app.example"
        _ = await ask(listed, .options, "/fps/license", origin: page, wanted("authorization,X-Mine, x-customer"))
        _ = await ask(listed, .options, "/fps/license", origin: page, wanted("x-mine"))
        _ = await ask(listed, .options, "/fps/license", origin: "https://other.example", wanted("x-mine"))
        // What works is not counted, nor what no browser sends.
        _ = await ask(listed, .options, "/fps/license", origin: page, wanted("authorization"))
        _ = await ask(listed, .options, "/fps/license", origin: nil, wanted("x-mine"))
        _ = await ask(listed, .options, "/fps/license", origin: page, ["Access-Control-Request-Headers": "x-mine"])
        _ = await ask(listed, .options, "/fps/license", origin: "https://a b", wanted("x-mine"))
        _ = await ask(listed, .options, "/fps/license", origin: page, wanted(String(repeating: "x", count: 65)))
        _ = await ask(listed, .options, "/fps/license", origin: page, wanted("<script>,\"x\""))
        _ = await ask(listed, .get, "/fps/license", origin: page, wanted("x-mine"))
        let entries = fixture.publicRoutes.preflights.entries(under: listed)
        let found = entries.map { "\($0.origin) \($0.header) \($0.count)" }
        #expect(found == ["https://app.example x-mine 2", "https://other.example  1"])
        #expect(try await fixture.metrics()["latchkey_cors_preflights_refused_total"] == 3)
    }

    @Test func aPreflightNamesFewHeaders() {
        var fields: HTTPFields = ["Access-Control-Request-Method": "POST", "Origin": "https://app.example"]
        fields.append("Access-Control-Request-Headers", (0..<40).map { "x-\($0)" }.joined(separator: ","))
        #expect(CORSPolicy().refusal(ofPreflight: fields)?.fields == (0..<8).map { "x-\($0)" })
        fields.set("Access-Control-Request-Headers", String(repeating: "x,", count: 1000))
        #expect(CORSPolicy().refusal(ofPreflight: fields) == nil)
    }

    @Test func aPreflightNamesAHeaderOnce() {
        var fields: HTTPFields = ["Access-Control-Request-Method": "POST", "Origin": "https://app.example"]
        fields.append("Access-Control-Request-Headers", "x-a,x-a,X-A, *, x-b")
        #expect(CORSPolicy().refusal(ofPreflight: fields)?.fields == ["x-a", "x-b"])
    }

    // MARK: Origins

    private static let family: OriginSet = [
        "https://*.example.com", "https://*.example.org:8443", "capacitor://localhost", "ionic://localhost",
        "chrome-extension://aaaabbbbccccdddd", "safari-web-extension://6E2FB550-C457",
    ]

    @Test(arguments: [
        "https://a.example.com", "https://a.b-c.example.com", "https://xn--1.example.com",
        "https://a.example.org:8443", "capacitor://localhost", "ionic://localhost",
        "chrome-extension://aaaabbbbccccdddd", "safari-web-extension://6E2FB550-C457",
    ])
    func servesAFamilyOfHosts(origin: String) async {
        let policy = CORSPolicy(origins: .listed(Self.family), allowsCredentials: true)
        let response = await ask(policy, .get, "/livez", origin: origin)
        #expect(response.fields["Access-Control-Allow-Origin"] == origin && response.fields["Vary"] == "Origin")
    }

    /// Only labels may stand in the place of the mark: no other domain, port, scheme, user or path.
    @Test(arguments: [
        "https://example.com", "https://evilexample.com", "https://.example.com", "https://a..example.com",
        "https://a.example.com:8443", "https://a.example.com:443", "https://a.example.org", "http://a.example.com",
        "https://a.example.com.evil.com", "https://evil.com/.example.com", "https://evil.com#.example.com",
        "https://evil.com?.example.com", "https://evil.com:80.example.com", "https://evil@a.example.com",
        "https://evil.com\\.example.com", "https://A.example.com", "https://a.EXAMPLE.com", "https://*.example.com",
        "https://a example.com.example.com", "null", "*", "", "capacitor://evil", "capacitor://localhost:80",
        "chrome-extension://eaaabbbbccccdddd", "https://localhost", "safari-web-extension://6e2fb550-c457",
    ])
    func servesNoOtherHost(origin: String) async {
        let policy = CORSPolicy(origins: .listed(Self.family), allowsCredentials: true)
        let response = await ask(policy, .get, "/livez", origin: origin)
        #expect(response.status == .ok && response.fields["Access-Control-Allow-Origin"] == nil)
    }

    @Test func opensNothingAtAllWhereNothingIsListed() async {
        let response = await ask(CORSPolicy(origins: .listed([])), .get, "/livez", origin: "https://app.example")
        #expect(response.status == .ok)
        #expect(response.fields["Access-Control-Allow-Origin"] == nil)
    }

    @Test func opensRefusalsOfWhatNeverBecameARequest() async {
        fixture.use(CORSPolicy())
        let peer = HTTPPeer(address: .internet(.v4(0x7f00_0001), port: 1), listener: "test")
        let response = await fixture.onLoop { [routes = fixture.publicRoutes] in
            routes.refusal(of: .bodyTooLarge, in: nil, from: peer, on: $0)
        }
        #expect(response.status == .contentTooLarge)
        #expect(response.fields["Access-Control-Allow-Origin"] == "*")
        #expect(response.fields["X-Error-Code"] == "body_too_large")
    }

    /// With its head, such a refusal is as open as an answer, to the same pages.
    @Test(arguments: ["https://app.example", "https://evil.example", nil])
    func opensRefusalsOfHeadsToListedPages(origin: String?) async {
        fixture.use(listed)
        let request = RoutesFixture.request(.post, "/fps/license", origin.map { ["Origin": $0] } ?? [:])
        let response = await fixture.onLoop { [routes = fixture.publicRoutes] in
            routes.refusal(of: .contentCodingNotSupported, in: request.head, from: request.peer, on: $0)
        }
        let isListed = origin == "https://app.example"
        #expect(response.status == .unsupportedMediaType)
        #expect(response.fields["Access-Control-Allow-Origin"] == (isListed ? origin : nil))
        #expect((response.fields["Access-Control-Expose-Headers"] != nil) == isListed)
        #expect(response.fields["Vary"] == "Origin")
    }
}
