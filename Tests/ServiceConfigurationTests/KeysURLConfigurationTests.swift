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

    // MARK: Discovery

    private static func discovering(_ issuer: String, _ fields: String = "") -> String {
        ConfigurationText.make(issuer: #"issuer: "\#(issuer)", discover: true\#(fields)"#)
            .replacing(", keys: [{ \(ConfigurationText.key) }]", with: "")
    }

    @Test(arguments: [
        ("https://portal.example", "https://portal.example/.well-known/openid-configuration"),
        ("https://portal.example/", "https://portal.example/.well-known/openid-configuration"),
        ("https://portal.example/tenant/v2.0", "https://portal.example/tenant/v2.0/.well-known/openid-configuration"),
        ("https://portal.example:8443", "https://portal.example:8443/.well-known/openid-configuration"),
    ])
    func findsTheDocumentByTheNameOfTheIssuer(issuer: String, url: String) throws {
        let loaded = try ConfigurationFolder().load(Self.discovering(issuer))
        let source = try #require(loaded.keySources.first)
        #expect(source.calls.url == url && source.discoveryHosts == [] && source.issuer == issuer)
        #expect(source.description.contains("finds and fetches keys of \(issuer) from \(url) (public addresses only)"))
    }

    @Test(arguments: [
        "portal", "http://portal.example", "https://portal.example?tenant=1", "https://portal.example#a",
        "https://user@portal.example", "http://127.0.0.1:8000", "https://",
    ])
    func refusesNamesThatLeadToNoDocument(issuer: String) {
        #expect(
            ConfigurationText.problems(Self.discovering(issuer)).map(\.path) == ["entitlement.issuers[0].discover"])
    }

    @Test func aDocumentWithoutEncryptionIsForNamedLoopbackHosts() throws {
        let text = Self.discovering("http://127.0.0.1:8000", #", keysHosts: ["127.0.0.1"]"#)
        #expect(try ConfigurationFolder().load(text).keySources.first?.calls.reach == .loopback)
    }

    @Test func discoveryTakesThePlaceOfOtherSets() throws {
        for other in [#"keysURL: "https://portal.example/keys""#, #"keysFile: "secrets/keys.json""#] {
            let text = Self.discovering("https://portal.example", ", \(other)")
            #expect(ConfigurationText.problems(text).map(\.path) == ["entitlement.issuers[0].discover"])
        }
        #expect(problems("discover: false") == ["entitlement.issuers[0].keys"])
        #expect(
            problems(#"discover: false, keysRefresh: "1m""#, hasKeys: true) == ["entitlement.issuers[0].keysRefresh"])
        let folder = try ConfigurationFolder()
        let url = "https://portal.example/.well-known/openid-configuration"
        let found = try #require(try folder.load(Self.discovering("https://portal.example")).keySources.first)
        let fetched = try #require(try folder.load(Self.text(#"keysURL: "\#(url)""#)).keySources.first)
        #expect(found.calls.url == fetched.calls.url && !found.isSame(as: fetched))
    }

    private static let issuer = "https://portal.example/tenant"

    /// What the document `issuer`, `jwks_uri` leads to, for an issuer with these internal hosts.
    private func keys(
        _ document: String, of issuer: String = issuer, hosts: String = "[]"
    ) throws -> Result<HTTPCallSettings, KeyDiscoveryError> {
        let loaded = try ConfigurationFolder().load(Self.discovering(issuer, ", keysHosts: \(hosts)"))
        let source = try #require(loaded.keySources.first)
        return Result { () throws(KeyDiscoveryError) in try source.keys(namedBy: Array(document.utf8)) }
    }

    private func keys(
        at uri: String, of issuer: String = issuer, hosts: String = "[]"
    ) throws -> Result<HTTPCallSettings, KeyDiscoveryError> {
        try keys(#"{"issuer":"\#(issuer)","jwks_uri":"\#(uri)","claims_supported":["sub"]}"#, of: issuer, hosts: hosts)
    }

    /// Large issuers have their keys on another host. It has the addresses that the configuration allows it.
    @Test func theKeysMayBeOnAnotherHost() throws {
        let keys = try keys(at: "https://keys.example/v3?p=1").get()
        #expect(keys.url == "https://keys.example/v3?p=1" && keys.reach == .publicAddresses)
        #expect(keys.timeout == .seconds(5) && keys.callMaximum == 1 && keys.answerSizeMaximum == 64 * 1024)
        let named = try self.keys(at: "https://keys.internal/v3", hosts: #"["keys.internal"]"#).get()
        #expect(named.reach == .anyAddress)
    }

    /// A document of another issuer would bring keys that this one does not have.
    @Test(arguments: [
        "https://portal.example", "https://portal.example/tenant/", "https://PORTAL.example/tenant",
        "https://portal.example/%74enant", "https://attacker.example", "",
    ])
    func aDocumentOfAnotherIssuerIsRefused(name: String) throws {
        let document = #"{"issuer":"\#(name)","jwks_uri":"https://portal.example/keys"}"#
        guard case .failure(.otherIssuer) = try keys(document) else {
            Issue.record("the document of \(name) was taken")
            return
        }
    }

    @Test(arguments: [
        "http://portal.example/keys", "http://127.0.0.1/keys", "file:///etc/passwd", "//portal.example/keys", "/keys",
        "https://user@portal.example/keys", "https://portal.example/keys#a", "", "gopher://portal.example/",
    ])
    func anAddressWithoutTLSIsRefused(uri: String) throws {
        guard case .failure(.uriRefused) = try keys(at: uri, hosts: #"["127.0.0.1", "portal.example"]"#) else {
            Issue.record("\(uri) was taken")
            return
        }
    }

    /// Only a document that itself came from this machine without TLS may name such keys.
    @Test func aDocumentFromThisMachineMayNameKeysOnIt() throws {
        let (local, hosts) = ("http://127.0.0.1:8000", #"["127.0.0.1"]"#)
        #expect(try keys(at: "http://127.0.0.1:8000/keys", of: local, hosts: hosts).get().reach == .loopback)
        #expect(try keys(at: "https://keys.example/keys", of: local, hosts: hosts).get().reach == .publicAddresses)
        guard case .failure(.uriRefused) = try keys(at: "http://keys.example/", of: local, hosts: hosts) else {
            Issue.record("the keys of another machine need TLS")
            return
        }
    }

    @Test(arguments: [
        ("", KeyDiscoveryError.notAnObject), ("[]", .notAnObject), ("<html>", .notAnObject), ("{}", .otherIssuer),
        (#"{"issuer":1}"#, .otherIssuer), (#"{"issuer":"https://portal.example/tenant"}"#, .uriRefused),
        (#"{"issuer":"https://portal.example/tenant","jwks_uri":1}"#, .uriRefused),
        (#"{"issuer":"https://attacker.example","issuer":"https://portal.example/tenant"}"#, .notAnObject),
    ])
    func otherDocumentsLeadNowhere(document: String, error: KeyDiscoveryError) throws {
        guard case .failure(error) = try keys(document) else {
            Issue.record("\(document) was taken")
            return
        }
        #expect(!"\(error)".contains("attacker"))
    }
}
