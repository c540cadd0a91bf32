import ByteCoding
import DeviceSimulation
import FairPlay
import HTTPMessages
import HTTPServing
import KeyCrypto
import Licensing
import PlayerMessages
import ServiceConfiguration
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

/// Licenses and certificates at configured paths.
@Suite struct LicensePathsTests {
    private static let keyID = "00112233-4455-6677-8899-aabbccddeeff"
    private static let nagra = "/tenant/fpls/contentlicenseservice/v1"

    private let fixture: RoutesFixture

    init() throws {
        fixture = try RoutesFixture()
    }

    private func license(
        _ path: String, assetID: String = "movie-1", query: String? = nil, _ more: HTTPFields = [:]
    ) async throws -> (HTTPResponse, DeviceRequest) {
        let request = try fixture.deviceRequest(.v2, assetID: assetID)
        var fields: HTTPFields = ["Authorization": "Bearer \(try fixture.token())"]
        fields.append(contentsOf: more)
        return (await fixture.ask(.post, path, query: query, fields, body: request.message), request)
    }

    private func opens(_ ckc: [UInt8], _ request: DeviceRequest) throws -> Bool {
        let license = try CKCOpener(secrets: request.secrets, using: CryptoContext()).open(ckc)
        return license.contentKey.bytes.revealed() == RoutesFixture.key
    }

    private func use(_ paths: Configuration.LicensePath...) {
        let old = fixture.rules.current
        fixture.rules.replace(
            with: LiveRules(
                license: old.license, certificates: old.certificates,
                administrators: old.administration.credentials, names: old.administration.names,
                licensePaths: paths))
    }

    // MARK: Default paths

    @Test(arguments: [
        "/fps/license/\(keyID)", "/fps/license/00112233445566778899AABBCCDDEEFF", "/fps/license/movie-1",
        "/fps/license/ABEiM0RVZneImaq7zN3u_w", "/fps/v1/license", "/fps/v1/license/\(keyID)",
    ])
    func standardPathsAnswerAsTheRoute(path: String) async throws {
        let (response, request) = try await license(path)
        #expect(response.status == .ok && response.fields["Content-Type"] == "application/octet-stream")
        #expect(try opens(response.body, request))
        #expect(response.fields["X-License-Id"] != nil)
    }

    @Test func pathsOfNAGRAAnswerInItsManner() async throws {
        let (response, request) = try await license(Self.nagra + "/licenses")
        let members = try #require(try JSONReader.parse(response.body).object)
        #expect(response.fields["Content-Type"] == "application/json")
        #expect(try opens(Base64.decode(try #require(members["CkcMessage"]?.string)), request))
        let (raw, other) = try await license(Self.nagra + "/licenses", query: "format=raw")
        #expect(try opens(raw.body, other))

        let refused = await fixture.ask(.post, Self.nagra + "/licenses", body: request.message)
        #expect(refused.status == .unauthorized && refused.fields["Content-Type"] == "application/json")
        #expect(try JSONReader.parse(refused.body).object?["errorCode"]?.number?.signed == 4001)
        let method = await fixture.ask(.get, Self.nagra + "/licenses")
        #expect(method.status == .methodNotAllowed && method.fields["Allow"] == "POST, OPTIONS")
        #expect(try JSONReader.parse(method.body).object?["errorCode"]?.number?.signed == 1001)
    }

    @Test(arguments: ["/fps/v1/certificate", nagra + "/certificates"])
    func certificatesAreThereToo(path: String) async throws {
        let expected = await fixture.ask(.get, "/fps/certificate")
        let response = await fixture.ask(.get, path)
        #expect(response.status == .ok && response.body == expected.body)
        #expect(response.fields["ETag"] == expected.fields["ETag"])
        #expect(await fixture.ask(.head, path, query: "format=pem").status == .ok)
        let refused = await fixture.ask(.post, path)
        #expect(refused.status == .methodNotAllowed && refused.fields["Allow"] == "GET, HEAD, OPTIONS")
    }

    @Test(arguments: [
        "/fps/license/", "/fps/license/a/b", "/fps/license/x", "/fps/v1/license/", "/contentlicenseservice/v1/licenses",
        "/a/contentlicenseservice/v1/license", "/fps/v2/license",
    ])
    func thereAreNoOthers(path: String) async throws {
        let (response, _) = try await license(path)
        #expect(response.status == .notFound && response.fields["X-Error-Code"] == "not_found")
        #expect(fixture.operations.value == 0)
    }

    // MARK: A key in the path

    @Test(arguments: [
        "/fps/license/00112233-4455-6677-8899-aabbccddee00", "/fps/license/movie-2", "/fps/license/..",
        "/fps/v1/license/%00%00",
    ])
    func aKeyOfThePathThatIsAnotherIsRefused(path: String) async throws {
        let (response, _) = try await license(path)
        #expect(response.status == .forbidden && response.fields["X-Error-Code"] == "content_mismatch")
        let body = try #require(try JSONReader.parse(response.body).object)
        #expect(body["detail"]?.string == "The path of the request names another key than the SPC.")
        let id = try #require(response.fields["X-Request-Id"])
        #expect(fixture.log.lines.contains { $0.contains(id) && $0.contains("names another key") })
    }

    /// The asset id of an app that replaces the scheme is the whole URI.
    @Test func aWholeURIAgreesWithItsOwnPath() async throws {
        let path = "/fps/license/\(Self.keyID)"
        for assetID in ["skd://keys.example.com\(path)", "keys.example.com\(path)", Self.keyID, "movie-1"] {
            let (response, request) = try await license(path, assetID: assetID)
            #expect(response.status == .ok, "\(assetID)")
            #expect(try opens(response.body, request), "\(assetID)")
        }
    }

    @Test func theKeyOfThePathGrantsNothing() async throws {
        let request = try fixture.deviceRequest(.v2, assetID: "movie-2")
        let response = await fixture.ask(
            .post, "/fps/license/movie-1", ["Authorization": "Bearer \(try fixture.token())"], body: request.message)
        #expect(response.status == .forbidden)
    }

    // MARK: Configured paths

    private func pattern(_ text: String) throws -> PathPattern { try #require(PathPattern(text)) }

    @Test func aListTakesThePlaceOfTheStandardPaths() async throws {
        use(.init(try pattern("/drm/{tenant}/{contentId}")))
        #expect(try await license("/drm/anyone/movie-1").0.status == .ok)
        #expect(try await license("/drm/anyone/movie-2").0.status == .forbidden)
        #expect(try await license("/fps/license/movie-1").0.status == .notFound)
        #expect(try await license("/fps/license").0.status == .ok)
    }

    @Test func aPathHasAShapeOfItsOwn() async throws {
        use(
            .init(try pattern("/kaltura"), answer: .kaltura), .init(try pattern("/text"), answer: .base64),
            .init(try pattern("/opentv"), dialect: .nagra, answer: .ckc))
        let (kaltura, _) = try await license("/kaltura", ["Accept": "application/octet-stream"])
        #expect(try JSONReader.parse(kaltura.body).object?["persistence_duration"]?.number?.signed == 0)
        let (text, request) = try await license("/text")
        #expect(try opens(Base64.decode(text.body), request))
        let (tagged, _) = try await license("/opentv", ["Accept": "application/json"])
        #expect(tagged.body.starts(with: "<ckc>".utf8))
        let (queried, other) = try await license("/kaltura", query: "format=raw")
        #expect(try opens(queried.body, other))
    }

    /// FairPlay-KSM serves its certificate and its licenses at the same address.
    @Test func aPathMayHaveBoth() async throws {
        use(.init(try pattern("/ksm"), serves: .both, certificateFormat: .json))
        let certificate = await fixture.ask(.get, "/ksm")
        let raw = await fixture.ask(.get, "/fps/certificate")
        #expect(certificate.body == Array(#"{"certificate":"\#(Base64.encode(raw.body))"}"#.utf8))
        #expect(await fixture.ask(.get, "/ksm", query: "format=raw").body == raw.body)
        #expect(try await license("/ksm").0.status == .ok)
        let refused = await fixture.ask(.put, "/ksm")
        #expect(refused.status == .methodNotAllowed && refused.fields["Allow"] == "GET, HEAD, POST, OPTIONS")
    }

    @Test func aDialectDecidesHowRefusalsAreTold() async throws {
        use(.init(try pattern("/rights/{x}"), dialect: .expressplay), .init(try pattern("/plain")))
        let html = await fixture.ask(.post, "/rights/a", body: [1])
        #expect(html.status == .unauthorized && html.fields["Content-Type"]?.hasPrefix("text/html") == true)
        let json = await fixture.ask(.post, "/rights/a", ["Accept": "application/json"], body: [1])
        #expect(try JSONReader.parse(json.body).object?["errorCode"] != nil)
        // On this path, `Accept` only chooses the format of refusals. Licenses are always bytes.
        #expect(
            try await license("/rights/a", ["Accept": "application/json"]).0.fields["Content-Type"]
                == "application/octet-stream")
        let plain = await fixture.ask(.post, "/plain", body: [1])
        #expect(plain.fields["Content-Type"] == "application/problem+json")
    }

    @Test(arguments: [
        ("/fps/license/movie-1", "POST, OPTIONS"), ("/fps/v1/certificate", "GET, HEAD, OPTIONS"),
        ("/fps/certificate", "GET, HEAD, OPTIONS"), ("/nowhere", "GET, HEAD, POST, OPTIONS"),
    ])
    func preflightsNameTheMethods(path: String, methods: String) async {
        let response = await fixture.ask(.options, path, ["Origin": "https://player.example"])
        #expect(response.fields["Access-Control-Allow-Methods"] == methods)
    }

    @Test func aBodyIsKeptOnlyForAnAcceptedToken() async throws {
        func decision(_ method: HTTPMethod, _ path: String, _ fields: HTTPFields) async -> String {
            let request = RoutesFixture.request(method, path, fields)
            let routes = fixture.publicRoutes
            return await fixture.onLoop { loop in
                switch routes.decideBody(of: request, on: loop) {
                case .keep: "keep"
                case .drop: "drop"
                case .refuse(let response): "refuse \(response.status.code)"
                }
            }
        }
        let token: HTTPFields = ["Authorization": "Bearer \(try fixture.token())"]
        for path in ["/fps/license/movie-1", "/fps/v1/license", Self.nagra + "/licenses"] {
            #expect(await decision(.post, path, token) == "keep")
            #expect(await decision(.post, path, [:]) == "refuse 401")
            #expect(await decision(.get, path, token) == "drop")
        }
        #expect(await decision(.post, "/fps/v1/certificate", token) == "drop")
        #expect(await decision(.post, "/fps/license/", token) == "drop")
    }
}

@Suite struct KeyURIWarningTests {
    private func warning(_ template: String, publicURL: String? = nil) -> String? {
        KeyURIWarning(template: template, publicURL: publicURL, addresses: PublicAddresses())?.path
    }

    @Test(arguments: [
        "skd://{kid}", "skd:{kid}", "skd:///{kid}", "skd://{kid}?x=/y", "skd://keys.example.com/fps/license/{kid}",
        "skd://keys.example.com:443/fps/v1/license/{kid}?a=/b", "skd://keys.example.com/fps/license?cid={kid}",
    ])
    func saysNothingOfWhatIsServed(template: String) {
        #expect(warning(template) == nil)
    }

    @Test(arguments: [
        ("skd://keys.example.com/{kid}", "/{kid}"),
        ("skd://keys.example.com/fps/licenses/{kid}", "/fps/licenses/{kid}"),
        ("skd://keys.example.com/fps/certificate?cid={kid}", "/fps/certificate"),
        ("skd://keys.example.com/fps/license/{kid}/", "/fps/license/{kid}/"),
        ("skd://keys.example.com/drm/fps/license/{kid}", "/drm/fps/license/{kid}"),
    ])
    func namesAPathThatIsNotServed(template: String, path: String) {
        #expect(warning(template) == path)
    }

    /// A proxy removes the path of the public URL.
    @Test func knowsThePathOfThePublicURL() {
        let template = "skd://keys.example.com/drm/fps/license/{kid}"
        #expect(warning(template, publicURL: "https://keys.example.com/drm") == nil)
        #expect(warning(template, publicURL: "https://keys.example.com/dr") == "/drm/fps/license/{kid}")
        #expect(warning(template, publicURL: "https://keys.example.com") == "/drm/fps/license/{kid}")
    }

    @Test func theMessageSaysWhatToDo() throws {
        let warning = try #require(KeyURIWarning(template: "skd://a/b/{kid}", addresses: PublicAddresses()))
        #expect(warning.description.contains("/b/{kid}") && warning.description.contains("licensePaths"))
    }
}
