import ByteCoding
import Entitlements
import FairPlay
import HTTPMessages
import HTTPServing
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

@Suite struct ProblemTests {
    /// 2026-01-01T00:00:00.123Z
    private static let time = WallTime(seconds: 1_767_225_600, nanoseconds: 123_456_789)
    private static let id = RequestID(0x0123_4567_89ab_cdef)

    private static func response(_ problem: Problem) -> HTTPResponse {
        problem.response(requestID: id, time: time)
    }

    // MARK: Codes and statuses

    @Test(arguments: try RefusalSample.all())
    func everyRefusalHasItsPlaceInTheTable(sample: RefusalSample) {
        let problem = Problem(for: sample.error)
        #expect(problem.code.status.code == sample.status)
        #expect(problem.code.rawValue == sample.code)
        #expect(problem.retryAfterSeconds == sample.retryAfterSeconds)
    }

    @Test func everyCaseHasASample() throws {
        let numbers = Set(try RefusalSample.all().map(\.error.caseNumber))
        #expect(numbers == Set(0..<LicenseError.caseCount))
    }

    @Test(arguments: [
        (HTTPProblem.malformed(.requestLine), 400, "bad_request"), (.headTimeout, 408, "request_timeout"),
        (.bodyTimeout, 408, "request_timeout"), (.bodyTooLarge, 413, "body_too_large"),
        (.targetTooLong, 414, "uri_too_long"), (.tooManyParameters, 400, "request_invalid"),
        (.contentCodingNotSupported, 415, "content_encoding_unsupported"), (.headTooLarge, 431, "head_too_large"),
        (.expectationFailed, 417, "expectation_failed"), (.overloaded, 429, "overloaded"),
        (.methodNotImplemented, 501, "not_implemented"),
        (.transferCodingNotImplemented, 501, "not_implemented"), (.versionNotSupported, 505, "version_not_supported"),
    ])
    func whatNeverBecameARequestHasItsPlaceToo(problem: HTTPProblem, status: Int, code: String) {
        let answer = Problem(for: problem)
        #expect(Int(answer.code.status.code) == status)
        #expect(answer.code.rawValue == code)
        #expect(problem.status == answer.code.status)
    }

    /// The error codes of this version, each with its status.
    private static let table: [String: Int] = [
        "body_empty": 400, "body_unrecognised": 400, "session_expired": 403, "entitlement_denied": 403,
        "entitlement_unavailable": 503, "spc_is_certificate": 400, "spc_double_base64": 400,
        "spc_version_unsupported": 400, "spc_malformed": 400,
        "spc_certificate_unknown": 422, "spc_rejected": 422, "token_missing": 401, "token_ambiguous": 400,
        "token_malformed": 401, "token_alg": 401, "kid_unknown": 401, "token_signature": 401, "token_expired": 401,
        "token_not_yet": 401, "token_life": 401, "token_audience": 401, "token_issuer": 401, "token_schema": 400,
        "content_mismatch": 403, "offline_not_allowed": 403, "right_not_started": 403, "right_ended": 403,
        "spc_replayed": 409, "rate_limited": 429, "overloaded": 429, "key_not_found": 404, "terms_not_expressible": 403,
        "security_level": 403, "sdk_terms": 403, "sdk_device": 403, "token_used": 403, "device_mismatch": 403,
        "device_limit": 403, "concurrency_limit": 403,
        "session_killed": 403, "kid_revoked": 401, "token_revoked": 403, "subject_disabled": 403, "device_revoked": 403,
        "ip_denied": 403, "geo_denied": 403, "storage_unavailable": 503, "key_store_timeout": 503,
        "clock_untrusted": 503,
        "module_unavailable": 503, "not_found": 404,
        "method_not_allowed": 405, "bad_request": 400, "request_invalid": 400, "request_timeout": 408,
        "body_too_large": 413, "uri_too_long": 414, "head_too_large": 431, "expectation_failed": 417,
        "packager_invalid": 401, "packager_forbidden": 403, "cpix_rejected": 422, "media_type_unsupported": 415,
        "content_encoding_unsupported": 415,
        "key_conflict": 409,
        "admin_token_invalid": 401, "admin_role_missing": 403, "admin_origin_refused": 403, "not_implemented": 501,
        "version_not_supported": 505, "internal": 500,
    ]

    @Test func theCodesAreThoseOfTheTable() {
        let codes = ProblemCode.allCases.map { ($0.rawValue, Int($0.status.code)) }
        #expect(Dictionary(codes) { first, _ in first } == Self.table)
    }

    // MARK: Contents

    @Test func namesTheHeaderOfAContentCoding() throws {
        let response = Problem(for: .contentCodingNotSupported)
            .response(requestID: RequestID(1), time: WallTime(seconds: 0))
        let body = try #require(try JSONReader.parse(response.body).object)
        #expect(response.status == .unsupportedMediaType && body["header"]?.string == "Content-Encoding")
        #expect(body["hint"]?.string?.contains("Content-Encoding") == true)
    }

    /// A request that is good HTTP must not send its reader to look for a broken proxy.
    @Test func onlyBrokenHTTPIsCalledThat() {
        for code in ProblemCode.allCases where code != .badRequest {
            #expect(!code.title.contains("HTTP") || code == .versionNotSupported, "\(code)")
            #expect(!code.hint.contains("what stands between"), "\(code)")
        }
        #expect(Problem(for: .tooManyParameters).detail == "The query has more than 64 parameters")
    }

    @Test(arguments: ProblemCode.allCases)
    func saysTheSameInFieldsAndBody(code: ProblemCode) throws {
        let response = Self.response(Problem(code))
        let body = try #require(try JSONReader.parse(response.body).object)
        #expect(response.status == code.status)
        #expect(response.fields["Content-Type"] == "application/problem+json")
        #expect(response.fields["Cache-Control"] == "no-store")
        #expect(response.fields["X-Error-Code"] == code.rawValue)
        #expect(response.fields["X-Request-Id"] == "0123456789abcdef")
        #expect(body["code"]?.string == code.rawValue)
        #expect(body["status"]?.number?.text == String(code.status.code))
        #expect(body["request_id"]?.string == "0123456789abcdef")
        #expect(body["server_time"]?.string == "2026-01-01T00:00:00.123Z")
        for name in ["title", "detail", "hint"] { #expect(body[name]?.string?.isEmpty == false) }
        #expect(body["retry_after"] == nil)
        #expect(response.fields["Retry-After"] == nil)
        #expect(response.fields["Allow"] == nil)
    }

    @Test(arguments: ProblemCode.allCases)
    func asksForATokenExactlyWhereTheStatusIs401(code: ProblemCode) {
        let response = Self.response(Problem(code))
        #expect(response.fields["WWW-Authenticate"] == (code.status.code == 401 ? "Bearer" : nil))
    }

    @Test(arguments: ProblemCode.allCases)
    func namesATypeForEveryCode(code: ProblemCode) throws {
        let tokenProvesTooLittle = code.rawValue.hasPrefix("token_") || code.rawValue.hasPrefix("kid_")
        let isAuthentication = tokenProvesTooLittle && code.status.code == 401
        let type = try JSONReader.parse(Self.response(Problem(code)).body).object?["type"]?.string
        let expected =
            switch code {
            case .entitlementDenied: "https://dashif.org/drm-problems/not-authorized"
            case _ where isAuthentication: "https://dashif.org/drm-problems/insufficient-proof-of-authorization"
            default: "urn:latchkey:error:" + code.rawValue
            }
        #expect(type == expected)
    }

    @Test func saysWhenToTryAgain() throws {
        let response = Self.response(Problem(for: .entitlement(.rightNotStarted(retryAfterSeconds: 90))))
        let wait = try #require(response.fields["Retry-After"].flatMap { Int($0) })
        #expect((90...120).contains(wait))
        #expect(try JSONReader.parse(response.body).object?["retry_after"]?.number?.text == String(wait))
    }

    /// Clients that were refused at the same time come back at different times. The minimum wait is never shortened.
    /// A right that starts in a day must not keep its viewer waiting for hours.
    @Test(arguments: [(1, 1), (2, 3), (10, 15), (60, 90), (90, 120), (86_400, 86_430)])
    func spreadsTheWaits(least: Int64, most: Int) throws {
        let waits = try (0..<400).map { number in
            let problem = Problem(.overloaded, retryAfterSeconds: least)
            let response = problem.response(requestID: RequestID(UInt64(number)), time: Self.time)
            return try #require(response.fields["Retry-After"].flatMap { Int($0) })
        }
        #expect(waits.min() == Int(least) && waits.max() == most)
        let average = Double(waits.reduce(0, +)) / 400
        #expect(abs(average - Double(Int(least) + most) / 2) <= Double(most - Int(least)) / 8 + 0.01)
    }

    // MARK: Hints for the client

    @Test(
        arguments: [
            (.entitlement(.tokenExpired(agoSeconds: 61)), "expired_ago", "61"),
            (.entitlement(.tokenNotYetValid(inSeconds: 62)), "valid_in", "62"),
            (.denied(.slotsFull(current: 3, limit: 2)), "current", "3"),
            (.denied(.slotsFull(current: 3, limit: 2)), "max", "2"),
            (.entitlement(.claimInvalid("sub")), "claim", "sub"),
            (.entitlement(.claimUnsupported("limits.rate")), "claim", "limits.rate"),
            (.terms(.durationNeedsPlaybackState, of: .lease), "term", "lease"),
            (.terms(.durationNeedsPlaybackState, of: .leaseAndDuration), "term", "lease and duration"),
            (.terms(.dualExpiryUnsupported, of: .storageAndPlayback), "term", "storage and playback"),
        ] as [(LicenseError, String, String)])
    func saysWhatLeadsToTheFix(error: LicenseError, name: String, value: String) throws {
        let body = try #require(try JSONReader.parse(Self.response(Problem(for: error)).body).object)
        let member = try #require(body[name])
        #expect(member.string ?? member.number?.text == value)
        #expect(body["detail"]?.string?.contains(value) == true)
    }

    /// The code is the same as if no key were stored, and the sentence must not say that.
    @Test func saysThatSeveralKeysFit() throws {
        let body = try #require(try JSONReader.parse(Self.response(Problem(for: .keyAmbiguous)).body).object)
        #expect(body["code"]?.string == "key_not_found")
        #expect(body["detail"]?.string?.hasPrefix("Several keys are stored for this content") == true)
        #expect(body["hint"]?.string?.hasPrefix("Ask by key id") == true)
        let none = try #require(try JSONReader.parse(Self.response(Problem(for: .keyNotFound)).body).object)
        #expect(none["detail"]?.string == "No key is stored for this content.")
    }

    @Test func tellsAnOfflineRightThatTheRequestMustSaySo() throws {
        let body = Self.response(Problem(for: .entitlement(.streamingNotGranted))).body
        #expect(try JSONReader.parse(body).object?["hint"]?.string?.contains("?offline=1") == true)
    }

    /// `detail` names the received method if it is known, or "another method". It never has the client's text.
    @Test(arguments: HTTPMethod.allCases as [HTTPMethod?] + [nil], ["POST, OPTIONS", "GET, HEAD, OPTIONS"])
    func namesTheMethodThatWasReceived(method: HTTPMethod?, allowed: String) throws {
        let problem = Problem(.methodNotAllowed, method: method, allowedMethods: allowed)
        let body = try #require(try JSONReader.parse(Self.response(problem).body).object)
        let detail = try #require(body["detail"]?.string)
        #expect(detail.hasSuffix(method.map { "the method \($0.rawValue)." } ?? "another method."))
        #expect(detail.contains(allowed == "POST, OPTIONS" ? "only POST" : allowed))
        #expect(try #require(body["hint"]?.string).contains(allowed == "POST, OPTIONS" ? "by POST" : "Allow"))
    }

    @Test func namesNoMethodThatIsNotKnown() throws {
        let body = Self.response(Problem(for: .methodNotImplemented)).body
        let detail = try #require(try JSONReader.parse(body).object?["detail"]?.string)
        #expect(detail == "The request has another method than GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS.")
    }

    @Test func namesTheMethodsThatAreServed() {
        #expect(Self.response(Problem(.methodNotAllowed, allowedMethods: "POST")).fields["Allow"] == "POST")
    }

    @Test(arguments: [(0, 0, "1970-01-01T00:00:00.000Z"), (1_767_225_600, 999_999_999, "2026-01-01T00:00:00.999Z")])
    func writesTheTimeInAFixedWidth(seconds: Int64, nanoseconds: UInt32, expected: String) throws {
        let time = WallTime(seconds: seconds, nanoseconds: nanoseconds)
        let body = Problem(.spcRejected).response(requestID: Self.id, time: time).body
        #expect(try JSONReader.parse(body).object?["server_time"]?.string == expected)
    }

    @Test func aClockOutOfRangeStillAnswers() throws {
        let body = Problem(.internalError).response(requestID: Self.id, time: WallTime(seconds: .max)).body
        #expect(try JSONReader.parse(body).object?["server_time"]?.string == "0000-01-01T00:00:00.000Z")
    }

    // MARK: What an answer must not reveal

    /// Every failure after the certificate hash gets the same answer, except for the request id and the time.
    @Test(arguments: RefusalSample.allRejections)
    func oneAnswerStandsForEveryRejection(rejection: SPCRejection) {
        let first = Problem(for: .spc(.rejected(.integrity))).response(
            requestID: RequestID(1), time: WallTime(seconds: 1_767_225_600))
        let second = Problem(for: .spc(.rejected(rejection))).response(
            requestID: RequestID(.max), time: WallTime(seconds: 1_767_312_000, nanoseconds: 1_000_000))
        #expect(first.body.count == second.body.count)
        #expect(first.status == second.status)
        let text = String(decoding: first.body, as: UTF8.self)
            .replacing("0000000000000001", with: "ffffffffffffffff")
            .replacing("2026-01-01T00:00:00.000Z", with: "2026-01-02T00:00:00.001Z")
        #expect(text == String(decoding: second.body, as: UTF8.self))
        var fields = first.fields
        fields.set("X-Request-Id", "ffffffffffffffff")
        #expect(fields == second.fields)
    }

    @Test(arguments: try RefusalSample.all())
    func keepsTheCauseToTheLog(sample: RefusalSample) throws {
        let body = String(decoding: Self.response(Problem(for: sample.error)).body, as: UTF8.self)
        #expect(!sample.error.cause.text.isEmpty)
        #expect(!body.contains(sample.error.cause.text))
        // Details that are in the error: header members, tags, sizes.
        for word in ["jwk", "1bf7f53f5d5d5a1f", "integrity", "framing", "movie-1", "65536"] {
            #expect(!body.contains(word))
        }
    }
}
