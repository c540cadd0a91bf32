import ByteCoding
import ContentKeys
import DeviceSimulation
import Entitlements
import FairPlay
import HTTPMessages
import HTTPServing
import KeyCrypto
import Licensing
import PlayerMessages
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

/// The license route reads every request shape (clients, sections 1 and 2).
@Suite struct RequestShapesTests {
    /// A body around the Base64 text of an SPC, the type that its player declares, and the name of its shape.
    struct Shape: Sendable, CustomTestStringConvertible {
        let name: String
        let type: String?
        let testDescription: String
        let body: @Sendable ([UInt8]) -> [UInt8]

        init(
            _ name: String, _ description: String, type: String? = nil, _ text: @escaping @Sendable (String) -> String
        ) {
            self.name = name
            self.type = type
            testDescription = description
            body = { Array(text(Base64.encode($0)).utf8) }
        }
    }

    private static func urlSafe(_ text: String) -> String {
        text.replacing("+", with: "-").replacing("/", with: "_")
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("+", with: "%2B").replacing("/", with: "%2F").replacing("=", with: "%3D")
    }

    static let shapes: [Shape] =
        [
            Shape("form", "form, unescaped", type: "application/x-www-form-urlencoded") { "spc=\($0)&assetId=movie-1" },
            Shape("form", "form, URL-safe") { "spc=\(urlSafe($0))" },
            Shape("form", "form, escaped", type: "text/plain;charset=UTF-8") { "spc=\(escaped($0))&assetId=movie-1" },
            Shape("form", "form, whole body escaped") { escaped("spc=\($0)") },
            Shape("form", "form, second part without a name") { "spc=\(escaped($0))&movie-1" },
            Shape("multipart", "multipart", type: "application/x-www-form-urlencoded") {
                "--x\r\nContent-Disposition: form-data; name=\"spc\"\r\n\r\n\($0)\r\n--x--\r\n"
            },
            Shape("base64", "Base64 text", type: "application/octet-stream") { $0 },
            Shape("base64", "Base64 text with a mark and a line end") { "\u{FEFF}\($0)\r\n" },
            Shape("get_fairplay_license", "getFairplayLicense", type: "application/json") {
                #"{"getFairplayLicense":{"spcMessage":"\#($0)"}}"#
            },
            Shape("key_array", "array of keys") { #"[{"keyID":"AQ==","payload":"\#($0)"}]"# },
            Shape("streaming_keys", "streaming keys", type: "application/x-www-form-urlencoded") {
                #"{"fairplay-streaming-request":{"version":1,"streaming-keys":[{"id":1,"uri":"skd://movie-1","spc":"\#($0)"}]}}"#
            },
        ]
        + RequestShape.ObjectMember.allCases.map { member in
            Shape("json", "JSON \(member.rawValue)", type: "application/octet-stream") {
                #"{"\#(member.rawValue)":"\#($0)"}"#
            }
        }

    private func ask(
        _ fixture: RoutesFixture, _ body: [UInt8], type: String? = nil, token: String?, query: String? = "format=raw",
        _ more: HTTPFields = [:]
    ) async -> HTTPResponse {
        var fields: HTTPFields = token.map { ["Authorization": "Bearer \($0)"] } ?? [:]
        if let type { fields.append("Content-Type", type) }
        fields.append(contentsOf: more)
        return await fixture.ask(.post, "/fps/license", query: query, fields, body: body)
    }

    private func member(_ response: HTTPResponse, _ name: String) throws -> String? {
        try JSONReader.parse(response.body).object?[name]?.string
    }

    /// The CKC in an answer of this shape.
    private func ckc(in response: HTTPResponse, of shape: Shape) throws -> [UInt8] {
        let node = { try JSONReader.parse(response.body) }
        switch shape.name {
        case "key_array":
            return try Base64.decode(try #require(try node().array?.first?.object?["payload"]?.string))
        case "streaming_keys":
            let keys = try node().object?["fairplay-streaming-response"]?.object?["streaming-keys"]?.array
            return try Base64.decode(try #require(keys?.first?.object?["ckc"]?.string))
        default: return response.body  // `format=raw`
        }
    }

    @Test(arguments: shapes)
    func licenses(shape: Shape) async throws {
        let fixture = try RoutesFixture()
        for version in [SPCVersion.v1, .v2] {
            let request = try fixture.deviceRequest(version)
            let response = await ask(
                fixture, shape.body(request.message), type: shape.type, token: try fixture.token())
            #expect(response.status == .ok)
            let license = try CKCOpener(secrets: request.secrets, using: CryptoContext())
                .open(try ckc(in: response, of: shape))
            #expect(license.contentKey.bytes.revealed() == RoutesFixture.key)
        }
        let sample = "latchkey_license_requests_total{shape=\"\(shape.name)\",outcome=\"issued\"}"
        #expect(try await fixture.metrics()[sample] == 2)
        let issued = fixture.log.lines.filter { $0.contains("license_issued") }
        #expect(issued.count == 2)
        #expect(issued.allSatisfy { $0.contains("\"shape\":\"\(shape.name)\"") })
    }

    /// In shapes with one SPC, a refusal has its own status. In the others, it is one of the results.
    @Test(arguments: shapes)
    func refuses(shape: Shape) async throws {
        let fixture = try RoutesFixture()
        let message = try fixture.deviceRequest(.v1, assetID: "movie-2").message
        let response = await ask(fixture, shape.body(message), type: shape.type, token: try fixture.token())
        switch shape.name {
        case "key_array":
            #expect(response.status == .ok)
            let entry = try JSONReader.parse(response.body).array?.first?.object
            #expect(entry?["keyID"]?.string == "AQ==")
            #expect(String(decoding: response.body, as: UTF8.self).contains(#""error":-42604"#))
        case "streaming_keys":
            #expect(response.status == .ok)
            #expect(String(decoding: response.body, as: UTF8.self).contains(#""id":1,"status":-42604"#))
        default:
            #expect(response.status == .forbidden)
            #expect(try member(response, "code") == "content_mismatch")
        }
        let sample = "latchkey_license_requests_total{shape=\"\(shape.name)\",outcome=\"refused\"}"
        #expect(try await fixture.metrics()[sample] == 1)
        #expect(try await fixture.metrics()["latchkey_licenses_refused_total{code=\"content_mismatch\"}"] == 1)
        let line = try #require(fixture.log.lines.first { $0.contains("license_refused") })
        #expect(line.contains("\"shape\":\"\(shape.name)\""))
    }

    // MARK: Several keys

    private func array(_ messages: [[UInt8]]) -> [UInt8] {
        let entries = messages.enumerated().map { #"{"keyID":"\#($0)","payload":"\#(Base64.encode($1))"}"# }
        return Array("[\(entries.joined(separator: ","))]".utf8)
    }

    @Test func aRefusedKeyRefusesNoOther() async throws {
        let fixture = try RoutesFixture()
        let good = try fixture.deviceRequest(.v1)
        let other = try fixture.deviceRequest(.v2, assetID: "movie-2")
        let broken = Array(good.message.dropLast(16))
        let response = await ask(fixture, array([other.message, good.message, broken]), token: try fixture.token())
        #expect(response.status == .ok)
        let entries = try #require(try JSONReader.parse(response.body).array).compactMap(\.object)
        #expect(entries.map { $0["keyID"]?.string } == ["0", "1", "2"])
        #expect(entries.map { $0["payload"] == nil } == [true, false, true])
        let payload = try Base64.decode(try #require(entries[1]["payload"]?.string))
        #expect(
            try CKCOpener(secrets: good.secrets, using: CryptoContext()).open(payload).contentKey.bytes.revealed()
                == RoutesFixture.key)
        #expect(fixture.operations.value == 2)
        #expect(fixture.operations.batchCount == 1)
        let metrics = try await fixture.metrics()
        #expect(metrics["latchkey_license_requests_total{shape=\"key_array\",outcome=\"issued\"}"] == 1)
        #expect(metrics["latchkey_license_requests_total{shape=\"key_array\",outcome=\"refused\"}"] == 2)
        #expect(metrics["latchkey_licenses_refused_total{code=\"spc_malformed\"}"] == 1)
    }

    /// A key's `offline` chooses its use, unless the query does.
    @Test func aStreamingKeyMayBeKept() async throws {
        let fixture = try RoutesFixture()
        let request = try fixture.deviceRequest(.v1)
        let spc = Base64.encode(request.message)
        let body = Array(
            #"{"fairplay-streaming-request":{"streaming-keys":[{"id":"a","spc":"\#(spc)","offline":true}]}}"#.utf8)
        let streaming = try fixture.token()
        let refused = await ask(fixture, body, token: streaming, query: nil)
        #expect(String(decoding: refused.body, as: UTF8.self).contains("\"status\":-42604"))
        #expect(fixture.log.lines.contains { $0.contains("offline_not_allowed") })
        let played = await ask(fixture, body, token: streaming, query: "offline=0")
        #expect(String(decoding: played.body, as: UTF8.self).contains("\"status\":0"))
    }

    /// A request with too many SPCs is refused as a whole.
    @Test func countsKeys() async throws {
        let fixture = try RoutesFixture()
        let message = try fixture.deviceRequest(.v1).message
        let response = await ask(
            fixture, array([[UInt8]](repeating: message, count: PlayerRequest.keyCountMaximum + 1)),
            token: try fixture.token())
        #expect(response.status == .badRequest)
        #expect(try member(response, "code") == "body_unrecognised")
        #expect(fixture.operations.value == 0)
    }

    // MARK: Copies

    /// A burst of nine copies in any shape costs one RSA operation, because the same SPC is the same request.
    @Test(arguments: [shapes[0], shapes[6], shapes[11]])
    func aBurstCostsOneOperation(shape: Shape) async throws {
        let fixture = try RoutesFixture(recorder: try MemoryDecisionStore().recorder())
        let message = try fixture.deviceRequest(.v2).message
        let token = try fixture.token()
        let ids = await withTaskGroup(of: String?.self) { group in
            for index in 0..<9 {
                group.addTask {
                    let body = index.isMultiple(of: 2) ? shape.body(message) : message
                    return await ask(fixture, body, token: token).fields["X-License-Id"]
                }
            }
            return await group.reduce(into: Set<String?>()) { $0.insert($1) }
        }
        #expect(ids.count == 1 && !ids.contains(nil))
        #expect(fixture.operations.value == 1)
        let metrics = try await fixture.metrics()
        #expect(metrics["latchkey_spc_copies_total"] == 8)
        #expect(metrics["latchkey_licenses_repeated_total"] == 8)
    }

    // MARK: Tokens within bodies

    private static func bodies(_ message: [UInt8], token: String) -> [[UInt8]] {
        let spc = Base64.encode(message)
        return [
            Array("spc=\(urlSafe(spc))&token=\(token)".utf8),
            Array(#"{"spc":"\#(spc)","token":"\#(token)"}"#.utf8),
            Array(
                ("--x\r\nContent-Disposition: form-data; name=\"token\"\r\n\r\n\(token)\r\n"
                    + "--x\r\nContent-Disposition: form-data; name=\"spc\"\r\n\r\n\(spc)\r\n--x--\r\n").utf8),
        ]
    }

    @Test func tokensInBodiesCountWithTheSettingAlone() async throws {
        for isRead in [false, true] {
            let fixture = try RoutesFixture(finder: TokenFinder(readsBody: isRead))
            let token = try fixture.token()
            for body in Self.bodies(try fixture.deviceRequest(.v1).message, token: token) {
                let response = await ask(fixture, body, token: nil)
                #expect(response.status == (isRead ? .ok : .unauthorized))
                #expect(response.fields["X-Error-Code"] == (isRead ? nil : "token_missing"))
            }
            let routes = fixture.publicRoutes
            for path in ["/fps/license", "/fps/challenge"] {
                let request = RoutesFixture.request(.post, path)
                let decision = await fixture.onLoop { routes.decideBody(of: request, on: $0) }
                if case .keep = decision {
                    #expect(isRead && path == "/fps/license")
                } else {
                    #expect(!isRead || path != "/fps/license")
                }
            }
        }
    }

    @Test func twoTokensAreNamed() async throws {
        let fixture = try RoutesFixture(finder: TokenFinder(readsBody: true))
        let message = try fixture.deviceRequest(.v1).message
        for body in Self.bodies(message, token: "another.one.here") {
            let response = await ask(fixture, body, token: try fixture.token())
            #expect(response.status == .badRequest)
            #expect(try member(response, "code") == "token_ambiguous")
            let detail = try #require(try member(response, "detail"))
            #expect(detail.contains("Authorization") && detail.contains("the body"))
        }
        let response = await ask(
            fixture, message, token: try fixture.token(), query: "token=x", ["X-AxDRM-Message": "y"])
        let detail = try #require(try member(response, "detail"))
        #expect(["Authorization", "X-AxDRM-Message", "?token="].allSatisfy(detail.contains))
    }

    // MARK: Diagnosis

    /// Each mistake has a code, a sentence that says what was received, and a sentence that says what to do.
    @Test(arguments: [
        ("certificate", "spc_is_certificate", "certificate"), ("PEM", "spc_is_certificate", "certificate"),
        ("form with a certificate", "spc_is_certificate", "certificate"),
        ("twice", "spc_double_base64", "Base64 twice"), ("form, twice", "spc_double_base64", "Base64 twice"),
        ("UTF-16", "body_unrecognised", "UTF-16"), ("nothing", "body_empty", "empty"),
        ("blanks", "body_empty", "empty"), ("playlist", "body_unrecognised", "playlist"),
        ("page", "body_unrecognised", "HTML"), ("license", "body_unrecognised", "license"),
        ("token", "body_unrecognised", "token"), ("JSON", "body_unrecognised", "well formed"),
        ("form without an SPC", "body_unrecognised", "spc"), ("text", "body_unrecognised", "neither"),
    ])
    func diagnoses(what: String, code: String, word: String) async throws {
        let fixture = try RoutesFixture()
        let message = try fixture.deviceRequest(.v1).message
        let twice = Base64.encode(Array(Base64.encode(message).utf8))
        let certificate = [0x30, 0x82, 0x04, 0xD3] + [UInt8](repeating: 1, count: 60)
        let bodies: [String: [UInt8]] = [
            "certificate": certificate, "PEM": Array("-----BEGIN CERTIFICATE-----\n".utf8),
            "form with a certificate": Array("spc=\(Base64.encode(certificate))".utf8),
            "twice": Array(twice.utf8), "form, twice": Array("spc=\(twice)".utf8),
            "UTF-16": Base64.encode(message).utf8.flatMap { [$0, 0] }, "nothing": [], "blanks": [0x20, 0x0D, 0x0A],
            "playlist": Array("#EXTM3U\n#EXT-X-VERSION:5\n".utf8), "page": Array("<!doctype html><html>".utf8),
            "license": Array("<ckc>AAAA</ckc>".utf8), "token": Array(try fixture.token().utf8),
            "JSON": Array("{\"spc\":".utf8), "form without an SPC": Array("assetId=movie-1".utf8),
            "text": Array("hello".utf8),
        ]
        let response = await ask(fixture, try #require(bodies[what]), token: try fixture.token(), query: nil)
        #expect(response.status == .badRequest)
        #expect(try member(response, "code") == code)
        #expect(try #require(try member(response, "detail")).contains(word))
        #expect(try #require(try member(response, "hint")).count > 10)
        #expect(fixture.operations.value == 0)
        let line = try #require(fixture.log.lines.first { $0.contains("license_refused") })
        #expect(line.contains("\"shape\":\"unread\""))
    }

    /// The answer may name certificate hashes, because certificates are public.
    @Test func namesTheCertificatesThatItHas() async throws {
        let fixture = try RoutesFixture()
        var message = try fixture.deviceRequest(.v2).message
        message[280] ^= 1
        let response = await ask(fixture, message, token: try fixture.token())
        #expect(response.status == .unprocessableContent)
        #expect(try member(response, "code") == "spc_certificate_unknown")
        let sent = Hexadecimal.encode(Array(message[280..<300]))
        message[280] ^= 1
        let held = Hexadecimal.encode(Array(message[280..<300]))
        #expect(try member(response, "certificate_hash") == sent)
        #expect(try #require(try member(response, "held_hashes")).split(separator: " ").contains(held[...]))
        #expect(try #require(try member(response, "hint")).contains(held))
    }

    @Test(arguments: [
        ("X-Token", ""), ("X-Token", "Bearer "), ("Authorization", ""), ("Authorization", "JWT "),
        ("Authorization", "Bearer="),
    ])
    func namesTheHeaderWithAToken(name: String, scheme: String) async throws {
        let fixture = try RoutesFixture()
        let message = try fixture.deviceRequest(.v1).message
        let response = await ask(fixture, message, token: nil, [name: scheme + (try fixture.token())])
        #expect(response.status == .unauthorized)
        #expect(try member(response, "code") == "token_missing")
        #expect(try member(response, "header") == name)
        #expect(try #require(try member(response, "detail")).contains(name))
        #expect(try #require(try member(response, "hint")).contains("Authorization"))
    }

    /// The token itself is nowhere in the answer and in the log.
    @Test(arguments: [
        ("userToken", "token_missing", "UserToken"), ("Token", "token_missing", "parameter token"),
        ("access_token", "token_missing", "Authorization"), ("axdrmmessage", "token_missing", "AxDrmMessage"),
    ])
    func namesTheParameterWithAToken(name: String, code: String, hint: String) async throws {
        let fixture = try RoutesFixture()
        let token = try fixture.token()
        let response = await ask(
            fixture, try fixture.deviceRequest(.v1).message, token: nil, query: "\(name)=\(token)")
        #expect(response.status == .unauthorized)
        #expect(try member(response, "code") == code && member(response, "parameter") == name)
        #expect(
            try #require(try member(response, "detail")).contains("The parameter \(name) has something like a token"))
        #expect(try #require(try member(response, "hint")).contains(hint))
        let line = try #require(fixture.log.lines.first { $0.contains("license_refused") })
        #expect(line.contains("something like a token in the parameter \(name)"))
        for text in [String(decoding: response.body, as: UTF8.self), line] { #expect(!text.contains("eyJ")) }
    }

    @Test(arguments: ["Authorization", "X-AxDRM-Message"])
    func namesATokenInQuotes(header: String) async throws {
        let fixture = try RoutesFixture()
        let scheme = header == "Authorization" ? "Bearer " : ""
        let response = await ask(
            fixture, try fixture.deviceRequest(.v1).message, token: nil,
            [header: "\(scheme)\"\(try fixture.token())\""])
        #expect(response.status == .unauthorized)
        #expect(try member(response, "code") == "token_malformed" && member(response, "header") == header)
        #expect(try #require(try member(response, "detail")).hasSuffix("in quotes."))
        #expect(!String(decoding: response.body, as: UTF8.self).contains("eyJ"))
    }

    /// A rejected SPC has the same body in every shape, except for the request's id and time.
    @Test func rejectionsAreUniform() async throws {
        let fixture = try RoutesFixture()
        let good = try fixture.deviceRequest(.v1).message
        var wrongKey = good
        wrongKey[30] ^= 1
        let device = try fixture.credential.makeDevice(.v1, using: CryptoContext())
        let wrongPayload = try device.makeRequest(
            DeviceOptions(version: .v1, assetID: Array("movie-1".utf8)), with: .payload(.wrongIntegrity)
        ).message
        var sizes: Set<Int> = []
        for message in [wrongKey, wrongPayload] {
            for body in [message] + [Self.shapes[0], Self.shapes[6], Self.shapes[8]].map({ $0.body(message) }) {
                let response = await ask(fixture, body, token: try fixture.token())
                #expect(try member(response, "code") == "spc_rejected")
                sizes.insert(response.body.count)
            }
        }
        #expect(sizes.count == 1)
    }
}
