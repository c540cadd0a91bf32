import ByteCoding
import ContentKeys
import Entitlements
import Foundation
import KeyCrypto
import PackagerAPI
import TestSupport
import Testing

@testable import ServiceConfiguration

/// The packagers of the configuration, and the files with their secrets and pins.
@Suite struct PackagerConfigurationTests {
    private static let packager = #"name: "packager-1", secret: "secrets/packager-1""#
    private static let fingerprint = String(repeating: "0a", count: 32)

    private let folder: ConfigurationFolder

    init() throws {
        folder = try ConfigurationFolder()
        try folder.write("secrets/packager-1", "a:secret-of-packager-1\n")
        try folder.write("secrets/packager-2", "another-secret-of-packager-2\n")
        let key = try ConfigurationMaterial.shared.get().key2048
        try folder.write("recipient.der", ConfigurationMaterial.certificate(for: key), mode: 0o644)
    }

    private static func text(_ packagers: String, more: String = "") -> String {
        ConfigurationText.make(rest: "\(more) packagers: [\(packagers)],")
    }

    private func directory(_ packagers: String) throws -> PackagerDirectory {
        try folder.load(Self.text(packagers)).packagers
    }

    private func credentials(
        key: String? = nil, authorization: String? = nil, subject: String? = nil, sha256: [UInt8] = []
    ) -> PackagerCredentials {
        PackagerCredentials(
            authorization: authorization.map { [Array($0.utf8)[...]] } ?? [],
            apiKeys: key.map { [Array($0.utf8)[...]] } ?? [],
            certificate: subject.map { .init(subject: $0, sha256: sha256) })
    }

    @Test func hasNoPackagerByDefault() throws {
        let loaded = try folder.load(ConfigurationText.make())
        #expect(loaded.packagers.isEmpty && loaded.configuration.packagers.isEmpty)
        #expect(throws: PackagerRefusal.wrong) {
            try loaded.packagers.judge(credentials(key: "a:secret-of-packager-1"))
        }
    }

    @Test func givesAPackagerWhatSPEKENeedsAndNoMore() throws {
        let packager = try directory("{ \(Self.packager) }").judge(credentials(key: "a:secret-of-packager-1"))
        #expect(packager.name == "packager-1" && packager.scopes == [.read, .create] && packager.contents == nil)
        #expect(!packager.requiresEncryptedDelivery && packager.rate == nil && !packager.isDisabled)
        let own = try Certificate(parsing: folder.read("recipient.der"))
        #expect(!packager.accepts(recipient: own))
    }

    @Test func readsEveryField() throws {
        let directory = try directory(
            """
            { \(Self.packager), previousSecret: "secrets/packager-2", user: "tenänt",
              clientCertificates: ["CN=packager-1,O=Example", "\(Self.fingerprint.uppercased())"],
              scopes: ["import"], contents: ["movie-1", "live/*"], recipients: ["recipient.der"],
              requireEncryptedDelivery: true, rate: { perSecond: 3 } }
            """)
        let basic = Data("tenänt:a:secret-of-packager-1".utf8).base64EncodedString()
        for credentials in [
            credentials(key: "a:secret-of-packager-1"), credentials(key: "another-secret-of-packager-2"),
            credentials(authorization: "Bearer a:secret-of-packager-1"), credentials(authorization: "Basic \(basic)"),
            credentials(subject: "CN=packager-1,O=Example"),
            credentials(subject: "CN=x", sha256: [UInt8](repeating: 10, count: 32)),
        ] {
            let packager = try directory.judge(credentials)
            #expect(packager.name == "packager-1" && packager.scopes == [.import])
            let (own, other) = (try ContentID("live/1"), try ContentID("movie-2"))
            #expect(packager.permits(.import, of: own) && !packager.permits(.import, of: other))
            #expect(packager.requiresEncryptedDelivery && packager.rate == Rate(perSecond: 3, burst: 6))
            let recipient = try Certificate(parsing: folder.read("recipient.der"))
            #expect(packager.accepts(recipient: recipient))
        }
    }

    @Test func warnsAboutShortSecrets() throws {
        try folder.write("secrets/long", String(repeating: "l", count: 32) + "\n")
        func fields(_ packagers: String) throws -> [String] {
            try folder.load(Self.text(packagers)).shortSecrets.map(\.field)
        }
        #expect(try fields("{ \(Self.packager) }") == ["packagers[0].secret"])
        let both = #"{ name: "a", secret: "secrets/long", previousSecret: "secrets/packager-2" }"#
        #expect(try fields(both) == ["packagers[0].previousSecret"])
        #expect(try fields(#"{ name: "a", secret: "secrets/long" }"#) == [])
    }

    @Test func refusesADisabledPackager() throws {
        let directory = try directory("{ \(Self.packager), disabled: true }")
        #expect(throws: PackagerRefusal.disabled("packager-1")) {
            try directory.judge(credentials(key: "a:secret-of-packager-1"))
        }
    }

    /// Faults of the text. The section is on line 6.
    @Test(arguments: [
        (#"{ secret: "s" }"#, "packagers[0].name", BrokenConfiguration.Kind.missing),
        (#"{ name: "a b", secret: "s" }"#, "packagers[0].name", .invalidValue),
        (#"{ name: "a" }"#, "packagers[0]", .noneOf(["secret", "clientCertificates"])),
        (#"{ name: "a", secret: 5 }"#, "packagers[0].secret", .wrongType(.number)),
        (
            #"{ name: "a", clientCertificates: ["CN=a"], previousSecret: "s" }"#, "packagers[0].previousSecret",
            .incomplete(without: "secret")
        ),
        (
            #"{ name: "a", clientCertificates: ["CN=a"], user: "u" }"#, "packagers[0].user",
            .incomplete(without: "secret")
        ),
        (#"{ \#(packager), user: "a:b" }"#, "packagers[0].user", .invalidValue),
        (#"{ \#(packager), user: "" }"#, "packagers[0].user", .invalidValue),
        (
            #"{ \#(packager), clientCertificates: [] }"#, "packagers[0].clientCertificates",
            .invalidValue
        ),
        (
            #"{ \#(packager), clientCertificates: ["packager"] }"#, "packagers[0].clientCertificates[0]",
            .invalidValue
        ),
        (
            #"{ \#(packager), clientCertificates: ["CN=a", "CN=a"] }"#, "packagers[0].clientCertificates[1]",
            .duplicate(of: "packagers[0].clientCertificates[0]")
        ),
        (
            #"{ \#(packager), clientCertificates: ["\#(fingerprint)"] }, { name: "b", clientCertificates: ["\#(colons)"] }"#,
            "packagers[1].clientCertificates[0]", .duplicate(of: "packagers[0].clientCertificates[0]")
        ),
        (#"{ \#(packager), scopes: [] }"#, "packagers[0].scopes", .invalidValue),
        (#"{ \#(packager), scopes: ["write"] }"#, "packagers[0].scopes[0]", .invalidValue),
        (#"{ \#(packager), contents: ["a b"] }"#, "packagers[0].contents[0]", .invalidValue),
        (
            #"{ \#(packager), requireEncryptedDelivery: true }"#, "packagers[0].requireEncryptedDelivery",
            .incomplete(without: "recipients")
        ),
        (#"{ \#(packager), rate: { } }"#, "packagers[0].rate.perSecond", .missing),
        (
            #"{ \#(packager), rate: { perSecond: 0 } }"#, "packagers[0].rate.perSecond",
            .invalidValue
        ),
        (#"{ \#(packager), disabled: 1 }"#, "packagers[0].disabled", .wrongType(.number)),
        (#"{ \#(packager), secrets: [] }"#, "packagers[0].secrets", .unknownKey(nearest: "secret")),
        (#"{ \#(packager) }, { \#(packager) }"#, "packagers[1].name", .duplicate(of: "packagers[0].name")),
        (#""packager-1""#, "packagers[0]", .wrongType(.string)),
    ])
    func saysWhatIsWrongWithTheText(packagers: String, path: String, kind: BrokenConfiguration.Kind) throws {
        let problems = ConfigurationText.problems(Self.text(packagers))
        #expect(problems.map(\.path) == [path])
        let problem = try #require(problems.first)
        #expect(BrokenConfiguration.Kind(problem.fault) == kind)
        #expect(problem.position?.line == 6)
    }

    private static let colons = Array(repeating: "0A", count: 32).joined(separator: ":")

    // MARK: What the files hold

    private func fault(_ packagers: String, more: String = "") -> ConfigurationFault? {
        let problems = folder.problems(Self.text(packagers, more: more))
        #expect(problems.count == 1 && problems.first?.position?.line == 6)
        return problems.first?.fault
    }

    @Test(arguments: [
        "short-of-one...", "two words in one line", String(repeating: "x", count: 1025), "sécret-of-packager",
    ])
    func needsASecretThatHeaderFieldsCanCarry(secret: String) throws {
        try folder.write("secrets/packager-1", secret)
        #expect(fault("{ \(Self.packager) }") == .notAnAdminToken)
    }

    @Test func takesTheShortestAndTheLongestSecret() throws {
        for size in [16, 1024] {
            let secret = String(repeating: "x", count: size)
            try folder.write("secrets/packager-1", secret + "\n")
            #expect(try directory("{ \(Self.packager) }").judge(credentials(key: secret)).name == "packager-1")
        }
    }

    @Test func findsAMissingFile() {
        let path = "\(folder.path)/secrets/packager-9"
        #expect(fault(#"{ name: "a", secret: "secrets/packager-9" }"#) == .file(.notFound(path: path)))
    }

    @Test func refusesASecretThatOthersCanRead() throws {
        try folder.write("secrets/packager-1", "a-secret-of-packager-1", mode: 0o644)
        guard case .file(.permissionsTooWide) = fault("{ \(Self.packager) }") else {
            Issue.record("the permissions were accepted")
            return
        }
    }

    @Test func namesBothPackagersThatHaveOneSecret() throws {
        let other = #"{ name: "packager-2", secret: "secrets/packager-2", previousSecret: "secrets/packager-1" }"#
        let problems = folder.problems(Self.text("{ \(Self.packager) }, \(other)"))
        #expect(problems.map(\.path) == ["packagers[1].previousSecret"])
        #expect(problems.map(\.fault) == [.duplicate(of: "packagers[0].secret")])
        let twice = #"{ \#(Self.packager), previousSecret: "secrets/packager-1" }"#
        #expect(fault(twice) == .duplicate(of: "packagers[0].secret"))
    }

    /// Secrets are compared without a line end that follows them.
    @Test func refusesTheSecretsOfOthers() throws {
        func listener(_ fields: String) -> String {
            #"listeners: { admin: [{ address: "127.0.0.1:9443", \#(fields) }] },"#
        }
        let admin = listener(#"tokens: [{ name: "alice", file: "secrets/other" }]"#)
        try folder.write("secrets/other", "a:secret-of-packager-1")
        #expect(fault("{ \(Self.packager) }", more: admin) == .duplicate(of: "listeners.admin[0].tokens[0].file"))
        let tokenFile = listener(#"tokenFile: "secrets/other""#)
        #expect(fault("{ \(Self.packager) }", more: tokenFile) == .duplicate(of: "listeners.admin[0].tokenFile"))

        try folder.write("secrets/sealing", String(repeating: "8d", count: 32))
        let customers = ConfigurationText.make(
            issuer: #"issuer: "customers", dialect: "expressplay""#,
            key: #"kid: "7", algorithm: "A256GCM", key: "secrets/sealing""#,
            rest: """
                publicURL: "https://keys.example", expressPlay: { customers: [{ name: "player", issuer: "customers", \
                authenticator: "secrets/other" }] }, packagers: [{ \(Self.packager) }],
                """)
        #expect(
            folder.problems(customers).map(\.fault) == [.duplicate(of: "expressPlay.customers[0].authenticator")])
    }

    /// A packager with such a secret could make tokens for viewers.
    @Test func refusesASecretThatSignsTokens() throws {
        let secret = "a-secret-that-signs-the-tokens-of-the-portal"
        try folder.write("secrets/hs256", secret + "\n")
        try folder.write("secrets/packager-1", secret)
        let text = ConfigurationText.make(
            key: #"kid: "k1", algorithm: "HS256", key: "secrets/hs256""#, rest: "packagers: [{ \(Self.packager) }],")
        #expect(folder.problems(text).map(\.fault) == [.duplicate(of: "entitlement.issuers[0].keys[0].key")])
    }

    /// A secret in the form of a token might be accepted as a token.
    @Test(arguments: [
        "eyJhbGciOiJFUzI1NiIsImtpZCI6ImsxIn0.e30.AAAA", "eyJhbGciOiJIUzI1NiJ9.eyJpc3MiOiJwb3J0YWwifQ.",
        "AgAAAAAH" + String(repeating: "A", count: 48),
    ])
    func refusesASecretInTheFormOfAToken(secret: String) throws {
        try folder.write("secrets/packager-1", secret)
        #expect(fault("{ \(Self.packager) }") == .secretIsAToken)
    }

    @Test func pinsOneCertificateOfAFairSizeInEachFile() throws {
        let material = try ConfigurationMaterial.shared.get()
        let small = try ConfigurationMaterial.certificate(for: material.key1024)
        let large = try ConfigurationMaterial.certificate(for: material.key2048)
        let packager = #"{ \#(Self.packager), recipients: ["recipient.der"] }"#
        for (bytes, fault) in [
            (small, ConfigurationFault.keySizeOutOfRange(2048...4096, actual: 1024)),
            (large + large, .severalRecipients(count: 2)), (Array("no certificate".utf8), .notACertificate),
        ] {
            try folder.write("recipient.der", bytes)
            let problems = folder.problems(Self.text(packager))
            #expect(problems.map(\.path) == ["packagers[0].recipients[0]"] && problems.map(\.fault) == [fault])
        }
        let pem = "-----BEGIN CERTIFICATE-----\n\(Data(large).base64EncodedString(options: .lineLength64Characters))\n"
        try folder.write("recipient.der", pem + "-----END CERTIFICATE-----\n", mode: 0o644)
        let loaded = try directory(packager).judge(credentials(key: "a:secret-of-packager-1"))
        let (own, other) = (try Certificate(parsing: large), try Certificate(parsing: small))
        #expect(loaded.accepts(recipient: own) && !loaded.accepts(recipient: other))
    }

    /// The entry in the comments of `Config/reference.json5` is a valid packager, with every field and the stated
    /// defaults.
    @Test func theExampleIsTrue() throws {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(
            path: "../../Config/reference.json5")
        let lines = try String(contentsOf: path, encoding: .utf8).split(separator: "\n").map(String.init)
        let name = try #require(lines.firstIndex { $0.contains(#"name: "packager-1", // required"#) })
        let end = try #require(lines[name...].firstIndex { $0 == "  // }," })
        let entry = lines[(name - 1)...end].map { $0.replacing("  //", with: "", maxReplacements: 1) }
        let file = try ConfigurationText.parse(Self.text(entry.joined(separator: "\n")))
        let packager = try #require(file.configuration.packagers.first)
        #expect(packager.name == "packager-1" && packager.user == packager.name)
        #expect(packager.scopes == Packager.Scope.standard && !packager.requireEncryptedDelivery)
        #expect(!packager.isDisabled && packager.rate == Rate(perSecond: 10, burst: 20))
        #expect(packager.clientCertificates == [.subject("CN=packager-1,O=Example")])
        let fields = file.fields.filter { $0.path.hasPrefix("packagers[0].") }
        #expect(fields.count == 13 && fields.allSatisfy { $0.origin == .file })
    }

    @Test func explainsEveryFaultInOneLine() {
        let faults: [ConfigurationFault] = [
            .secretIsAToken, .severalRecipients(count: 2), .keySizeOutOfRange(2048...4096, actual: 1024),
        ]
        for fault in faults { #expect(!fault.description.isEmpty && !fault.description.contains("\n")) }
    }
}
