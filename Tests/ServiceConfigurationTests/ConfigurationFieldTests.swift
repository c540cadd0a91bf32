import Foundation
import TestSupport
import Testing

@testable import ServiceConfiguration

/// The table of fields that the readers collect. It must be complete and printable, and must say correctly which fields
/// a reload applies.
@Suite struct ConfigurationFieldTests {
    /// A configuration with every section and every kind of list, and with as many fields as can be combined.
    static let rich = """
        {
          publicURL: "https://keys.example.com",
          listeners: {
            public: [{ address: "127.0.0.1:8443",
              tls: { certificate: "tls/chain.pem", privateKey: "tls/key.pem", clientCA: "tls/ca.pem",
                ticketKeys: ["secrets/ticket-key", "secrets/ticket-key-1"],
                additional: [{ certificate: "tls/other.pem", privateKey: "tls/other-key.pem" }] },
              proxyProtocol: true, trustedProxies: ["10.0.0.0/8", "unix"] }],
            admin: [{ address: "127.0.0.1:9443", tokenFile: "secrets/admin-token",
              tls: { certificate: "tls/admin.pem", privateKey: "tls/admin-key.pem", clientCA: "tls/admin-ca.pem" },
              tokens: [{ name: "alice", file: "secrets/admin-token-alice", roles: ["metrics"] }],
              clients: [{ name: "bob", clientCertificates: ["CN=bob,O=Example"], roles: ["metrics"] }],
              hosts: ["keys.internal"] }],
          },
          cors: { origins: ["https://www.example"] },
          fairplay: {
            credentials: [
              { name: "main", certificate1024: "fairplay/c1.der", privateKey1024: "fairplay/k1.pem",
                certificate2048: "fairplay/c2.der", privateKey2048: "fairplay/k2.pem", applicationSecret: "fairplay/ask" },
              { name: "bundle", certificateBundle: "fairplay/bundle.bin", privateKey1024: "fairplay/k3.pem",
                privateKey2048: "fairplay/k4.pem", privateKeyPassphrase: "secrets/phrase",
                module: { library: "ladder.so", data: "module.bin", user: "latchkey-ladder" } },
              { name: "apple-26", privateKeyPassphrase: "secrets/sdk-phrase",
                sdk: { library: "libfpssdk.so", certificates: "certificates.json", user: "latchkey-sdk" } },
            ],
          },
          keys: {
            keyEncryptionKeyVersion: 2, olderKeyEncryptionKeys: [{ version: 1, key: "secrets/older" }],
            masterSecret: "secrets/master",
          },
          ledger: { keyVersion: 3, olderKeys: [{ version: 1, key: "secrets/older-ledger" }] },
          storage: { url: "postgresql://latchkey@localhost/latchkey", password: "secrets/password" },
          entitlement: {
            issuers: [
              { issuer: "https://portal.example", keys: [{ kid: "k1", algorithm: "ES256", key: "secrets/token.pem" }],
                keysFile: "secrets/portal-keys.json", contents: ["movie-1"] },
              { issuer: "expressplay", dialect: "expressplay", audience: "play",
                keys: [{ kid: "1", algorithm: "A256GCM", key: "secrets/sealing" }] },
              { issuer: "fetched", keysURL: "https://portal.internal/keys", keysHosts: ["portal.internal"],
                keysAuthorities: "tls/portal-ca.pem" },
              { issuer: "https://accounts.example", discover: true,
                keys: [{ kid: "k2", algorithm: "ES256", key: "secrets/token.pem" }] },
            ],
            ignoredSources: ["query"], tokenHeaders: ["x-token"], countryField: "x-country",
            profiles: { "HD.1": { lease: "5m", tracks: { HD: { hdcp: "type1" } } } },
            limitsForEveryLicense: { securityLevel: "baseline" },
            sessions: { key: "secrets/session", retiredKeys: ["secrets/session-1"] },
            callback: { url: "https://portal.example/entitle", secret: "secrets/callback",
              identity: { certificate: "tls/client.pem", privateKey: "tls/client-key.pem" },
              rates: { all: { perSecond: 10 }, perAddress: { perSecond: 5 } } },
          },
          expressPlay: {
            customers: [{ name: "shop", issuer: "expressplay", authenticator: "secrets/shop", tokensPerDay: 1000,
              rate: { perSecond: 10 }, contents: ["live/*"] }],
            sees: { customer: "shop", authenticator: "secrets/sees" },
          },
          packagers: [{ name: "packager-1", user: "tenant-1", secret: "secrets/packager-1",
            previousSecret: "secrets/packager-1-previous",
            clientCertificates: ["CN=packager,O=Example", "abababababababababababababababababababababababababababababababab"],
            scopes: ["import", "read"], contents: ["live/*"], recipients: ["packagers/packager-1.pem"],
            rate: { perSecond: 10 } }],
          limits: { rates: { all: { perSecond: 100 }, perAddress: { perSecond: 10 }, perSubject: { perSecond: 5 } } },
        }
        """

    private static func fields() throws -> [ConfigurationField] { try ConfigurationText.parse(rich).fields }

    @Test func printsTheConfigurationInForceSoThatItReadsTheSameAgain() throws {
        let file = try ConfigurationText.parse(Self.rich, environment: ["LATCHKEY_NODE": "other"])
        let printed = try ConfigurationText.parse(file.printed)
        #expect(file.configuration.node == "other")
        #expect(printed.configuration == file.configuration)
        #expect(file.printed.contains(#"node: "other",  // environment  // restart"#))
        #expect(file.printed.contains(#"// leeway: "5s","#))
    }

    @Test func printsFilesByTheirAbsolutePathsInListsToo() throws {
        #expect(try ConfigurationText.parse(Self.rich).printed.contains(#"["/etc/latchkey/secrets/session-1"]"#))
    }

    /// So the printed text means the same at another place.
    @Test func printsAbsolutePathsForAFileWithARelativePath() throws {
        let file = try ConfigurationFile(
            parsing: Array(ConfigurationText.make().utf8), path: "folder/latchkey.json5", environment: [:])
        let folder = FileManager.default.currentDirectoryPath + "/folder/"
        #expect(file.printed.contains("\"\(folder)"))
        #expect(!file.printed.contains("\"folder/"))
    }

    @Test(arguments: [
        rich, ConfigurationText.make(),
        ConfigurationText.make(
            rest: """
                listeners: {
                  public: [{ address: "127.0.0.1:1", proxyProtocol: true, trustedProxies: ["unix"] }, { address: "127.0.0.1:2" }],
                  admin: [],
                },
                """),
    ])
    func printsWhatVariablesReplace(text: String) throws {
        let file = try ConfigurationText.parse(
            text,
            environment: [
                "LATCHKEY_LISTEN": "127.0.0.1:7001", "LATCHKEY_ADMIN_LISTEN": "[::1]:7002",
                "LATCHKEY_STORAGE_URL": "postgresql://other@localhost/other",
            ])
        #expect(file.configuration.listeners.public.map(\.address.description) == ["127.0.0.1:7001"])
        #expect(try ConfigurationText.parse(file.printed).configuration == file.configuration)
        #expect(file.printed.contains(#"address: "127.0.0.1:7001",  // environment  // restart"#))
        let paths = file.fields.map(\.path)
        #expect(Set(paths).count == paths.count)
    }

    @Test func namesEachFieldOnce() throws {
        let paths = try Self.fields().map(\.path)
        #expect(paths.count > 150)
        #expect(Dictionary(grouping: paths) { $0 }.filter { $1.count > 1 }.keys.sorted() == [])
    }

    /// Changes each field. The half of the configuration that changes must be the one that the field's effect names. So
    /// a new field cannot be missing from both halves, and cannot have the wrong effect.
    @Test func eachChangeConcernsTheHalfThatTheTableNames() throws {
        let file = try ConfigurationText.parse(Self.rich)
        var unchanged: [String] = []
        for (index, field) in file.fields.enumerated() {
            guard let other = Self.change(index, of: file) else {
                if field.isValue { unchanged.append(field.path) }
                continue
            }
            let isFixedChanged = other.configuration.fixed != file.configuration.fixed
            let isLiveChanged = other.configuration.live != file.configuration.live
            let named = file.fields.pathsThatNeedRestart(toBecome: other.fields)
            switch field.effect {
            case .restart: #expect(isFixedChanged, "\(field.path) needs a restart, and is not in FixedSettings")
            // A field with an effect on other defaults may change a field that needs a restart. Then that field is
            // named.
            case .reload:
                #expect(isLiveChanged && isFixedChanged == !named.isEmpty, "\(field.path) is not in LiveSettings")
            }
            #expect(named.contains(field.path) == (field.effect == .restart), "\(field.path): \(named)")
        }
        // Each of these can only be changed together with another field.
        #expect(
            Set(unchanged) == [
                "listeners.admin[0].proxyProtocol", "entitlement.issuers[1].dialect", "expressPlay.customers[0].name",
                "expressPlay.sees.customer", "entitlement.issuers[0].discover", "entitlement.issuers[1].discover",
                "entitlement.issuers[2].discover",
            ])
    }

    @Test func namesNothingIfNothingChanged() throws {
        #expect(try Self.fields().pathsThatNeedRestart(toBecome: Self.fields()) == [])
    }

    /// Returns the configuration with another value of one field, or nil if no candidate is accepted and makes a
    /// difference.
    private static func change(_ index: Int, of file: ConfigurationFile) -> ConfigurationFile? {
        for candidate in file.fields[index].candidates {
            var fields = file.fields
            fields[index] = fields[index].with(candidate)
            guard let other = try? ConfigurationText.parse(ConfigurationFile.text(of: fields)) else { continue }
            if other.configuration != file.configuration { return other }
        }
        return nil
    }
}

extension ConfigurationField {
    /// Whether the field has a value, and is not a section or a list of sections.
    fileprivate var isValue: Bool {
        switch value {
        case .text: true
        case .absent, .section, .sections: false
        }
    }

    fileprivate func with(_ text: String) -> ConfigurationField {
        ConfigurationField(
            place: place, expected: expected, example: example, value: .text(text), origin: .file, effect: effect)
    }

    /// Values to try for the field, as JSON.
    fileprivate var candidates: [String] {
        guard case .text(let text) = value else { return [] }
        let words = expected.split(separator: "\"").map(String.init).filter { !$0.contains(",") && !$0.contains(" ") }
        var candidates =
            words.map { "\"\($0)\"" } + [example, "true", "false", "\"7s\"", "\"77s\"", "\"3h\"", "\"2d\""]
        if let number = Int64(text) {
            candidates += ["\(number + 1)", "\(number + 2)", "\(number - 1)", "\(number * 2)"]
        }
        if text.hasPrefix("\"") {
            let inner = text.dropFirst().dropLast()
            candidates += ["\"\(inner)x\"", "\"x\(inner)\"", "\"\(inner)?sslmode=require\""]
            candidates += ["\"\(inner.dropLast())7\"", "\"\(inner)/x\""]
        }
        if text.hasPrefix("[") {
            candidates += ["[\(example.trimmingBrackets)]", "[2]", "[\"x-other\"]", "[\"/other/\"]"]
            candidates.append("[\"https://other.example\"]")
        }
        return candidates.filter { $0 != text }
    }
}

extension String {
    fileprivate var trimmingBrackets: Substring { hasPrefix("[") ? dropFirst().dropLast() : self[...] }
}

extension [ConfigurationField] {
    /// The paths of the fields that need a restart and whose value differs in `others`.
    fileprivate func pathsThatNeedRestart(toBecome others: [ConfigurationField]) -> [String] {
        filter { $0.effect == .restart }.pathsThatDiffer(from: others.filter { $0.effect == .restart })
    }
}
