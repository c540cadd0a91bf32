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
import ServiceConfiguration
import Telemetry
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

@Suite struct RequestRatesTests {
    private static let one = Rate(perSecond: 1, burst: 1)

    private func ask(_ fixture: RoutesFixture, query: String? = nil) async throws -> HTTPResponse {
        let request = try fixture.deviceRequest(.v1)
        return await fixture.license(request.message, token: try fixture.token(), query: query)
    }

    @Test(arguments: [RequestRates(perAddress: one), RequestRates(perSubject: one)])
    func refusesWhatComesTooOften(rates: RequestRates) async throws {
        let fixture = try RoutesFixture(rates: rates)
        #expect(try await ask(fixture).status == .ok)
        let response = try await ask(fixture)
        #expect(response.status == .tooManyRequests)
        #expect(response.fields["X-Error-Code"] == "rate_limited")
        #expect(response.waits(2...3))
        #expect(fixture.operations.value == 1)
        fixture.clock.advance(by: .seconds(1))
        #expect(try await ask(fixture).status == .ok)
    }

    @Test func letsRenewalsGoOn() async throws {
        let fixture = try RoutesFixture(rates: RequestRates(perSubject: Self.one))
        #expect(try await ask(fixture).status == .ok)
        #expect(try await ask(fixture, query: "renew=true").status == .ok)
        #expect(try await ask(fixture, query: "renew=true").status == .tooManyRequests)
    }

    /// Requests for challenges and for licenses count together.
    @Test(arguments: [RequestRates(perAddress: one), RequestRates(perSubject: one)])
    func countsChallengesToo(rates: RequestRates) async throws {
        let fixture = try RoutesFixture(rates: rates)
        let fields: HTTPFields = ["Authorization": "Bearer \(try fixture.token())"]
        #expect(await fixture.ask(.post, "/fps/challenge", fields).status == .ok)
        let refused = await fixture.ask(.post, "/fps/challenge", fields)
        #expect(refused.status == .tooManyRequests && refused.waits(2...3))
        #expect(try await ask(fixture).status == .tooManyRequests)
    }

    /// The log of a query only tells that a rate was exceeded. The metrics of refusals do not count challenges.
    @Test(
        arguments: [
            (RequestRates(perAddress: one), " of an address"), (RequestRates(perSubject: one), " of a subject"),
        ])
    func saysInTheLogWhoseRateItWas(rates: RequestRates, party: String) async throws {
        let fixture = try RoutesFixture(rates: rates)
        let fields: HTTPFields = ["Authorization": "Bearer \(try fixture.token())"]
        let message = try fixture.deviceRequest(.v1).message
        #expect(await fixture.ask(.post, "/fps/license", fields, body: message).status == .ok)
        for (path, event, cause) in [
            ("/fps/license", "license_refused", "too many requests" + party),
            ("/fps/challenge", "challenge_refused", "too many requests" + party),
            ("/fps/licenses/query", "query_refused", "too many requests"),
        ] {
            let response = await fixture.ask(.post, path, fields, body: message)
            #expect(response.status == .tooManyRequests && response.waits(2...3))
            let line = try #require(fixture.log.lines.last)
            let object = try #require(try JSONReader.parse(Array(line.utf8)).object)
            #expect(object["event"]?.string == event && object["cause"]?.string == cause)
            #expect(object["code"]?.string == "rate_limited" && object["spc_version"]?.number?.signed == 0)
        }
        #expect(try await fixture.metrics()["latchkey_licenses_refused_total{code=\"rate_limited\"}"] == 2)
    }

    /// New rules apply to the next request, and requests under the old rules still count.
    @Test func takesOtherRatesWithoutARestart() async throws {
        let fixture = try RoutesFixture()
        #expect(try await ask(fixture).status == .ok)
        let rules = fixture.rules.current
        for (rates, status) in [
            (RequestRates(perAddress: Self.one), HTTPStatus.ok), (RequestRates(perAddress: Self.one), .tooManyRequests),
            (RequestRates(), .ok),
        ] {
            let license = LicenseRules(
                fairplay: rules.license.fairplay, entitlement: rules.license.entitlement, rates: rates)
            fixture.rules.replace(
                with: LiveRules(
                    license: license, certificates: rules.certificates,
                    administrators: rules.administration.credentials, names: rules.administration.names))
            #expect(try await ask(fixture).status == status)
        }
    }

    @Test func letsAChallengeWaitLikeALicense() async throws {
        let fixture = try RoutesFixture(rates: RequestRates(all: Self.one))
        let fields: HTTPFields = ["Authorization": "Bearer \(try fixture.token())"]
        #expect(try await ask(fixture).status == .ok)
        async let challenge = fixture.ask(.post, "/fps/challenge", fields)
        try await waitFor(1, in: fixture)
        fixture.clock.advance(by: .seconds(1))
        #expect(await challenge.status == .ok)
    }

    /// Waits until `count` requests wait for their turn.
    private func waitFor(_ count: Double, in fixture: RoutesFixture) async throws {
        let deadline = ContinuousClock.now + .seconds(300)
        while try await fixture.metrics()["latchkey_overload_waiting"] != count {
            try #require(ContinuousClock.now < deadline, "\(count) requests wait")
        }
    }

    @Test func letsWhatIsTooMuchInAllWaitForItsTurn() async throws {
        let fixture = try RoutesFixture(rates: RequestRates(all: Self.one))
        #expect(try await ask(fixture).status == .ok)
        async let second = ask(fixture)
        try await waitFor(1, in: fixture)
        #expect(fixture.operations.value == 1, "RSA is spent after the wait")
        fixture.clock.advance(by: .seconds(1))
        #expect(try await second.status == .ok)
        #expect(try await fixture.metrics()["latchkey_overload_waited_total"] == 1)
        #expect(try await fixture.metrics()["latchkey_overload_waiting"] == 0)
    }

    @Test func refusesWhoHasWaitedAsLongAsTheyMay() async throws {
        let fixture = try RoutesFixture(
            rates: RequestRates(all: Self.one), overload: OverloadLimits(wait: .milliseconds(500)))
        #expect(try await ask(fixture).status == .ok)
        async let second = ask(fixture)
        try await waitFor(1, in: fixture)
        fixture.clock.advance(by: .milliseconds(600))
        let response = try await second
        #expect(response.status == .tooManyRequests)
        #expect(response.fields["X-Error-Code"] == "overloaded")
        #expect(response.waits(2...3))
        #expect(fixture.operations.value == 1)
        #expect(try await fixture.metrics()["latchkey_overload_refused_total"] == 1)
    }

    @Test func servesRenewalsBeforeThoseThatCameEarlier() async throws {
        let fixture = try RoutesFixture(
            rates: RequestRates(all: Self.one), overload: OverloadLimits(wait: .seconds(30)))
        // The first request uses the burst. The second uses the extra burst for renewals.
        #expect(try await ask(fixture).status == .ok)
        #expect(try await ask(fixture, query: "renew=true").status == .ok)
        async let ordinary = ask(fixture)
        try await waitFor(1, in: fixture)
        async let renewal = ask(fixture, query: "renew=true")
        try await waitFor(2, in: fixture)
        fixture.clock.advance(by: .seconds(1))
        #expect(try await renewal.status == .ok)
        #expect(try await fixture.metrics()["latchkey_overload_waiting"] == 1, "the earlier one still waits")
        fixture.clock.advance(by: .seconds(2))
        #expect(try await ordinary.status == .ok)
    }

    @Test func boundsHowManyWait() async throws {
        let fixture = try RoutesFixture(
            rates: RequestRates(all: Self.one), overload: OverloadLimits(waitingMaximum: 1))
        #expect(try await ask(fixture).status == .ok)
        async let second = ask(fixture)
        try await waitFor(1, in: fixture)
        #expect(try await ask(fixture).fields["X-Error-Code"] == "overloaded")
        fixture.clock.advance(by: .seconds(1))
        #expect(try await second.status == .ok)
    }

    @Test func allowsEverythingUnlessItIsTold() async throws {
        let fixture = try RoutesFixture()
        for _ in 0..<20 { #expect(try await ask(fixture).status == .ok) }
    }
}

@Suite struct LicenseWishTests {
    @Test(arguments: [
        (nil, LicenseWish()), ("", LicenseWish()), ("offline=1", LicenseWish(use: .offline)),
        ("renew=true", LicenseWish(isRenewal: true)), ("renew", LicenseWish(isRenewal: true)),
        ("renew=0&offline=0", LicenseWish(use: .streaming)),
        ("offline&renew=1", LicenseWish(use: .offline, isRenewal: true)),
        ("format=ckc", LicenseWish(format: .ckc)), ("format=json&renew", LicenseWish(isRenewal: true, format: .json)),
    ])
    func isReadFromTheQuery(query: String?, wish: LicenseWish) throws {
        #expect(try LicenseWish(query: QueryPairs(query), fields: [:]) == wish)
    }

    @Test(
        arguments: [
            ("renew=2", .renew), ("renew=1&renew=1", .renew), ("offline=x", .offline),
            ("offline=1&offline=0", .offline),
            ("format=keyArray", .format), ("format=", .format), ("format=raw&format=raw", .format),
            ("previous=7", .previous), ("previous=0123456789ABCDEF0123456789ABCDEF", .previous),
        ] as [(String, LicenseWish.Fault.Parameter)])
    func namesTheParameterThatIsUnclear(query: String, parameter: LicenseWish.Fault.Parameter) throws {
        let fault = #expect(throws: LicenseWish.Fault(parameter: parameter)) {
            try LicenseWish(query: QueryPairs(query), fields: [:])
        }
        let response = Problem(for: try #require(fault)).response(requestID: RequestID(1), time: WallTime(seconds: 0))
        let body = try #require(try JSONReader.parse(response.body).object)
        #expect(response.status == .badRequest && body["code"]?.string == "request_invalid")
        #expect(body["parameter"]?.string == parameter.rawValue)
        for name in ["detail", "hint"] { #expect(body[name]?.string?.contains(parameter.rawValue) == true) }
    }

    @Test func namesTheLicenseBefore() throws {
        let digits = "0123456789abcdef0123456789abcdef"
        let wish = try LicenseWish(query: QueryPairs("renew=1&previous=\(digits)"), fields: [:])
        #expect(wish.renewal.previous?.description == digits)
    }

    @Test func keepsWhatTheSenderAccepts() throws {
        let fields: HTTPFields = ["Accept": "application/json", "Accept": "text/plain"]
        #expect(
            try LicenseWish(query: QueryPairs(), fields: fields).answer.accepted == ["application/json", "text/plain"])
        #expect(try LicenseWish(query: QueryPairs(), fields: fields, followsAccept: false).answer == AnswerPreference())
    }

    @Test func theQueryComesBeforeTheAddress() throws {
        #expect(try LicenseWish(query: QueryPairs(), fields: [:], standard: .nagra).answer.explicit == .nagra)
        #expect(try LicenseWish(query: QueryPairs("format=raw"), fields: [:], standard: .nagra).answer.explicit == .raw)
    }

    @Test func isReadFromAFieldToo() throws {
        #expect(try LicenseWish(query: QueryPairs(), fields: ["X-License-Renew": "1"]) == LicenseWish(isRenewal: true))
        #expect(try LicenseWish(query: QueryPairs(), fields: ["X-License-Renew": "yes"]) == LicenseWish())
    }
}
