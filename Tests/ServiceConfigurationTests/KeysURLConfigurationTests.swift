import Entitlements
import HTTPCalls
import TestSupport
import Testing

@testable import ServiceConfiguration

/// The fields of an issuer whose keys come from a URL.
@Suite struct KeysURLConfigurationTests {
    private static let url = #"keysURL: "https://portal.example/keys?p=1""#

    /// A configuration whose issuer has these fields, and its own keys only if `hasKeys`.
    private static func text(_ fields: String, hasKeys: Bool = false) -> String {
        let text = ConfigurationText.make(issuer: #"issuer: "https://portal.example", \#(fields)"#)
        return hasKeys ? text : text.replacing(", keys: [{ \(ConfigurationText.key) }]", with: "")
    }

    private func issuer(_ fields: String, hasKeys: Bool = false) throws -> Configuration.Issuer {
        try #require(
            try ConfigurationText.parse(Self.text(fields, hasKeys: hasKeys)).configuration.entitlement.issuers.first)
    }

    private func problems(_ fields: String, hasKeys: Bool = false) -> [String] {
        ConfigurationText.problems(Self.text(fields, hasKeys: hasKeys)).map(\.path)
    }

    @Test func theURLTakesThePlaceOfKeys() throws {
        #expect(!Self.text(Self.url).contains("k1"), "the text has no keys")
        let issuer = try issuer(Self.url)
        let keysURL = try #require(issuer.keysURL)
        #expect(issuer.keys.isEmpty && issuer.keysFile == nil)
        #expect(keysURL.url.text == "https://portal.example/keys?p=1" && keysURL.url.host == "portal.example")
        #expect(keysURL.reach == .publicAddresses && keysURL.authorities == nil)
        #expect(keysURL.schedule == FetchedKeys.Settings(refresh: .seconds(600), maximumAge: .seconds(86_400)))
        #expect(try self.issuer(Self.url, hasKeys: true).keys.count == 1)
    }

    @Test func everyFieldHasItsPlace() throws {
        let keysURL = try #require(
            try issuer(
                Self.url
                    + #", keysHosts: ["PORTAL.example"], keysAuthorities: "tls/ca.pem", keysRefresh: "30s", keysMaximumAge: "1m""#
            ).keysURL)
        #expect(keysURL.reach == .anyAddress && keysURL.authorities != nil)
        #expect(keysURL.schedule == FetchedKeys.Settings(refresh: .seconds(30), maximumAge: .seconds(60)))
    }

    @Test func plainHTTPIsForNamedLoopbackHosts() throws {
        let local = #"keysURL: "http://127.0.0.1:8000/keys""#
        #expect(try issuer(local + #", keysHosts: ["127.0.0.1"]"#).keysURL?.reach == .loopback)
        #expect(problems(local) == ["entitlement.issuers[0].keysURL"])
        #expect(
            problems(#"keysURL: "http://portal.example/keys", keysHosts: ["portal.example"]"#) == [
                "entitlement.issuers[0].keysURL"
            ])
    }

    @Test(arguments: [
        ("portal.example/keys", "keysURL"), ("https://user@portal.example/keys", "keysURL"),
        ("https://portal.example/keys#a", "keysURL"), ("file:///etc/passwd", "keysURL"), ("https://?p=1", "keysURL"),
    ])
    func refusesWhatIsNoURL(url: String, path: String) {
        #expect(problems(#"keysURL: "\#(url)""#) == ["entitlement.issuers[0].\(path)"])
    }

    @Test(arguments: [
        (#", keysFile: "secrets/keys.json""#, "keysURL"), (#", keysRefresh: "0s""#, "keysRefresh"),
        (#", keysRefresh: "25h""#, "keysRefresh"), (#", keysMaximumAge: "31d""#, "keysMaximumAge"),
        (#", keysRefresh: "10m", keysMaximumAge: "19m""#, "keysMaximumAge"), (#", keysHosts: ["a b"]"#, "keysHosts[0]"),
    ])
    func refusesFieldsThatDoNotFit(fields: String, path: String) {
        #expect(problems(Self.url + fields) == ["entitlement.issuers[0].\(path)"])
    }

    @Test(arguments: [
        (#"keysHosts: ["a"]"#, "keysHosts"), (#"keysAuthorities: "ca.pem""#, "keysAuthorities"),
        (#"keysRefresh: "1m""#, "keysRefresh"), (#"keysMaximumAge: "1h""#, "keysMaximumAge"),
    ])
    func theOtherFieldsNeedTheURL(fields: String, path: String) {
        #expect(problems(fields, hasKeys: true) == ["entitlement.issuers[0].\(path)"])
    }

    /// Two issuers with the keys of one URL would have the same key IDs.
    @Test func noTwoIssuersHaveOneURL() {
        let issuer = #"{ issuer: "a", \#(Self.url) }"#
        let text = Self.text(Self.url).replacing("issuers: [", with: "issuers: [\(issuer), ")
        #expect(ConfigurationText.problems(text).map(\.path) == ["entitlement.issuers[1].keysURL"])
    }

    /// They would have the same labels in metrics.
    @Test func refusesOneIssuerWithTwoURLs() {
        let again = #"{ issuer: "https://portal.example", audience: "b", keysURL: "https://portal.example/others" }"#
        let text = Self.text(Self.url).replacing("issuers: [", with: "issuers: [\(again), ")
        #expect(ConfigurationText.problems(text).map(\.path) == ["entitlement.issuers[1].issuer"])
    }

    @Test func loadsWhatFetchingNeeds() throws {
        let folder = try ConfigurationFolder()
        try folder.write("ca.pem", "authorities")
        let loaded = try folder.load(Self.text(Self.url + #", keysAuthorities: "ca.pem""#))
        let source = try #require(loaded.keySources.first)
        #expect(source.index == 0 && source.issuer == "https://portal.example" && source.dialect == .jwt)
        #expect(source.calls.authorities == Array("authorities".utf8))
        #expect(source.calls.timeout == .seconds(5) && source.calls.answerSizeMaximum == 64 * 1024)
        // The query may have a secret.
        #expect(source.description.contains("https://portal.example/keys (public addresses only) every 10m"))
        #expect(source.calls.url == "https://portal.example/keys?p=1")
        let often = try folder.load(Self.text(Self.url + #", keysAuthorities: "ca.pem", keysRefresh: "1m""#))
        #expect(often.keySources.first?.isSame(as: source) == true)
        try folder.write("ca.pem", "others")
        let other = try #require(
            try folder.load(Self.text(Self.url + #", keysAuthorities: "ca.pem""#)).keySources.first)
        #expect(other.isSame(as: source) && !other.isReached(like: source))
        #expect(throws: (any Error).self) { try folder.load(Self.text(Self.url + #", keysAuthorities: "no""#)) }
    }
}
