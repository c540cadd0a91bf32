import Entitlements
import Foundation
import TestSupport
import Testing

@testable import ServiceConfiguration

/// The customers of the configuration, and the files with their secrets.
@Suite struct ExpressPlayConfigurationTests {
    private static let issuer =
        #"issuer: "customers", dialect: "expressplay""#
    private static let sealingKey = #"kid: "7", algorithm: "A256GCM", key: "secrets/sealing""#
    private static let customer = #"name: "player", issuer: "customers", authenticator: "secrets/player""#

    private let folder: ConfigurationFolder

    init() throws {
        folder = try ConfigurationFolder()
        try folder.write("secrets/sealing", String(repeating: "8d", count: 32))
        try folder.write("secrets/player", "201722,0123456789abcdef\n")
        try folder.write("secrets/player-test", "201722,fedcba9876543210\n")
    }

    private func text(
        _ section: String, key: String = sealingKey, publicURL: String = #"publicURL: "https://keys.example","#
    ) -> String {
        ConfigurationText.make(issuer: Self.issuer, key: key, rest: "\(publicURL) expressPlay: { \(section) },")
    }

    private func settings(_ section: String) throws -> ExpressPlaySettings {
        try folder.load(text(section)).expressPlay
    }

    @Test func makesNoTokensByDefault() throws {
        let settings = try folder.load(ConfigurationText.make()).expressPlay
        #expect(settings.customers.isEmpty && settings.sees == nil && !settings.allowsKeysInURL)
        #expect(settings.redeemPaths == ["/hms/fp/rights/"])
    }

    @Test func findsCustomersByWhatTheyPresent() throws {
        let settings = try settings(
            #"customers: [{ \#(Self.customer), otherAuthenticator: "secrets/player-test", tokensPerDay: 9, disabled: true }]"#
        )
        guard case .customer(let customer) = settings.customers.identify(Array("201722,0123456789abcdef".utf8)) else {
            Issue.record("the customer is not found")
            return
        }
        #expect(customer.name == "player" && customer.issuer == "customers" && customer.isDisabled)
        // By default, tokens of this dialect are valid for thirty days.
        #expect(customer.tokensPerDay == 9 && customer.lifeMaximum == 30 * 86_400)
        for (text, isOther) in [("201722,fedcba9876543210", true), ("201722,0123456789abcdeF", false), ("", false)] {
            switch settings.customers.identify(Array(text.utf8)) {
            case .customer: Issue.record("a customer was found by another authenticator")
            case .otherEnvironment: #expect(isOther)
            case .unknown: #expect(!isOther)
            }
        }
    }

    @Test(arguments: [
        ("", "https://keys.example/hms/fp/rights/"),
        (#", redeemURL: "https://fp.example:80/hms/fp/rights/""#, "https://fp.example:80/hms/fp/rights/"),
        (#", redeemPaths: ["/b", "/a"]"#, "https://keys.example/a"),
    ])
    func buildsTokenURLsFromTheConfiguration(more: String, url: String) throws {
        #expect(try settings("customers: [{ \(Self.customer) }]\(more)").redeemURL == url)
    }

    @Test func hasSettingsForTheEntitlementServer() throws {
        try folder.write("secrets/sees", "a-secret-of-the-back-end")
        let sees = try #require(
            try settings(
                #"customers: [{ \#(Self.customer) }], sees: { customer: "player", authenticator: "secrets/sees", tokenLife: "10m" }"#
            ).sees)
        #expect(sees.customer.name == "player" && sees.tokenLife == 600 && sees.devicesMaximum == 1)
        #expect(sees.authenticator?.matches(Array("a-secret-of-the-back-end".utf8)) == true)
        #expect(sees.authenticator?.matches(Array("a-secret-of-the-back-enD".utf8)) == false)
        let byCertificate = try #require(
            try settings(
                #"customers: [{ \#(Self.customer) }], sees: { customer: "player", clients: ["CN=back end"], devicesMaximum: 3 }"#
            ).sees)
        #expect(byCertificate.clients == ["CN=back end"] && byCertificate.authenticator == nil)
    }

    @Test(arguments: [
        (#"customers: [{ name: "player" }]"#, "expressPlay.customers[0].issuer"),
        (
            #"customers: [{ name: "a b", issuer: "customers", authenticator: "secrets/player" }]"#,
            "expressPlay.customers[0].name"
        ),
        (#"customers: [{ \#(customer) }, { \#(customer) }]"#, "expressPlay.customers[1].name"),
        (#"customers: [{ \#(customer), tokensPerDay: 0 }]"#, "expressPlay.customers[0].tokensPerDay"),
        (#"customers: [{ \#(customer), rate: { } }]"#, "expressPlay.customers[0].rate.perSecond"),
        (#"redeemPaths: ["rights"]"#, "expressPlay.redeemPaths[0]"),
        (#"redeemURL: "keys.example""#, "expressPlay.redeemURL"),
        (#"sees: { customer: "nobody", clients: ["CN=a"] }"#, "expressPlay.sees"),
        (#"customers: [{ \#(customer) }], sees: { customer: "player" }"#, "expressPlay.sees"),
        (
            #"customers: [{ \#(customer) }], sees: { customer: "player", clients: ["CN=a"], tokenLife: "31d" }"#,
            "expressPlay.sees.tokenLife"
        ),
    ])
    func saysWhatIsWrong(section: String, path: String) {
        #expect(ConfigurationText.problems(text(section)).map(\.path).contains(path))
    }

    @Test func needsAPlaceToRedeem() {
        let text = text("customers: [{ \(Self.customer) }]", publicURL: "")
        #expect(
            ConfigurationText.problems(text).map(\.fault) == [.incomplete(without: "publicURL")])
    }

    @Test func needsAKeyThatSeals() throws {
        let signing = #"kid: "k1", algorithm: "ES256", key: "secrets/token-verification-key.pem""#
        for key in [signing, Self.sealingKey + #", state: "next""#] {
            let problems = folder.problems(text("customers: [{ \(Self.customer) }]", key: key))
            #expect(problems.map(\.path) == ["expressPlay.customers[0].issuer"])
            #expect(problems.map(\.fault) == [.sealingKeyMissing])
        }
    }

    @Test func tellsCustomersApart() throws {
        let other = Self.customer.replacing(#"name: "player""#, with: #"name: "other""#)
        let problems = folder.problems(text("customers: [{ \(Self.customer) }, { \(other) }]"))
        #expect(problems.map(\.path) == ["expressPlay.customers[1].authenticator"])
        try folder.write("secrets/player", "short\n")
        let short = folder.problems(text("customers: [{ \(Self.customer) }]"))
        #expect(short.map(\.fault) == [.notAnAdminToken])
    }
}
