import TestSupport
import Testing

@testable import ServiceConfiguration

@Suite struct IssuerKeysWarningTests {
    private let folder: ConfigurationFolder

    init() throws {
        folder = try ConfigurationFolder()
    }

    private static let states: [(String, Bool)] = [
        ("", true), (#", state: "next""#, true), (#", state: "revoked""#, false),
        (#", state: "retiring", until: "2027-01-15T08:00:01Z""#, true),
        (#", state: "retiring", until: "2027-01-15T08:00:00Z""#, false),
    ]

    /// 1800000000 is 2027-01-15T08:00:00Z.
    @Test(arguments: states)
    func namesAnIssuerWithoutAKeyInUse(state: String, isInUse: Bool) throws {
        let loaded = try folder.load(ConfigurationText.make(key: ConfigurationText.key + state))
        let warnings = IssuerKeysWarning.warnings(about: loaded, now: 1_800_000_000)
        #expect(warnings.map(\.path) == (isInUse ? [] : ["entitlement.issuers[0]"]))
        let words = "no key of the issuer https://portal.example is in use"
        #expect(warnings.allSatisfy { $0.description.hasPrefix(words) })
    }

    /// The daemon fetches the keys later.
    @Test func saysNothingOfKeysFromAURL() throws {
        let issuer = ConfigurationText.issuer + #", keysURL: "https://portal.example/keys""#
        let key = ConfigurationText.key + #", state: "revoked""#
        let loaded = try folder.load(ConfigurationText.make(issuer: issuer, key: key))
        #expect(IssuerKeysWarning.warnings(about: loaded, now: 1_800_000_000).isEmpty)
    }
}
