import DeviceSimulation
import Entitlements
import FairPlay
import HTTPMessages
import KeyCrypto
import Licensing
import Telemetry
import TestSupport
import Testing

@testable import LatchkeyService

@Suite struct RequestRatesTests {
    private static let one = Rate(perSecond: 1, burst: 1)

    private func ask(_ fixture: RoutesFixture, query: String? = nil) async throws -> HTTPResponse {
        let request = try fixture.deviceRequest(.v1)
        return await fixture.license(request.message, token: try fixture.token(), query: query)
    }

    @Test(arguments: [
        Configuration.Rates(all: one), Configuration.Rates(perAddress: one), Configuration.Rates(perSubject: one),
    ])
    func refusesWhatComesTooOften(rates: Configuration.Rates) async throws {
        let fixture = try RoutesFixture(rates: rates)
        #expect(try await ask(fixture).status == .ok)
        let response = try await ask(fixture)
        #expect(response.status == .tooManyRequests)
        #expect(response.fields["X-Error-Code"] == "rate_limited")
        #expect(response.fields["Retry-After"] == "2")
        #expect(fixture.operations.value == 1)
        fixture.clock.advance(by: .seconds(1))
        #expect(try await ask(fixture).status == .ok)
    }

    @Test(arguments: [Configuration.Rates(all: one), Configuration.Rates(perSubject: one)])
    func letsRenewalsGoOn(rates: Configuration.Rates) async throws {
        let fixture = try RoutesFixture(rates: rates)
        #expect(try await ask(fixture).status == .ok)
        #expect(try await ask(fixture, query: "renew=true").status == .ok)
        #expect(try await ask(fixture, query: "renew=true").status == .tooManyRequests)
    }

    /// A challenge and a licence count together.
    @Test(arguments: [
        Configuration.Rates(all: one), Configuration.Rates(perAddress: one), Configuration.Rates(perSubject: one),
    ])
    func countsChallengesToo(rates: Configuration.Rates) async throws {
        let fixture = try RoutesFixture(rates: rates)
        let fields: HTTPFields = ["Authorization": "Bearer \(try fixture.token())"]
        #expect(await fixture.ask(.post, "/fps/challenge", fields).status == .ok)
        let refused = await fixture.ask(.post, "/fps/challenge", fields)
        #expect(refused.status == .tooManyRequests && refused.fields["Retry-After"] == "2")
        #expect(try await ask(fixture).status == .tooManyRequests)
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
        ("renew=0&offline=0", LicenseWish()), ("offline&renew=1", LicenseWish(use: .offline, isRenewal: true)),
    ])
    func isReadFromTheQuery(query: String?, wish: LicenseWish) {
        #expect(LicenseWish(query: query, fields: [:]) == wish)
    }

    @Test(arguments: ["renew=2", "renew=1&renew=1", "offline=x", "offline=1&offline=0"])
    func isRefusedWhereItIsUnclear(query: String) {
        #expect(LicenseWish(query: query, fields: [:]) == nil)
    }

    @Test func isReadFromAFieldToo() {
        #expect(LicenseWish(query: nil, fields: ["X-License-Renew": "1"]) == LicenseWish(isRenewal: true))
        #expect(LicenseWish(query: nil, fields: ["X-License-Renew": "yes"]) == LicenseWish())
    }
}
