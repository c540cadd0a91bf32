import Entitlements
import Foundation
import HTTPServing
import Licensing
import StoragePostgreSQL
import Telemetry
import TestSupport
import Testing

@testable import ServiceConfiguration

/// `Config/reference.json5` is the documentation of the fields, so it must be complete and correct.
@Suite struct ReferenceConfigurationTests {
    private static let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appending(path: "../../Config/reference.json5").standardizedFileURL.path

    private let file: ConfigurationFile

    init() throws {
        file = try ConfigurationFile(path: Self.path, environment: [:])
    }

    @Test func itsValuesAreTheDefaults() throws {
        let example = file.configuration
        let directory = FilePath.directory(of: Self.path)
        let defaults = try ConfigurationFile(
            parsing: Array(ConfigurationText.make().utf8), path: Self.path, environment: [:]
        ).configuration

        #expect(example.listeners.public == defaults.listeners.public)
        #expect(example.listeners.admin.map(\.address) == defaults.listeners.admin.map(\.address))
        #expect(example.cors == defaults.cors)
        #expect(example.licensePaths == defaults.licensePaths)
        #expect(example.fairplay == defaults.fairplay)
        #expect(example.keys == defaults.keys)
        #expect(example.storage == defaults.storage)
        #expect(example.ledger == defaults.ledger)
        #expect(example.entitlement == defaults.entitlement)
        #expect(example.expressPlay == defaults.expressPlay)
        #expect(example.packagers == defaults.packagers)
        #expect(example.limits.http == defaults.limits.http)
        #expect(example.limits.overload == defaults.limits.overload)
        #expect(example.logging == defaults.logging)
        #expect(example.drain == defaults.drain)
        #expect(example.crypto == defaults.crypto)
        #expect(example.storage.databasePath == directory + "/latchkey.db")
    }

    @Test(arguments: [
        "node", "listeners.public[0].address", "listeners.public[0].proxyProtocol",
        "listeners.public[0].allowPlaintext", "listeners.public[0].socketMode", "listeners.admin[0].address",
        "listeners.admin[0].tokenFile", "listeners.admin[0].tokens",
        "publicURL", "cors.origins", "cors.allowCredentials", "cors.allowedHeaders",
        "licensePaths[0].path", "assetIDs", "fairplay.credentials[0].name", "fairplay.credentials[0].stage",
        "fairplay.credentials[0].certificate1024",
        "fairplay.credentials[0].privateKey1024", "fairplay.credentials[0].certificate2048",
        "fairplay.credentials[0].privateKey2048", "fairplay.credentials[0].applicationSecret",
        "fairplay.credentials[0].spcVersion3", "fairplay.spcVersion3", "fairplay.protocolVersions",
        "fairplay.allowTestCredentials", "fairplay.offlineEnd",
        "keys.keyEncryptionKey",
        "keys.keyEncryptionKeyVersion", "keys.olderKeyEncryptionKeys", "keys.masterSecretVersion",
        "keys.allowReveal",
        "keys.skdTemplate",
        "storage.url", "ledger.mode", "ledger.key", "ledger.pseudonymKey", "ledger.retention",
        "ledger.keyVersion", "ledger.olderKeys", "ledger.sharedRetention",
        "ledger.refusals.perSecond", "ledger.rollUpRenewalsAfter", "crypto.accelerator",
        "entitlement.issuers[0].issuer", "entitlement.issuers[0].audience",
        "entitlement.issuers[0].dialect", "entitlement.issuers[0].keys[0].kid",
        "entitlement.issuers[0].keys[0].algorithm", "entitlement.issuers[0].keys[0].key",
        "entitlement.issuers[0].keys[0].state",
        "entitlement.issuers[0].maximumLife", "entitlement.issuers[0].offlineByRight",
        "entitlement.leeway", "entitlement.deviceLife",
        "entitlement.ignoredSources",
        "entitlement.tokenHeaders", "entitlement.profiles", "entitlement.limitsForEveryLicense",
        "expressPlay.customers",
        "expressPlay.redeemPaths", "expressPlay.allowKeysInURL", "packagers", "logging.level", "logging.clientAddress",
        "drain.delay", "limits.bodySizeMaximum", "limits.headDeadline", "limits.bodyDeadline", "limits.writeDeadline",
        "limits.idleDeadline", "limits.drainPatience", "limits.loopCount", "limits.connectionsMaximum",
        "limits.connectionsPerAddressMaximum", "limits.rates",
        "limits.overload", "limits.memoryBudget",
    ])
    func itHasEveryField(path: String) {
        #expect(file.positions[path] != nil)
    }

    /// These fields conflict with fields that the example sets, so they are in comments.
    @Test(arguments: [
        "certificateBundle", "privateKeyPassphrase", "sdk", "certificates", "module", "library", "data", "workers",
        "callDeadline", "memoryLimit", "user", "fixedDASk", "keysFile", "keysURL",
        "discover", "keysHosts", "keysAuthorities", "keysRefresh", "keysMaximumAge", "until", "password", "ledger",
        "onStoreOutage",
        "admitInOutage",
    ])
    func itShowsEveryAlternative(name: String) throws {
        let text = try String(contentsOfFile: Self.path, encoding: .utf8)
        #expect(text.contains("//   \(name): ") || text.contains("//     \(name): "))
    }

    /// The credential of the example with some alternatives in place of the fields that they replace.
    ///
    /// `block` is the alternative with fields of its own.
    private static func credential(
        replacing replaced: [String], by alternatives: [String], _ block: String
    ) throws -> Configuration.Credential? {
        var isInBlock = false
        let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").map(String.init)
        let text = lines.compactMap { line -> String? in
            let bare = line.trimmingCharacters(in: .whitespaces)
            if replaced.contains(where: bare.hasPrefix) { return nil }
            if bare.hasPrefix("//   \(block): {") { isInBlock = true }
            defer { if bare.hasPrefix("//   },") { isInBlock = false } }
            return isInBlock || alternatives.contains { bare.hasPrefix("//   \($0):") }
                ? String(bare.dropFirst(2)) : line
        }.joined(separator: "\n")
        return try ConfigurationFile(parsing: Array(text.utf8), path: path, environment: [:]).configuration.fairplay
            .credentials.first
    }

    /// The alternatives in comments must be correct too. If each one replaces the field it is an alternative to, the
    /// text is a valid configuration.
    @Test func itsAlternativesAreFields() throws {
        let credential = try #require(
            try Self.credential(
                replacing: ["certificate1024:", "certificate2048:", "applicationSecret:"],
                by: ["certificateBundle", "privateKeyPassphrase"], "module"))

        guard case .bundle = credential.certificates, case .module(let module) = credential.ladder else {
            Issue.record("a bundle and a module: \(credential)")
            return
        }
        #expect(module.workers.callDeadline == .seconds(1) && module.workers.memoryLimit == 512 << 20)
        #expect(module.workers.user == "latchkey-ladder")
        #expect(credential.privateKeyPassphrase == .credential(name: "fairplay-passphrase"))
    }

    @Test func itsCredentialCanBeThatOfAnSDK() throws {
        let credential = try #require(
            try Self.credential(
                replacing: ["certificate1024:", "certificate2048:", "privateKey", "applicationSecret:"],
                by: ["privateKeyPassphrase"], "sdk"))
        guard case .sdk(let sdk) = credential.ladder else {
            Issue.record("an SDK library: \(credential)")
            return
        }
        #expect(sdk.library == "/opt/fps/libfpssdk.so")
        #expect(sdk.certificates == .file(path: "/opt/fps/certificates.json"))
        #expect(credential.certificates == nil && credential.privateKeyPassphrase != nil)
    }

    /// The same test for the fields of a listener that have no default value to show.
    @Test func itsListenerCanHaveTLSAndProxies() throws {
        let lines = try String(contentsOfFile: Self.path, encoding: .utf8).split(separator: "\n").map(String.init)
        let start = try #require(lines.firstIndex { $0.contains("// tls: {") })
        let end = try #require(lines[start...].firstIndex { $0.contains("// },") })
        let text = lines.enumerated().map { index, line in
            let bare = line.trimmingCharacters(in: .whitespaces)
            let isShown = (start...end).contains(index) || bare.hasPrefix("// trustedProxies:")
            return isShown ? String(bare.dropFirst(2)) : line
        }.joined(separator: "\n")
        let listener = try #require(
            try ConfigurationFile(parsing: Array(text.utf8), path: Self.path, environment: [:]).configuration.listeners
                .public.first)
        #expect(listener.transport.tls?.identities.count == 2)
        #expect(listener.transport.tls?.clientCA != nil)
        #expect(listener.transport.tls?.ticketKeys.count == 1)
        #expect(listener.transport.tls?.options == TLSProtocolOptions())
        #expect(listener.transport.trustedProxies.networks.count == 2)
    }

    @Test func itsStorageCanBePostgreSQL() throws {
        let lines = try String(contentsOfFile: Self.path, encoding: .utf8).split(separator: "\n").map(String.init)
        let fields = ["//   url:", "//   password:", "//   ledger:", "//   onStoreOutage:", "//   admitInOutage:"]
        let text = lines.filter { !$0.contains("url: \"sqlite:") }.map { line in
            let bare = line.trimmingCharacters(in: .whitespaces)
            return fields.contains(where: bare.hasPrefix) ? String(bare.dropFirst(2)) : line
        }.joined(separator: "\n")
        let storage = try ConfigurationFile(parsing: Array(text.utf8), path: Self.path, environment: [:]).configuration
            .storage
        guard case .postgreSQL(let url) = storage.url else { return #expect(Bool(false), "\(storage.url)") }
        #expect(url.hosts.map(\.name) == ["db.example.com"] && url.tls == .verifyFull)
        #expect(storage.password != nil && storage.databasePath.hasSuffix("/latchkey-ledger.db"))
        #expect(storage.onStoreOutage == .refuse && storage.admissions == AdmissionLimits())
    }

    @Test func itNamesEverySourceOfTokens() throws {
        let text = try String(contentsOfFile: Self.path, encoding: .utf8)
        #expect(TokenSource.allCases.filter { !text.contains("\"\($0.rawValue)\"") } == [])
        #expect(TokenDialect.allCases.filter { !text.contains("\"\($0.rawValue)\"") } == [])
    }

    /// The profile in comments must be valid.
    @Test func itsProfileIsOne() throws {
        let lines = try String(contentsOfFile: Self.path, encoding: .utf8).split(separator: "\n").map(String.init)
        let start = try #require(lines.firstIndex { $0.contains("// HD: {") })
        let end = try #require(lines[start...].firstIndex { $0.contains("// },") })
        let profile = lines[start...end].map { $0.trimmingCharacters(in: .whitespaces).dropFirst(2) }
        let text = lines.joined(separator: "\n").replacing(
            "profiles: {},", with: "profiles: {\n\(profile.joined(separator: "\n"))\n},")
        let policy = try ConfigurationFile(parsing: Array(text.utf8), path: Self.path, environment: [:]).configuration
            .entitlement.policy
        #expect(
            policy.profiles["HD"]
                == PolicyRule(
                    lease: 300, duration: 172_800, storage: 2_592_000, playback: 172_800, allowsOffline: false,
                    protection: Protection(hdcp: .type0, securityLevel: .baseline),
                    tracks: ["UHD": Protection(hdcp: .type1, securityLevel: .main)],
                    outputs: OutputPermissions(airPlay: false, avAdapter: false)))
    }

    @Test func itNamesEveryOverrideAndLevel() throws {
        let text = try String(contentsOfFile: Self.path, encoding: .utf8)
        #expect(EnvironmentOverride.allCases.filter { !text.contains($0.rawValue) } == [])
        #expect(LogLevel.allCases.filter { !text.contains("\"\($0.rawValue)\"") } == [])
    }
}
