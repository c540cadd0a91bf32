import Administration
import ByteCoding
import DeviceSimulation
import Entitlements
import FairPlay
import HTTPMessages
import KeyCrypto
import Licensing
import Records
import Telemetry
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

/// What a log line, the memory and the metrics say of a refusal.
@Suite struct RefusalFactsTests {
    private let fixture: RoutesFixture

    init() throws {
        fixture = try RoutesFixture()
    }

    private func line(of response: HTTPResponse, _ fixture: RoutesFixture) throws -> JSONObject {
        let id = try #require(response.fields["X-Request-Id"])
        let text = try #require(fixture.log.lines.first { $0.contains(id) })
        return try #require(try JSONReader.parse(Array(text.utf8)).object)
    }

    private func report(of response: HTTPResponse, _ fixture: RoutesFixture) async throws -> JSONObject {
        let id = try #require(response.fields["X-Request-Id"])
        let found = await fixture.askAdmin(
            .get, "/v1/refusals/\(id)", ["Authorization": "Bearer \(RoutesFixture.adminToken)"])
        #expect(found.status == .ok)
        return try #require(try JSONReader.parse(found.body).object)
    }

    @Test func tellWhoseRequestItWasAndWhatWasFound() async throws {
        let token = try fixture.token([Right(.content("movie-2"))])
        let response = await fixture.license(try fixture.deviceRequest(.v1).message, token: token)
        let line = try line(of: response, fixture)
        let expected = [
            "code": "content_mismatch", "listener": "test", "client": "127.0.0.0/24", "issuer": "portal",
            "token_key": "test", "credential": fixture.credential.credential.name, "content": "movie-1",
            "kid": "00112233-4455-6677-8899-aabbccddeeff",
            "found": "content movie-1, kid 00112233-4455-6677-8899-aabbccddeeff", "expected": "content movie-2",
        ]
        let subject = try SampleDecisions.pseudonyms().subject(issuer: "portal", "viewer-1")
        let report = try await report(of: response, fixture)
        for (name, value) in expected {
            #expect(line[name]?.string == value, "\(name)")
            #expect(report[name]?.string == value, "\(name)")
        }
        for object in [line, report] {
            #expect(object["subject"]?.string == Hexadecimal.encode(subject.firstHalf.bytes))
            #expect(!object.members.contains { $0.node.string?.contains("viewer-1") == true })
        }
        #expect(report["remedy"]?.string?.isEmpty == false && report["explanation"]?.string == line["cause"]?.string)
    }

    /// The session is a pseudonym, and what breaks the syntax refuses nothing more.
    @Test func nameThePlayersSessionAndContent() async throws {
        let session = "6e2fb550-c457-11e9-bb97-0800200c9a66"
        let pseudonym = try SampleDecisions.pseudonyms().pseudonym(of: .playerSession, Array(session.utf8))
        let digits = Hexadecimal.encode(pseudonym.firstHalf.bytes)
        let header: HTTPFields = ["CMCD-Session": #"sid="\#(session)",cid="film 7",v=1"#]
        let query = "CMCD=cid%3D%22film%207%22%2Csid%3D%22\(session)%22"
        let token = try fixture.token([Right(.content("movie-2"))])
        var bearer = header
        bearer.append("Authorization", "Bearer \(token)")
        let message = try fixture.deviceRequest(.v1).message
        for (response, code) in [
            (await fixture.ask(.post, "/fps/license", header, body: [1]), "token_missing"),
            (await fixture.ask(.post, "/fps/license", query: query, [:], body: [1]), "token_missing"),
            (await fixture.ask(.post, "/fps/license", bearer, body: message), "content_mismatch"),
        ] {
            let line = try line(of: response, fixture)
            let report = try await report(of: response, fixture)
            for object in [line, report] {
                #expect(object["code"]?.string == code)
                #expect(object["cmcd_session"]?.string == digits && object["cmcd_content"]?.string == "film 7")
                #expect(!object.members.contains { $0.node.string?.contains(session) == true })
            }
        }
    }

    @Test(arguments: ["/", "/metrics", "/v1/whoami", "/v1/refusals/0000000000000000", "/v1/drain"])
    func nameTheAdminListenersAtAPublicOne(path: String) async throws {
        let response = await fixture.ask(.get, path)
        #expect(response.fields["X-Error-Code"] == "not_found")
        #expect(
            try line(of: response, fixture)["expected"]?.string
                == "an address of this listener; the admin listeners serve the one that was asked")
        let hint = try #require(try JSONReader.parse(response.body).object?["hint"]?.string)
        #expect(hint.hasPrefix("The admin listeners"))
    }

    @Test(arguments: ["/fps/license", "/fps/certificate", "/hms/fp/token", "/v1/keys/movie-1"])
    func nameThePublicListenersAtAnAdminListener(path: String) async throws {
        let response = await fixture.askAdmin(.post, path)
        #expect(response.fields["X-Error-Code"] == "not_found")
        #expect(
            try line(of: response, fixture)["expected"]?.string
                == "an address of this listener; the public listeners serve the one that was asked")
        let hint = try #require(try JSONReader.parse(response.body).object?["hint"]?.string)
        #expect(hint.hasPrefix("The public listeners"))
    }

    @Test(arguments: [#"sid="a"#, "sid=a", #"sid="a",sid="b""#, String(repeating: "a,", count: 4000)])
    func badCMCDRefusesNothing(value: String) async throws {
        let token = try fixture.token([Right(.content("movie-1"))])
        let fields: HTTPFields = ["CMCD-Session": value, "Authorization": "Bearer \(token)"]
        let message = try fixture.deviceRequest(.v1).message
        #expect(await fixture.ask(.post, "/fps/license", fields, body: message).status == .ok)
        let refused = await fixture.ask(.post, "/fps/license", ["CMCD-Session": value], body: [1])
        #expect(try line(of: refused, fixture)["cmcd_session"] == nil)
    }

    /// Only a valid trace is written, and an invalid one changes no answer.
    @Test func nameTheTrace() async throws {
        let trace = "0af7651916cd43dd8448eb211c80319c"
        let parent = "00-\(trace)-b7ad6b7169203331-01"
        let refused = await fixture.ask(.post, "/fps/license", ["traceparent": parent], body: [1])
        let id = try #require(refused.fields["X-Request-Id"])
        let line = try line(of: refused, fixture)
        #expect(line["trace_id"]?.string == trace && line["parent_span_id"]?.string == "b7ad6b7169203331")
        #expect(line["span_id"]?.string == id)
        #expect(try await report(of: refused, fixture)["trace_id"]?.string == trace)
        let admin: HTTPFields = ["Authorization": "Bearer \(RoutesFixture.adminToken)"]
        let found = await fixture.askAdmin(.get, "/v1/refusals/\(trace)", admin)
        #expect(try JSONReader.parse(found.body).object?["request_id"]?.string == id)
        for invalid in [parent.uppercased(), parent + "-", "00-\(trace)-0000000000000000-01"] {
            let other = await fixture.ask(.post, "/fps/license", ["traceparent": invalid], body: [1])
            #expect(other.status == refused.status)
            let line = try self.line(of: other, fixture)
            #expect(line["trace_id"] == nil && line["span_id"] == nil)
            #expect(try await report(of: other, fixture)["trace_id"] == nil)
        }
    }

    @Test func countByCodeIssuerAndCredential() async throws {
        let message = try fixture.deviceRequest(.v1).message
        for _ in 0..<3 {
            _ = await fixture.license(message, token: try fixture.token([Right(.content("movie-2"))]))
        }
        _ = await fixture.license(message, token: nil)
        let metrics = try await fixture.metrics()
        let name = fixture.credential.credential.name
        #expect(
            metrics["latchkey_refusals_total{code=\"content_mismatch\",issuer=\"portal\",credential=\"\(name)\"}"] == 3)
        #expect(metrics["latchkey_refusals_total{code=\"token_missing\",issuer=\"none\",credential=\"none\"}"] == 1)
    }

    /// A line must take the same time for each cause, so it has the same members.
    @Test func areTheSameForEveryRejectionOfAnSPC() async throws {
        var names: Set<[String]> = []
        var causes: Set<String> = []
        for fault in SPCFault.all(for: .v1) where fault.answer == .rejected {
            let device = try fixture.credential.makeDevice(.v1, using: CryptoContext())
            let options = DeviceOptions(version: .v1, assetID: Array("movie-1".utf8))
            let message = try device.makeRequest(options, with: fault).message
            let line = try line(of: await fixture.license(message, token: try fixture.token()), fixture)
            names.insert(line.members.map(\.name))
            causes.insert(try #require(line["cause"]?.string))
            #expect(line["credential"]?.string == fixture.credential.credential.name)
        }
        #expect(names.count == 1 && causes.count > 5)
    }

    @Test func nameWhatATokenLacks() async throws {
        let forged = try RoutesFixture()
        let response = await fixture.license(
            try fixture.deviceRequest(.v1).message, token: try forged.token())
        let line = try line(of: response, fixture)
        #expect(line["code"]?.string == "token_signature")
        #expect(line["token_key"]?.string == "test" && line["issuer"]?.string == "portal")
        #expect(line["subject"] == nil, "nothing of a forged token is believed")
        let late = await fixture.license(
            try fixture.deviceRequest(.v1).message, token: try fixture.token(startsIn: -1000))
        let found = try self.line(of: late, fixture)["found"]?.string
        #expect(found?.contains("until 20") == true)
    }

    /// A parser's own words never reach an operator as the name of a case.
    @Test func haveNoTypeOfTheSource() async throws {
        for sample in try RefusalSample.all() {
            let cause = sample.error.cause.text
            #expect(
                !cause.contains(/[a-z][A-Z][a-z]+\(|\b[A-Z]\w+\.[a-z]\w+\(|^[a-z]+[A-Z]\w*$|: [a-z]+[A-Z]\w*$/),
                "\(cause)")
        }
        for body in [[0x41, 0x41, 0x41, 0x41], Array("spc=".utf8), Array("{\"a\":".utf8), [0, 0, 0, 9]] as [[UInt8]] {
            let response = await fixture.license(body, token: try fixture.token())
            let cause = try #require(try line(of: response, fixture)["cause"]?.string)
            #expect(!cause.contains(/[a-z][A-Z]|\(/), "\(cause)")
        }
    }
}

@Suite struct RefusalCountsTests {
    private func rules(issuers: Set<String>) throws -> RefusalRules {
        let rules = try RoutesFixture().rules.current.refusals
        return RefusalRules(
            clientAddress: rules.clientAddress, issuers: issuers,
            credentials: rules.credentials, packagers: rules.packagers)
    }

    private func facts(_ issuer: String) -> RefusalFacts {
        var facts = RefusalFacts()
        facts[.issuer] = issuer
        return facts
    }

    /// Names that are not configured, and names beyond the bound, share one series.
    @Test func boundItsSeries() throws {
        let names = (0..<RefusalCounts.nameCountMaximum + 10).map { "issuer-\($0)" }
        let rules = try rules(issuers: Set(names))
        let counts = RefusalCounts()
        let registry = MetricsRegistry()
        counts.register(in: registry)
        for name in names + ["stranger"] { counts.count(.tokenExpired, facts(name), under: rules) }
        for code in ProblemCode.allCases { for name in names { counts.count(code, facts(name), under: rules) } }
        let text = registry.render()
        let series = text.split(separator: "\n").filter { $0.hasPrefix("latchkey_refusals_total{") }
        #expect(series.count <= RefusalCounts.seriesCountMaximum + ProblemCode.allCases.count)
        let issuers = Set(series.compactMap { $0.firstMatch(of: /issuer="([^"]*)"/)?.1 })
        #expect(issuers.count == RefusalCounts.nameCountMaximum + 1 && issuers.contains("other"))
        #expect(!text.contains("stranger"))
        let sum = series.compactMap { $0.split(separator: " ").last.flatMap { Double($0) } }.reduce(0, +)
        #expect(sum == Double((names.count + 1) + ProblemCode.allCases.count * names.count))
    }
}
