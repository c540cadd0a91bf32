import Entitlements
import FairPlay
import Licensing
import TestSupport
import Testing

@testable import ServiceConfiguration

/// The fields that limit the keys which devices store.
@Suite struct StoredKeyConfigurationTests {
    @Test func aHardEndIsSplitOnlyIfConfigured() throws {
        let texts = ["": false, #"offlineEnd: "hard""#: false, #"offlineEnd: "split""#: true]
        for (field, splits) in texts {
            let file = try ConfigurationText.parse(ConfigurationText.make(fairplay: field))
            #expect(file.configuration.fairplay.policy.device.splitsHardEnds == splits, "\(field)")
        }
        let problems = ConfigurationText.problems(ConfigurationText.make(fairplay: #"offlineEnd: "half""#))
        #expect(problems.map(\.path) == ["fairplay.offlineEnd"])
    }

    private func findings(_ issuer: String, _ entitlement: String) throws -> [String] {
        let text = ConfigurationText.make(
            issuer: #"issuer: "operator-1", \#(issuer)"#, entitlement: entitlement)
        return try ConfigurationText.parse(text).configuration.entitlement.findings.map(\.description)
    }

    /// A lease does not limit a stored key, and these issuers' tokens need not limit it either.
    @Test(arguments: [#"dialect: "nagra""#, "offlineByRight: true", #"dialect: "nagra", offlineByRight: true"#])
    func warnsOfStoredKeysWithoutAnEnd(issuer: String) throws {
        let found = try findings(issuer, #"profiles: { HD: { lease: "10m" } }"#)
        let fault = PolicyFinding.Fault.offlineWithoutEnd.rawValue
        #expect(found == ["limitsForEveryLicense \(fault)", "profiles.HD \(fault)"])
        let limits = #"limitsForEveryLicense: { storage: "30d", playback: "48h" }"#
        #expect(try findings(issuer, #"profiles: { HD: { lease: "10m" } }, \#(limits)"#).isEmpty)
        #expect(try findings(issuer, "limitsForEveryLicense: { offline: false }").isEmpty)
    }

    @Test func doesNotWarnIfTokensLimitStoredKeys() throws {
        #expect(try findings("offlineByRight: false", #"profiles: { HD: { lease: "10m" } }"#).isEmpty)
    }
}
