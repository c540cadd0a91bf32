import ByteCoding
import ContentKeys
import DeviceSimulation
import Entitlements
import FairPlay
import HTTPMessages
import Telemetry
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

@Suite struct ExplainEndpointTests {
    private let fixture: RoutesFixture

    init() throws {
        fixture = try RoutesFixture()
    }

    private static let administrator: HTTPFields = ["Authorization": "Bearer \(RoutesFixture.adminToken)"]

    private func ask(_ body: [UInt8], _ fields: HTTPFields = administrator) async -> HTTPResponse {
        await fixture.askAdmin(.post, "/v1/explain", fields, body: body)
    }

    private func explain(
        _ token: String, _ message: [UInt8]? = nil, offline: Bool? = nil, address: String? = nil
    ) async throws -> JSONObject {
        let response = await ask(
            JSONWriter.object { writer in
                writer.member("token", token)
                if let message { writer.member("spc", Base64.encode(message)) }
                if let offline { writer.member("offline", offline) }
                if let address { writer.member("address", address) }
            })
        #expect(response.status == .ok)
        #expect(response.fields["Cache-Control"] == "no-store")
        return try #require(try JSONReader.parse(response.body).object)
    }

    /// The verdict of a check, with its code if it failed.
    private func verdict(_ report: JSONObject, _ section: String, _ name: String) throws -> String {
        let checks = try #require(report["checks"]?.object?[section]?.array).compactMap(\.object)
        let check = try #require(checks.first { $0["name"]?.string == name })
        return check["code"]?.string ?? check["verdict"]?.string ?? ""
    }

    @Test func showsEveryCheckAndTheTermsOfALicenseThatWouldBeIssued() async throws {
        let right = Right(.content("movie-1"), lease: 300, hdcp: .type0)
        let request = try fixture.deviceRequest(.v1) {
            $0.playbackState = MediaPlaybackState(createdAt: 1, state: .readyToStart, sessionID: 2)
        }
        let report = try await explain(fixture.token([right]), request.message)
        #expect(report["allowed"]?.bool == true)
        #expect(report["refusal"]?.isNull == true)
        for check in TokenExplanation.Check.allCases {
            #expect(try verdict(report, "token", check.rawValue) == "passed")
        }
        for stage in ["container", "certificate", "contents", "key"] {
            #expect(try verdict(report, "spc", stage) == "passed")
        }
        for check in RequestCheck.allCases { #expect(try verdict(report, "request", check.rawValue) == "passed") }
        for check in RightCheck.allCases { #expect(try verdict(report, "rights[0]", check.rawValue) == "passed") }
        let terms = try #require(report["terms"]?.object)
        #expect(terms["validity"]?.string == "lease")
        #expect(terms["lease"]?.number?.signed == 300)
        #expect(terms["hdcp"]?.string == "type0")
        let blocks = try #require(terms["blocks"]?.array).compactMap(\.object)
        let duration = try #require(blocks.first { $0["tag"]?.string == "47acf6a418cd091a" })
        #expect(duration["value"]?.string == "0000012c000000001a4bde7e86d34a3a")
        #expect(report["spc"]?.object?["assetID"]?.string == Hexadecimal.encode(Array("movie-1".utf8)))
    }

    @Test func issuesNothingAndCountsNothingAsALicense() async throws {
        _ = try await explain(fixture.token(), fixture.deviceRequest(.v1).message)
        let metrics = try await fixture.metrics()
        #expect(metrics["latchkey_licenses_issued_total{spc_version=\"1\"}"] == 0)
        #expect(metrics["latchkey_licenses_refused_total{code=\"content_mismatch\"}"] == 0)
    }

    @Test func namesTheTrueCauseOfARejectedSPCBesideWhatAClientHears() async throws {
        var message = try fixture.deviceRequest(.v1).message
        // This byte is in the wrapped key, so RSA gives no session key.
        message[60] ^= 1
        let report = try await explain(fixture.token(), message)
        #expect(report["allowed"]?.bool == false)
        let refusal = try #require(report["refusal"]?.object)
        #expect(refusal["code"]?.string == "spc_rejected")
        let heard = await fixture.license(message, token: try fixture.token())
        #expect(heard.fields["X-Error-Code"] == "spc_rejected")
        let cause = try #require(refusal["cause"]?.string)
        #expect(!cause.isEmpty && !String(decoding: heard.body, as: UTF8.self).contains(cause))
        let remedy = try #require(refusal["remedy"]?.string)
        #expect(!remedy.isEmpty && !String(decoding: heard.body, as: UTF8.self).contains(remedy))
        #expect(try verdict(report, "spc", "key") == "not_reached")
        #expect(report["terms"]?.isNull == true)
    }

    @Test func explainsTheSPCOfABadTokenAndTheTokenOfABadSPC() async throws {
        let other = try RoutesFixture()
        let strange = try await explain(other.token(), fixture.deviceRequest(.v1).message)
        #expect(try verdict(strange, "token", "signature") == "token_signature")
        #expect(try verdict(strange, "token", "time") == "not_reached")
        #expect(try verdict(strange, "spc", "contents") == "passed")
        #expect(strange["claims"]?.isNull == true)

        let broken = try await explain(fixture.token(), [0, 0, 0, 1])
        #expect(try verdict(broken, "token", "claims") == "passed")
        #expect(try verdict(broken, "spc", "container") == "spc_malformed")
        #expect(try verdict(broken, "spc", "certificate") == "not_reached")
    }

    @Test func showsWhyEachRightDoesNotGrant() async throws {
        let now = fixture.clock.wallTime.seconds
        let rights = [
            Right(.content("movie-2")), Right(.content("movie-1"), start: now + 60),
            Right(.content("movie-1"), profile: "nowhere"),
        ]
        let report = try await explain(fixture.token(rights), fixture.deviceRequest(.v1).message, offline: true)
        #expect(report["use"]?.string == "offline")
        #expect(try verdict(report, "rights[0]", "coverage") == "content_mismatch")
        #expect(try verdict(report, "rights[0]", "use") == "offline_not_allowed")
        #expect(try verdict(report, "rights[1]", "start") == "right_not_started")
        #expect(try verdict(report, "rights[2]", "profile") == "token_schema")
        #expect(report["refusal"]?.object?["code"]?.string == "offline_not_allowed")
        let findings = try #require(report["findings"]?.array).compactMap(\.string)
        #expect(findings.contains { $0.hasPrefix("rights[1] begins later") })
    }

    @Test func explainsATokenAlone() async throws {
        let report = try await explain(fixture.token())
        #expect(report["allowed"]?.isNull == true)
        #expect(report["claims"]?.object?["subject"]?.string == "viewer-1")
        #expect(report["checks"]?.object?["spc"] == nil)
    }

    @Test(arguments: [nil, "Bearer wrong", "Basic \(RoutesFixture.adminToken)"])
    func explainsToNobodyButTheAdministrator(authorization: String?) async throws {
        let body = JSONWriter.object { $0.member("token", "a.b.c") }
        let response = await ask(body, authorization.map { ["Authorization": $0] } ?? [:])
        #expect(response.status == .unauthorized)
    }

    @Test(arguments: [
        "", "[]", "{}", #"{"token":1}"#, #"{"token":"a.b.c","spc":"!"}"#, #"{"token":"a.b.c","spc":null}"#,
        #"{"token":"a.b.c","offline":"yes"}"#, #"{"token":"a.b.c","address":"nowhere"}"#,
        #"{"token":"a.b.c","other":1}"#, #"{"token":"a","token":"b"}"#, #"{"token":[[[[["a"]]]]]}"#,
    ])
    func refusesABodyThatIsNoQuestion(body: String) async throws {
        let response = await ask(Array(body.utf8))
        #expect(response.status == .badRequest)
        #expect(response.fields["X-Error-Code"] == "request_invalid")
    }

    @Test func isThereByPOSTAlone() async {
        let response = await fixture.askAdmin(.get, "/v1/explain", Self.administrator)
        #expect(response.status == .methodNotAllowed)
        #expect(response.fields["Allow"] == "POST")
        #expect(await fixture.ask(.post, "/v1/explain").status == .notFound)
    }
}
