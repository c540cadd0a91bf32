import ByteCoding
import DeviceSimulation
import Entitlements
import FairPlay
import HTTPMessages
import HTTPServing
import KeyCrypto
import Telemetry
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

@Suite struct PublicRoutesTests {
    private let fixture: RoutesFixture

    init() throws {
        fixture = try RoutesFixture()
    }

    private func code(_ response: HTTPResponse) throws -> String? {
        let body = try JSONReader.parse(response.body).object
        #expect(body?["request_id"]?.string == response.fields["X-Request-Id"])
        return body?["code"]?.string
    }

    // MARK: Licenses

    @Test(arguments: [SPCVersion.v1, .v2])
    func answersAnSPCWithTheStoredKey(version: SPCVersion) async throws {
        let request = try fixture.deviceRequest(version)
        let response = await fixture.license(request.message, token: try fixture.token())
        #expect(response.status == .ok)
        #expect(response.fields["Content-Type"] == "application/octet-stream")
        #expect(response.fields["Cache-Control"] == "no-store")
        #expect(response.fields["X-Request-Id"]?.utf8.count == 16)
        let license = try CKCOpener(secrets: request.secrets, using: CryptoContext()).open(response.body)
        #expect(license.contentKey.bytes.revealed() == RoutesFixture.key)
        #expect(license.contentIV.bytes == RoutesFixture.iv)
    }

    @Test(arguments: [HTTPMethod.get, .head, .put, .patch, .delete])
    func takesLicenseRequestsByPOSTAlone(method: HTTPMethod) async throws {
        let response = await fixture.ask(method, "/fps/license")
        #expect(response.status == .methodNotAllowed)
        #expect(response.fields["Allow"] == "POST, OPTIONS")
        #expect(try code(response) == "method_not_allowed")
        let body = try #require(try JSONReader.parse(response.body).object)
        let detail = try #require(body["detail"]?.string)
        #expect(detail == "This address takes only POST, and the request has the method \(method.rawValue).")
        #expect(body["hint"]?.string?.contains("by POST") == true)
    }

    @Test func asksForATokenFirst() async throws {
        let response = await fixture.license([1, 2, 3], token: nil)
        #expect(try code(response) == "token_missing")
        #expect(response.status == .unauthorized)
        #expect(response.fields["WWW-Authenticate"] == "Bearer")
    }

    @Test func refusesTwoDifferentTokens() async throws {
        let fields: HTTPFields = ["Authorization": "Bearer a", "Authorization": "Bearer b"]
        let response = await fixture.ask(.post, "/fps/license", fields, body: [1])
        #expect(response.status == .badRequest)
        #expect(try code(response) == "token_ambiguous")
    }

    @Test(arguments: [
        ([], 400, "body_empty"), ([0x30, 0x82, 1, 2], 400, "spc_is_certificate"),
        ([0, 0, 0, 4], 400, "spc_version_unsupported"), ([0, 0, 0, 1], 400, "spc_malformed"),
        ([0, 0, 0], 400, "spc_malformed"),
    ])
    func tellsWhatIsWrongWithAContainer(body: [UInt8], status: Int, expected: String) async throws {
        let response = await fixture.license(body, token: try fixture.token())
        #expect(Int(response.status.code) == status)
        #expect(try code(response) == expected)
        #expect(fixture.operations.value == 0)
    }

    @Test func refusesOtherContent() async throws {
        let request = try fixture.deviceRequest(.v1)
        let response = await fixture.license(request.message, token: try fixture.token([Right(.content("other"))]))
        #expect(response.status == .forbidden)
        #expect(try code(response) == "content_mismatch")
    }

    @Test func saysThatTheStoreIsDown() async throws {
        let fixture = try RoutesFixture(keys: BrokenStore())
        let request = try fixture.deviceRequest(.v1)
        let response = await fixture.license(request.message, token: try fixture.token())
        #expect(response.status == .serviceUnavailable)
        #expect(response.waits(2...3))
        #expect(try code(response) == "key_store_timeout")
        #expect(fixture.log.lines.contains { $0.contains(#""level":"error""#) && $0.contains("key_store_timeout") })
    }

    @Test func logsTheTrueCauseUnderTheRequestID() async throws {
        var options = DeviceOptions(version: .v1, assetID: Array("movie-1".utf8))
        options.unknownBlockCount = 0
        let device = try fixture.credential.makeDevice(.v1, using: CryptoContext())
        let message = try device.makeRequest(options, with: .payload(.wrongIntegrity)).message
        let response = await fixture.license(message, token: try fixture.token())
        #expect(try code(response) == "spc_rejected")
        let id = try #require(response.fields["X-Request-Id"])
        let lines = fixture.log.lines.filter { $0.contains(id) }
        #expect(lines.count == 1)
        let text = try #require(lines.first)
        let line = try #require(try JSONReader.parse(Array(text.utf8)).object)
        #expect(line["event"]?.string == "license_refused")
        #expect(line["code"]?.string == "spc_rejected")
        #expect(line["cause"]?.string == "integrity")
    }

    // MARK: Other addresses

    @Test(arguments: [
        "/", "/fps", "/fps/", "/fps/license/", "/fps/licenses", "/FPS/LICENSE", "//fps/license", "/fps/%6cicense",
        "/fps/license/../certificate", "/metrics", "/livez/", "/healthz", "*",
    ])
    func knowsNoOtherPath(path: String) async throws {
        for method in [HTTPMethod.get, .post] {
            let response = await fixture.ask(method, path, ["Authorization": "Bearer \(RoutesFixture.adminToken)"])
            #expect(response.status == .notFound)
            #expect(try code(response) == "not_found")
        }
    }

    @Test(arguments: ["/fps/certificate", "/livez", "/readyz"])
    func onlyReadsWhatIsThereToRead(path: String) async throws {
        fixture.health.setReady(true)
        // OPTIONS is answered at every address, for web pages (CORSPolicyTests).
        for method in HTTPMethod.allCases where method != .options {
            let response = await fixture.ask(method, path)
            let isRead = method == .get || method == .head
            #expect(response.status == (isRead ? .ok : .methodNotAllowed))
            #expect(response.fields["Allow"] == (isRead ? nil : "GET, HEAD, OPTIONS"))
        }
    }

    @Test func isReadyOnlyWhileItServes() async {
        #expect(await fixture.ask(.get, "/livez").status == .ok)
        #expect(await fixture.ask(.get, "/readyz").status == .serviceUnavailable)
        fixture.health.setReady(true)
        #expect(await fixture.ask(.get, "/readyz").status == .ok)
        fixture.health.setReady(false)
        #expect(await fixture.ask(.get, "/readyz").status == .serviceUnavailable)
        #expect(await fixture.ask(.get, "/livez").status == .ok)
    }

    @Test func answersWhatNeverBecameARequest() async throws {
        let peer = RoutesFixture.request(.get, "/").peer
        let routes = fixture.publicRoutes
        let response = await fixture.onLoop { loop in routes.refusal(of: .bodyTooLarge, in: nil, from: peer, on: loop) }
        #expect(response.status == .contentTooLarge)
        #expect(try code(response) == "body_too_large")
    }

    @Test func restatesTheRefusalOfAHead() async {
        let nagra = RoutesFixture.request(.post, "/fps/license", ["nv-authorizations": "a"])
        let plain = RoutesFixture.request(.post, "/fps/license")
        let bodies = await fixture.onLoop { [routes = fixture.publicRoutes] loop in
            [nagra, plain].map { request in
                let response = routes.refusal(of: .tooManyParameters, in: request.head, from: request.peer, on: loop)
                return (response.fields["Content-Type"], String(decoding: response.body, as: UTF8.self))
            }
        }
        #expect(bodies[0].0 == "application/json" && bodies[0].1.hasPrefix(#"{"errorCode":"#))
        #expect(bodies[1].0 == "application/problem+json" && !bodies[1].1.contains("errorCode"))
    }
}
