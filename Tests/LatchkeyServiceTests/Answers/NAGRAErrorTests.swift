import ByteCoding
import HTTPMessages
import HTTPServing
import Licensing
import Telemetry
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

/// Problems in the format for clients with tokens in NAGRA's header.
@Suite struct NAGRAErrorTests {
    /// The codes that a request with such a header cannot get, or that only admin listeners give.
    private static let codesOfHTTP: Set<ProblemCode> = [
        .uriTooLong, .headTooLarge, .versionNotSupported, .adminTokenInvalid, .adminRoleMissing, .adminOriginRefused,
        .packagerInvalid, .packagerForbidden, .cpixRejected, .mediaTypeUnsupported, .keyConflict,
    ]

    private let fixture: RoutesFixture

    init() throws {
        fixture = try RoutesFixture()
    }

    @Test(arguments: ProblemCode.allCases)
    func everyProblemHasItsNumber(code: ProblemCode) {
        #expect((code.nagraCode == nil) == Self.codesOfHTTP.contains(code))
    }

    /// The column NV of the table of errors, for some codes of each kind.
    @Test(arguments: [
        (ProblemCode.spcMalformed, 2001), (.spcReplayed, 4006), (.tokenMissing, 4001), (.tokenMalformed, 3006),
        (.tokenAmbiguous, 4003), (.tokenAlgorithm, 3004), (.keyIDUnknown, 4015), (.keyIDRevoked, 4014),
        (.tokenSignature, 3003), (.tokenExpired, 4005), (.tokenLife, 4005), (.tokenIssuer, 4009), (.tokenSchema, 3007),
        (.tokenUsed, 4006), (.contentMismatch, 4000), (.deviceMismatch, 4007), (.deviceLimit, 4019),
        (.deviceRevoked, 4017), (.securityLevel, 4008), (.concurrencyLimit, 1007), (.keyNotFound, 4011),
        (.entitlementDenied, 4021), (.subjectDisabled, 4020), (.overloaded, 4000), (.internalError, 4000),
        (.methodNotAllowed, 1001), (.notFound, 1001),
    ])
    func theNumbersAreThoseOfTheTable(code: ProblemCode, number: Int) {
        #expect(code.nagraCode == number)
    }

    private func ask(_ path: String, _ fields: HTTPFields, _ body: [UInt8] = [1]) async -> HTTPResponse {
        await fixture.answer(fixture.publicRoutes, RoutesFixture.request(.post, path, fields, body: body))
    }

    @Test func theNumberComesBeforeTheMembersOfTheProblem() async throws {
        let plain = await ask("/fps/license", [:])
        #expect(plain.fields["Content-Type"] == "application/problem+json")
        let told = await ask("/fps/license", ["nv-authorizations": ""])
        #expect(told.status == plain.status && told.fields["Content-Type"] == "application/json")
        #expect(told.fields.count(of: "Content-Type") == 1)
        for name in ["X-Error-Code", "WWW-Authenticate", "Cache-Control"] {
            #expect(told.fields[name] == plain.fields[name])
        }
        let members = try #require(try JSONReader.parse(told.body).object)
        let problem = try #require(try JSONReader.parse(plain.body).object)
        #expect(members["errorCode"]?.number?.signed == 4001 && problem["errorCode"] == nil)
        for name in ["type", "title", "detail", "code", "hint"] {
            #expect(members[name]?.string == problem[name]?.string)
        }
        #expect(members["status"]?.number?.signed == 401)
    }

    @Test(arguments: ["/fps/license", "/fps/licenses/query", "/fps/challenge", "/fps/nowhere"])
    func everyAddressOfLicensesTellsIt(path: String) async throws {
        let response = await ask(path, ["NV-Authorizations": "a.b.c"])
        #expect(response.status.code >= 400)
        #expect(try JSONReader.parse(response.body).object?["errorCode"] != nil)
        let other = await ask("/nowhere", ["nv-authorizations": "a.b.c"])
        #expect(other.fields["Content-Type"] == "application/problem+json")
    }
}
