import ByteCoding
import ContentKeys
import Entitlements
import FairPlay
import Foundation
import HTTPMessages
import POSIXSockets
import Telemetry
import TestSupport
import Testing

@testable import ServiceConfiguration

@Suite struct ConfigurationFileTests {
    @Test func fillsInEveryDefault() throws {
        let file = try ConfigurationText.parse(ConfigurationText.make())
        let configuration = file.configuration

        #expect(!configuration.node.isEmpty)
        #expect(configuration.listeners.public.map(\.address.description) == ["127.0.0.1:8443"])
        #expect(configuration.listeners.admin.map(\.address.description) == ["127.0.0.1:9443"])
        #expect(configuration.listeners.admin.map(\.tokenFile) == [nil])
        #expect(configuration.publicURL == nil)
        #expect(configuration.fairplay.protocolVersions == [1])
        #expect(!configuration.fairplay.allowTestCredentials)
        #expect(configuration.keys.keyEncryptionKey == .file(path: "/etc/latchkey/secrets/key-encryption-key"))
        #expect(configuration.keys.skdTemplate.source == "skd://{kid}")
        #expect(configuration.storage.url == .sqlite(path: "/etc/latchkey/latchkey.db"))
        #expect(configuration.entitlement.leeway == .seconds(5))
        #expect(configuration.entitlement.deviceLife == .seconds(90 * 86_400))
        #expect(configuration.entitlement.issuers.map(\.audience) == ["latchkey"])
        #expect(configuration.entitlement.issuers.map(\.dialect) == [.jwt])
        #expect(configuration.entitlement.issuers.map(\.maximumLife) == [.seconds(86_400)])
        #expect(configuration.limits.http == HTTPLimits())
        #expect(configuration.logging.level == .info)
        #expect(file.warnings.isEmpty)
    }

    /// A master secret alone decides how new keys are made. The field that decided it before is refused.
    @Test func derivesKeysIfThereIsAMasterSecret() throws {
        func warning(_ fields: String) throws -> RandomKeysWarning? {
            let text = ConfigurationText.make(rest: "keys: { \(fields) },")
            return RandomKeysWarning(try ConfigurationText.parse(text).configuration)
        }
        #expect(try warning("") == .randomKeys)
        #expect(try warning("masterSecretVersion: 2") == .randomKeys)
        #expect(try warning(#"masterSecret: "s""#) == nil)
        #expect(throws: ConfigurationError.self) { try warning(#"masterSecret: "s", material: "derived""#) }
    }

    @Test func readsWhatIsWritten() throws {
        let rest = """
            node: "edge-7", publicURL: "https://keys.example.com/base/",
            listeners: { public: [{ address: "127.0.0.2:1" }, { address: "[::1]:2" }], admin: [] },
            keys: { keyEncryptionKey: "credential:kek", skdTemplate: "skd://keys.example.com/{kid}" },
            storage: { url: "sqlite:/var/lib/latchkey.db" }, logging: { level: "warning" },
            limits: { headDeadline: "300ms", bodySizeMaximum: 0x10000, connectionsMaximum: 10 },
            """
        let text = ConfigurationText.make(
            fairplay: "protocolVersions: [1, 2], allowTestCredentials: true,",
            issuer: #"issuer: "i", audience: "a", dialect: "jwt", maximumLife: "2m""#, entitlement: #"leeway: "0s""#,
            rest: rest)
        let configuration = try ConfigurationText.parse(text).configuration

        #expect(configuration.node == "edge-7")
        #expect(configuration.publicURL == "https://keys.example.com/base")
        #expect(configuration.listeners.public.map(\.address.description) == ["127.0.0.2:1", "[::1]:2"])
        #expect(configuration.listeners.admin.isEmpty)
        #expect(configuration.keys.keyEncryptionKey == .credential(name: "kek"))
        #expect(configuration.keys.skdTemplate.source == "skd://keys.example.com/{kid}")
        #expect(configuration.storage.databasePath == "/var/lib/latchkey.db")
        #expect(configuration.logging.level == .warning)
        #expect(configuration.limits.http.headDeadline == .milliseconds(300))
        #expect(configuration.limits.http.bodySizeMaximum == 65_536)
        #expect(configuration.limits.http.connectionsMaximum == 10)
        #expect(configuration.fairplay.protocolVersions == [1, 2])
        #expect(configuration.fairplay.allowTestCredentials)
        #expect(configuration.entitlement.leeway == .zero)
        #expect(configuration.entitlement.issuers.map(\.maximumLife) == [.seconds(120)])
    }

    @Test func namesTheFilesOfACredential() throws {
        let credential =
            #"name: "v2", certificate2048: "a.der", privateKey2048: "/b.pem", fixedDASk: "environment:DASK""#
        let credentials = try ConfigurationText.parse(ConfigurationText.make(credential: credential))
            .configuration.fairplay.credentials

        let pair = Configuration.KeyPair(
            certificate: .file(path: "/etc/latchkey/a.der"), privateKey: .file(path: "/b.pem"))
        #expect(credentials.map(\.certificates) == [.pairs(nil, pair)])
        #expect(credentials.map(\.ladder) == [.fixedDASk(.environment(variable: "DASK"))])
        #expect(credentials.map(\.privateKeyPassphrase) == [nil])
        #expect(credentials.map(\.spcVersion3) == [false])
    }

    @Test func namesTheFilesOfABundleAndAModule() throws {
        let credential = """
            name: "new", certificateBundle: "bundle.bin", privateKey1024: "a.pem", privateKey2048: "b.pem", \
            privateKeyPassphrase: "credential:phrase", module: { library: "lib/ladder.so", data: "data.bin", workers: 3, \
            callDeadline: "250ms", memoryLimit: 134217728, user: "nobody" }
            """
        let credentials = try ConfigurationText.parse(ConfigurationText.make(credential: credential))
            .configuration.fairplay.credentials

        let files = Configuration.CertificateFiles.bundle(
            .file(path: "/etc/latchkey/bundle.bin"), privateKey1024: .file(path: "/etc/latchkey/a.pem"),
            privateKey2048: .file(path: "/etc/latchkey/b.pem"))
        let module = Configuration.Module(
            library: "/etc/latchkey/lib/ladder.so", data: .file(path: "/etc/latchkey/data.bin"),
            workers: Configuration.Workers(
                count: 3, callDeadline: .milliseconds(250), memoryLimit: 128 << 20, user: "nobody"))
        #expect(credentials.map(\.certificates) == [files])
        #expect(credentials.map(\.privateKeyPassphrase) == [.credential(name: "phrase")])
        #expect(credentials.map(\.ladder) == [.module(module)])
    }

    private static let workers = Configuration.Workers(
        count: Configuration.Limits.processorCount, callDeadline: .seconds(1), memoryLimit: 512 << 20,
        user: nil)

    @Test func aModuleHasDefaults() throws {
        let credential = ConfigurationText.credential.replacingOccurrences(
            of: #"applicationSecret: "fairplay/application-secret.hex""#,
            with: #"module: { library: "/l.so", data: "/d" }"#)
        let ladder = try ConfigurationText.parse(ConfigurationText.make(credential: credential))
            .configuration.fairplay.credentials.first?.ladder
        let expected = Configuration.Module(library: "/l.so", data: .file(path: "/d"), workers: Self.workers)
        #expect(ladder == .module(expected))
    }

    /// The file of an SDK names the certificates, so the configuration does not. The worker settings are those of a
    /// module.
    @Test func namesTheFilesOfAnSDK() throws {
        let credential = """
            name: "apple-26", privateKeyPassphrase: "phrase", stage: "staged", \
            sdk: { library: "fps/libfpssdk.so", certificates: "credential:certificates.json" }
            """
        let text = ConfigurationText.make(credential: "\(ConfigurationText.credential) }, { \(credential)")
        let found = try #require(try ConfigurationText.parse(text).configuration.fairplay.credentials.last)
        let expected = Configuration.SDK(
            library: "/etc/latchkey/fps/libfpssdk.so", certificates: .credential(name: "certificates.json"),
            workers: Self.workers)
        #expect(found.ladder == .sdk(expected))
        #expect(found.certificates == nil && !found.spcVersion3 && found.stage == .staged)
        #expect(found.privateKeyPassphrase == .file(path: "/etc/latchkey/phrase"))
        #expect(found.sources == [.file(path: "/etc/latchkey/phrase"), .credential(name: "certificates.json")])
    }

    @Test(arguments: [("", "", false), ("spcVersion3: true", "", true), ("", "spcVersion3: true,", true)])
    func versionThreeOfAnSDKIsOnIfItIsSet(forAll: String, own: String, isServed: Bool) throws {
        let credential = #"name: "apple-26", \#(own) sdk: { library: "/l.so", certificates: "/c.json" }"#
        let text = ConfigurationText.make(credential: credential, fairplay: forAll)
        #expect(
            try ConfigurationText.parse(text).configuration.fairplay.credentials.map(\.spcVersion3) == [isServed])
    }

    /// The value of the credential takes precedence over the value for all credentials. A credential without a 2048-bit
    /// key does not support version 3.
    @Test(arguments: [
        ("", "", false), ("spcVersion3: true", "", true), ("spcVersion3: true", "spcVersion3: false", false),
        ("spcVersion3: false", "spcVersion3: true", true), ("", "spcVersion3: true", true),
    ])
    func versionThreeFollowsTheNearestWord(forAll: String, own: String, isServed: Bool) throws {
        let credential = ConfigurationText.credential + (own.isEmpty ? "" : ", \(own)")
        let small = """
            name: "small", certificate1024: "a.der", privateKey1024: "a.pem", applicationSecret: "s"
            """
        let text = ConfigurationText.make(credential: credential + " }, { " + small, fairplay: forAll)
        let credentials = try ConfigurationText.parse(text).configuration.fairplay.credentials
        #expect(credentials.map(\.spcVersion3) == [isServed, false])
    }

    @Test func pathsAreRelativeToTheFileAndMadeAbsolute() throws {
        let file = try ConfigurationFile(
            parsing: Array(ConfigurationText.make().utf8), path: "latchkey.json5", environment: [:])
        #expect(file.configuration.storage.databasePath == FileManager.default.currentDirectoryPath + "/latchkey.db")
    }

    @Test func readsFromTheDisk() throws {
        let folder = try ConfigurationFolder()
        try folder.write("latchkey.json5", ConfigurationText.make(), mode: 0o644)
        let file = try ConfigurationFile(path: folder.path + "/latchkey.json5", environment: [:])
        #expect(file.configuration.storage.databasePath == folder.path + "/latchkey.db")
    }

    @Test func anAbsentFileIsUnreadable() {
        #expect(throws: ConfigurationError.unreadable(path: "/nowhere/x", .notFound(path: "/nowhere/x"))) {
            try ConfigurationFile(path: "/nowhere/x", environment: [:])
        }
    }

    @Test func aTextThatIsNoJSON5NamesItsPlace() {
        let place = TextPosition(line: 2, column: 3, byteOffset: 4)
        #expect(throws: ConfigurationError.malformed(path: "c", .unexpectedCharacter(at: place))) {
            try ConfigurationFile(parsing: Array("{\n  %\n}".utf8), path: "c", environment: [:])
        }
    }

    /// Every fault of a configuration has the form FILE, line L, column C.
    @Test(arguments: [
        ("{\n  %\n}", "c, line 2, column 3: unexpected character"),
        (
            "{ node: 'a',\n  node: 'b' }",
            "c, line 2, column 3: the object already has a member of this name, at line 1, column 3: node"
        ),
        (
            "{ 'x y': 1, \"x y\": 2 }",
            "c, line 1, column 13: the object already has a member of this name, at line 1, column 3: x y"
        ),
    ])
    func aFaultOfTheTextIsShownLikeAnyOther(text: String, shown: String) throws {
        let error = try #require(throws: ConfigurationError.self) {
            try ConfigurationFile(parsing: Array(text.utf8), path: "c", environment: [:])
        }
        #expect(error.description.hasPrefix(shown), "\(error.description)")
    }

    @Test func aTextThatIsTooLargeIsNotRead() {
        let text = [UInt8](repeating: 0x20, count: ConfigurationFile.sizeMaximum + 1)
        let error = JSONError.tooLarge(size: text.count, maximum: ConfigurationFile.sizeMaximum)
        #expect(throws: ConfigurationError.malformed(path: "c", error)) {
            try ConfigurationFile(parsing: text, path: "c", environment: [:])
        }
    }

    @Test(arguments: 0..<ConfigurationText.make().utf8.count - 1)
    func refusesEveryTruncation(length: Int) {
        #expect(throws: ConfigurationError.self) {
            try ConfigurationFile(
                parsing: Array(ConfigurationText.make().utf8.prefix(length)), path: "c", environment: [:])
        }
    }
}
