import ByteCoding
import ContentKeys
import Entitlements
import HTTPMessages
import HTTPServing
import POSIXSockets
import PackagerAPI
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

/// What the log, the memory and the metrics say of a refused packager.
@Suite struct PackagerRefusalTests {
    typealias Fixture = PackagerRoutesFixture

    /// A refusal, and the members that its log line and `GET /v1/refusals/REQUEST-ID` must have.
    struct Refusal: CustomTestStringConvertible, Sendable {
        let testDescription: String
        let code: String
        /// Nil if no packager is known.
        var credential: String? = "packager:p1"
        var content: String?
        var keyID: String?
        let found: String
        let expected: String
        let ask: @Sendable () async throws -> (Fixture, HTTPResponse)
    }

    private static let order = #"{"contentId":"movie-1","tracks":["VIDEO"]}"#
    private static let document = "v2_vod_fairplay_video_audio"
    private static let content = "movie-001"
    private static let secretText = "not-the-secret-of-anyone"

    static let refusals: [Refusal] = [
        Refusal(
            testDescription: "no credential", code: "packager_invalid", credential: nil,
            found: "no Authorization, no x-api-key and no client certificate",
            expected: "the secret or the certificate of one packager: p1",
            ask: {
                let fixture = try Fixture()
                return (fixture, await fixture.ask(.post, "/v1/keys", body: order, authorization: nil))
            }),
        Refusal(
            testDescription: "a credential that is not readable", code: "packager_invalid", credential: nil,
            found: "an Authorization or x-api-key that is not readable, or of a scheme other than Basic and Bearer",
            expected: "the secret or the certificate of one packager: p1",
            ask: {
                let fixture = try Fixture()
                return (fixture, await fixture.ask(.post, "/v1/keys", body: order, authorization: secretText))
            }),
        Refusal(
            testDescription: "a wrong secret", code: "packager_invalid", credential: nil,
            found: "a secret without a user name", expected: "the secret or the certificate of one packager: p1",
            ask: {
                let fixture = try Fixture()
                let bearer = "Bearer \(secretText)"
                return (fixture, await fixture.ask(.post, "/v1/keys", body: order, authorization: bearer))
            }),
        Refusal(
            testDescription: "a wrong secret for a user name that is known", code: "packager_invalid", credential: nil,
            found: "a secret for the user p1", expected: "the secret or the certificate of one packager: p1",
            ask: {
                let fixture = try Fixture()
                let basic = "Basic " + Base64.encode(Array("p1:\(secretText)".utf8))
                return (fixture, try await fixture.post(document, authorization: basic))
            }),
        // A client may have put a secret in the place of the user name.
        Refusal(
            testDescription: "a wrong secret for a user name that is not known", code: "packager_invalid",
            credential: nil, found: "a secret for a user name that no packager has",
            expected: "the secret or the certificate of one packager: p1",
            ask: {
                let fixture = try Fixture()
                let basic = "Basic " + Base64.encode(Array("\(secretText):x".utf8))
                return (fixture, try await fixture.post(document, authorization: basic))
            }),
        Refusal(
            testDescription: "no packager is configured", code: "packager_invalid", credential: nil,
            found: "a secret for a user name that no packager has", expected: "no packager is configured",
            ask: {
                let fixture = try Fixture(hasPackager: false)
                return (fixture, try await fixture.post(document))
            }),
        Refusal(
            testDescription: "a wrong client certificate", code: "packager_invalid", credential: nil,
            found: "the client certificate sha256 \(String(repeating: "07", count: 32)), CN=stranger",
            expected: "CN=encoder of p1",
            ask: {
                let fixture = try Fixture(certificates: [.subject("CN=encoder")])
                let certificate = TLSClientCertificate(
                    subject: "CN=stranger", sha256: [UInt8](repeating: 7, count: 32))
                let tls = TLSFacts(version: .version13, isResumed: false, clientCertificate: certificate)
                return (fixture, await Self.ask(fixture, tls: tls))
            }),
        Refusal(
            testDescription: "a disabled packager", code: "packager_invalid",
            found: "a credential of p1, which is disabled", expected: "disabled: false",
            ask: {
                let fixture = try Fixture(isDisabled: true)
                return (fixture, try await fixture.post(document))
            }),
        Refusal(
            testDescription: "plain HTTP from another machine", code: "packager_forbidden", credential: nil,
            found: "plain HTTP from another machine", expected: "TLS, or a proxy that trustedProxies names",
            ask: {
                let fixture = try Fixture()
                return (fixture, await Self.ask(fixture, address: .v4(0xC000_0201)))
            }),
        Refusal(
            testDescription: "too many guesses", code: "rate_limited", credential: nil,
            found: "more wrong credentials than the client's network may present",
            expected: "10 at once, then one in 1.0 seconds",
            ask: {
                let fixture = try Fixture()
                var last: HTTPResponse?
                for _ in 0..<20 where last?.status != .tooManyRequests {
                    last = await fixture.ask(.get, "/v1/keys/movie-1", authorization: "Bearer \(secretText)")
                }
                return (fixture, try #require(last))
            }),
        Refusal(
            testDescription: "too many requests", code: "rate_limited",
            found: "too many requests of the packager p1", expected: "at most 1 a second, 2 at once (packagers[].rate)",
            ask: {
                let fixture = try Fixture(rate: Rate(perSecond: 1, burst: 2))
                for _ in 0..<2 { _ = try await fixture.post(document) }
                return (fixture, try await fixture.post(document))
            }),
        Refusal(
            testDescription: "a content that is not allowed", code: "packager_forbidden", content: content,
            found: "content \(content)", expected: "contents: channel-9, live/*",
            ask: {
                let fixture = try Fixture(contents: ContentScope(["live/*", "channel-9"]))
                return (fixture, try await fixture.post(document))
            }),
        Refusal(
            testDescription: "no scope to read", code: "packager_forbidden", content: "movie-1",
            found: "the scopes: create", expected: "the scope read",
            ask: {
                let fixture = try Fixture(scopes: [.create])
                return (fixture, await fixture.ask(.get, "/v1/keys/movie-1"))
            }),
        Refusal(
            testDescription: "no scope to create", code: "packager_forbidden", content: "movie-1",
            found: "the scopes: read, import", expected: "the scope create",
            ask: {
                let fixture = try Fixture(scopes: [.read, .import])
                return (fixture, await fixture.ask(.post, "/v1/keys", body: order))
            }),
        Refusal(
            testDescription: "no scope to import", code: "packager_forbidden", content: "movie-1",
            found: "the scopes: read, create", expected: "the scope import",
            ask: {
                let fixture = try Fixture(scopes: [.read, .create])
                let track = #""track":"VIDEO","kid":"00112233-4455-6677-8899-aabbccddeeff""#
                let key = #""iv":"0f1e2d3c4b5a69788796a5b4c3d2e1f0","key":"00112233445566778899aabbccddeeff""#
                let order = #"{"contentId":"movie-1","tracks":[{\#(track),\#(key)}]}"#
                return (fixture, await fixture.ask(.post, "/v1/keys", body: order))
            }),
        Refusal(
            testDescription: "keys in the clear are not allowed", code: "packager_forbidden", content: "movie-1",
            found: "a request for keys in the clear", expected: "a DeliveryDataList with: sha256",
            ask: {
                let fixture = try Fixture(requiresEncryptedDelivery: true)
                return (fixture, await fixture.ask(.post, "/v1/keys", body: order))
            }),
        Refusal(
            testDescription: "a recipient that is not pinned", code: "packager_forbidden", content: content,
            found: "a certificate with sha256", expected: "pinned: none",
            ask: {
                let fixture = try Fixture(isPinned: false)
                return (fixture, try await fixture.post("v2_vod_fairplay_encrypted_delivery"))
            }),
        Refusal(
            testDescription: "a document that is not XML", code: "cpix_rejected", found: "it is not well-formed XML",
            expected: "well-formed XML in UTF-8 without declarations",
            ask: {
                let fixture = try Fixture()
                return (fixture, await fixture.post(Array("<CPIX".utf8)))
            }),
        Refusal(
            testDescription: "a document with a scheme that FairPlay does not play", code: "cpix_rejected",
            content: content, found: "DRMSystem 94ce86fb-07ff-4f43-adb8-93d2fa968ca2",
            expected: "cbcs or SAMPLE-AES with FairPlay",
            ask: {
                let fixture = try Fixture()
                return (fixture, try await fixture.post("neg_fairplay_cenc"))
            }),
        Refusal(
            testDescription: "a document with two schemes", code: "cpix_rejected", content: content, found: "",
            expected: "one scheme for all keys",
            ask: {
                let fixture = try Fixture()
                return (fixture, try await fixture.post("neg_mixed_scheme"))
            }),
        Refusal(
            testDescription: "an unknown version of SPEKE", code: "cpix_rejected",
            found: "X-Speke-Version: 9.9, at /speke/v2.0/copyProtection", expected: "one version in X-Speke-Version",
            ask: {
                let fixture = try Fixture()
                return (fixture, try await fixture.post(document, version: "9.9"))
            }),
        Refusal(
            testDescription: "another media type", code: "media_type_unsupported", found: "text/plain",
            expected: "application/xml or text/xml, in UTF-8",
            ask: {
                let fixture = try Fixture()
                return (fixture, try await fixture.post(document, type: "text/plain"))
            }),
        Refusal(
            testDescription: "a document that is too large", code: "body_too_large", found: "262145 bytes",
            expected: "at most 262144",
            ask: {
                let fixture = try Fixture()
                return (fixture, await fixture.post([UInt8](repeating: 0x20, count: 262_145)))
            }),
        Refusal(
            testDescription: "another method", code: "method_not_allowed", content: "movie-1", found: "PUT",
            expected: "GET, HEAD",
            ask: {
                let fixture = try Fixture()
                return (fixture, await fixture.ask(.put, "/v1/keys/movie-1"))
            }),
        Refusal(
            testDescription: "a member that is wrong", code: "request_invalid", found: "the member contentId",
            expected: "must be 1 to 200 printable ASCII characters without space",
            ask: {
                let fixture = try Fixture()
                return (fixture, await fixture.ask(.post, "/v1/keys", body: #"{"contentId":"","tracks":["VIDEO"]}"#))
            }),
        Refusal(
            testDescription: "a key that is stored with another IV", code: "key_conflict", content: "movie-1",
            keyID: "00112233-4455-6677-8899-aabbccddeeff", found: "is stored with another initialization vector",
            expected: "the key as it is stored",
            ask: {
                let fixture = try Fixture()
                func order(_ iv: String) -> String {
                    let track = #""track":"VIDEO","kid":"00112233-4455-6677-8899-aabbccddeeff","iv":"\#(iv)""#
                    return #"{"contentId":"movie-1","tracks":[{\#(track)}]}"#
                }
                let made = await fixture.ask(.post, "/v1/keys", body: order(String(repeating: "ab", count: 16)))
                #expect(made.status == .ok, "\(made.text)")
                return (fixture, await fixture.ask(.post, "/v1/keys", body: order(String(repeating: "cd", count: 16))))
            }),
    ]

    /// A request for a key with another peer than the fixture's.
    private static func ask(
        _ fixture: Fixture, address: IPAddress = .v4(0x7f00_0001), tls: TLSFacts? = nil
    ) async -> HTTPResponse {
        let head = HTTPRequestHead(method: .post, target: HTTPTarget(path: "/v1/keys", query: nil), fields: [:])
        let peer = HTTPPeer(address: .internet(address, port: 1), listener: "test", tls: tls)
        return await fixture.routes.answer(
            fixture.routes.publicRoutes, HTTPRequest(head: head, body: Array(order.utf8), peer: peer))
    }

    @Test(arguments: refusals)
    func nameWhoAskedAndWhatWasFoundAndExpected(refusal: Refusal) async throws {
        let (fixture, response) = try await refusal.ask()
        let id = try #require(response.fields["X-Request-Id"])
        let text = try #require(fixture.routes.log.lines.last { $0.contains(id) })
        let line = try #require(try JSONReader.parse(Array(text.utf8)).object)
        let admin: HTTPFields = ["Authorization": "Bearer \(RoutesFixture.adminToken)"]
        let answer = await fixture.routes.askAdmin(.get, "/v1/refusals/\(id)", admin)
        let report = try #require(answer.json)
        for object in [line, report] {
            func member(_ name: String) -> String? { object[name]?.string }
            #expect(member("event") == "packager_refused" && member("code") == refusal.code, "\(text)")
            #expect(member("listener") == "test" && member("client")?.hasSuffix(".0/24") == true)
            #expect(member("credential") == refusal.credential)
            #expect(member("content") == refusal.content && member("kid") == refusal.keyID, "\(text)")
            let found = member("found") ?? ""
            #expect(found.hasPrefix(refusal.found), "\(found)")
            if refusal.found.hasSuffix("sha256") { #expect(found.contains(/sha256 [0-9a-f]{64}$/)) }
            #expect(member("expected")?.hasPrefix(refusal.expected) == true, "\(member("expected") ?? "")")
            for name in ["found", "expected", "cause"] { #expect((member(name) ?? "").utf8.count <= 256) }
        }
        #expect(report["remedy"]?.string?.isEmpty == false)
        let secrets = [Fixture.secret, Fixture.basic, Self.secretText, String(Self.secretText.dropFirst(4))]
        for text in fixture.routes.log.lines + [answer.text] { #expect(!secrets.contains { text.contains($0) }) }
        let metrics = try await fixture.routes.metrics()
        let labels = #"code="\#(refusal.code)",issuer="none",credential="\#(refusal.credential ?? "none")""#
        #expect(metrics["latchkey_refusals_total{\(labels)}"] == 1)
    }

    /// Names of packagers that a reload has removed share one series with all other unknown names.
    @Test func countsOnlyPackagersOfTheConfiguration() async throws {
        let fixture = try Fixture(scopes: [.create])
        for _ in 0..<3 { _ = await fixture.ask(.get, "/v1/keys/movie-1") }
        let metrics = try await fixture.routes.metrics()
        let name = "latchkey_refusals_total{code=\"packager_forbidden\",issuer=\"none\",credential="
        #expect(metrics[name + "\"packager:p1\"}"] == 3 && metrics[name + "\"other\"}"] == nil)
    }

    /// A packager may have thousands of contents. The words for a refusal are made once, and bounded.
    @Test func boundsTheWordsOfAPackager() {
        let packager = Packager(name: "p", contents: ContentScope((0..<10_000).map { "content-\($0)" }))
        #expect(packager.contentWords.hasPrefix("content-0, content-1, content-10, "))
        #expect(packager.contentWords.hasSuffix(", …") && packager.contentWords.utf8.count < 400)
        #expect(Packager(name: "p").contentWords == "all" && Packager(name: "p").pinWords == "none")
        #expect(packager.scopeWords == "read, create" && Packager(name: "p", scopes: []).scopeWords == "none")
    }
}
