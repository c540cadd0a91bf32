import ByteCoding
import DeviceSimulation
import Entitlements
import FairPlay
import HTTPMessages
import HTTPServing
import KeyCrypto
import PackagerAPI
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

/// A packager's credential opens no license.
@Suite struct PackagerSeparationTests {
    /// The secret has dots, so that it looks as much like a token as the configuration allows.
    private static let secret = "eyJhbGciOiJFUzI1NiJ9.the-secret-of.a-packager"

    private let fixture: RoutesFixture

    init() throws {
        fixture = try RoutesFixture(finder: TokenFinder(headerNames: ["x-token"], readsBody: true))
        let key = try HMACSHA256Key(SecretBytes.random(count: 32))
        let entry = PackagerDirectory.Entry(
            Packager(name: "packager-1"), secrets: [try AuthenticatorDigest(of: Array(Self.secret.utf8), key: key)])
        let old = fixture.rules.current
        fixture.rules.replace(
            with: LiveRules(
                license: old.license, certificates: old.certificates,
                administrators: old.administration.credentials, names: old.administration.names,
                packagers: PackagerRules(directory: PackagerDirectory([entry], key: key))))
    }

    /// A place in a request that may contain a credential.
    enum Place: String, CaseIterable, Sendable {
        case bearer, basic, apiKey, nagra, axinom, drmToday, drmCloud, expressPlay, configured
        case queryToken, queryExpressPlay, queryAxinom, body

        func fields(_ text: String) -> HTTPFields {
            switch self {
            case .bearer: ["Authorization": "Bearer \(text)"]
            case .basic: ["Authorization": "Basic " + Base64.encode(Array("packager-1:\(text)".utf8))]
            case .apiKey: ["x-api-key": text]
            case .nagra: ["nv-authorizations": text]
            case .axinom: ["X-AxDRM-Message": text]
            case .drmToday: ["x-dt-auth-token": text]
            case .drmCloud: ["X-Drm-UserToken": text]
            case .expressPlay: ["ExpressPlayToken": text]
            case .configured: ["x-token": text]
            case .queryToken, .queryExpressPlay, .queryAxinom, .body: [:]
            }
        }

        func query(_ text: String) -> String? {
            switch self {
            case .queryToken: "token=\(text)"
            case .queryExpressPlay: "ExpressPlayToken=\(text)"
            case .queryAxinom: "AxDrmMessage=\(text)"
            default: nil  // The other places are not in the query.
            }
        }
    }

    private func license(presenting text: String, at place: Place) async throws -> HTTPResponse {
        let message = try fixture.deviceRequest(.v2).message
        let body =
            place != .body
            ? message
            : JSONWriter.object { writer in
                writer.member("spc", Base64.encode(message))
                writer.member("token", text)
            }
        var fields = place.fields(text)
        if place == .body { fields.append("Content-Type", "application/json") }
        return await fixture.ask(.post, "/fps/license", query: place.query(text), fields, body: body)
    }

    /// The secret gets the same answer as any other text.
    @Test(arguments: Place.allCases)
    func aPackagersSecretOpensNoLicense(place: Place) async throws {
        let answer = try await license(presenting: Self.secret, at: place)
        let other = try await license(presenting: "eyJhbGciOiJFUzI1NiJ9.the-secret-of.no-packager", at: place)
        #expect(answer.status == .unauthorized && other.status == .unauthorized)
        let code = try #require(answer.fields["X-Error-Code"])
        #expect(code == other.fields["X-Error-Code"] && code.hasPrefix("token_"))
        // Only the routes for packagers ask for Basic credentials.
        #expect(answer.fields["WWW-Authenticate"] == "Bearer")
    }

    /// A viewer's token gets a license in some of these places, which proves that they are read. The others are not for
    /// tokens.
    @Test func aViewersTokenOpensALicenseFromTheSamePlaces() async throws {
        let token = try fixture.token()
        var opened: Set<Place> = []
        for place in Place.allCases {
            if try await license(presenting: token, at: place).status == .ok { opened.insert(place) }
        }
        #expect(opened == Set(Place.allCases).subtracting([.basic, .apiKey]))
    }
}
