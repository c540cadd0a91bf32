import ByteCoding
import Entitlements
import HTTPMessages
import HTTPServing
import Licensing
import Telemetry
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

/// Problems in ExpressPlay's format.
@Suite struct ExpressPlayErrorTests {
    /// The codes of HTTP problems, for which ExpressPlay has no code.
    private static let codesOfHTTP: Set<ProblemCode> = [
        .notFound, .methodNotAllowed, .badRequest, .requestInvalid, .requestTimeout, .bodyTooLarge, .uriTooLong,
        .headTooLarge, .expectationFailed, .notImplemented, .versionNotSupported, .adminTokenInvalid,
        .adminRoleMissing, .adminOriginRefused, .packagerInvalid, .packagerForbidden, .cpixRejected,
        .mediaTypeUnsupported, .contentEncodingUnsupported, .keyConflict,
    ]

    private func restated(_ code: ProblemCode, json: Bool) -> HTTPResponse {
        Problem(code, retryAfterSeconds: 7)
            .response(requestID: RequestID(1), time: WallTime(seconds: 1_800_000_000, nanoseconds: 0))
            .restated(in: json ? .json : .html)
    }

    @Test(arguments: ProblemCode.allCases)
    func everyProblemHasItsCode(code: ProblemCode) throws {
        #expect((code.expressPlayCode == nil) == Self.codesOfHTTP.contains(code))
        let object = restated(code, json: true)
        let members = try #require(try JSONReader.parse(object.body).object)
        #expect(members["errorCode"]?.number?.signed == code.expressPlayCode.map { Int64($0.rawValue) })
        #expect(members["errorMessage"]?.string == code.title + ".")
        #expect(members["eventId"]?.string == RequestID(1).text)
        let page = restated(code, json: false)
        #expect(page.fields["Content-Type"] == "text/html; charset=utf-8")
        #expect(String(decoding: page.body, as: UTF8.self).contains(code.title))
        for response in [object, page] {
            #expect(response.status == code.status && response.fields.count(of: "Content-Type") == 1)
            #expect(response.fields["X-Error-Code"] == code.rawValue && response.waits(7...10))
        }
    }

    @Test func aSuccessStaysAsItIs() {
        let response = HTTPResponse(status: .ok, fields: ["Content-Type": "application/octet-stream"], body: [1])
        #expect(response.restated(in: .json) == response)
    }
}
