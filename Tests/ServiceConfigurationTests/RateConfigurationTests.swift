import Entitlements
import Licensing
import TestSupport
import Testing

@testable import ServiceConfiguration

/// The rates of license requests, with and without values in the configuration.
@Suite struct RateConfigurationTests {
    private func rates(_ rest: String) throws -> RequestRates {
        try ConfigurationText.parse(ConfigurationText.make(rest: rest)).configuration.live.rates
    }

    /// Without default rates, one token could fill the ledger.
    @Test(arguments: ["", "limits: {},", "limits: { rates: {} },"])
    func partiesHaveARateOfTheirOwnByDefault(rest: String) throws {
        let rates = try rates(rest)
        #expect(rates.perSubject == Rate(perSecond: 10, burst: 50))
        #expect(rates.perAddress == Rate(perSecond: 200, burst: 1000))
        #expect(rates.all == nil)
    }

    @Test func eachOfThemCanBeReplaced() throws {
        let rates = try rates("limits: { rates: { perSubject: { perSecond: 3 }, all: { perSecond: 7, burst: 9 } } },")
        #expect(rates.perSubject == Rate(perSecond: 3, burst: 6))
        #expect(rates.perAddress == Rate(perSecond: 200, burst: 1000))
        #expect(rates.all == Rate(perSecond: 7, burst: 9))
    }
}
