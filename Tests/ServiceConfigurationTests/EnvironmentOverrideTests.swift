import POSIXSockets
import Telemetry
import TestSupport
import Testing

@testable import ServiceConfiguration

@Suite struct EnvironmentOverrideTests {
    private static let text = ConfigurationText.make(
        rest: """
            node: "from-file", storage: { url: "sqlite:file.db" }, logging: { level: "error" },
            listeners: {
              public: [{ address: "127.0.0.1:1" }, { address: "127.0.0.1:2" }],
              admin: [{ address: "127.0.0.1:3", tokenFile: "/token" }, { address: "127.0.0.1:4" }],
            },
            """)

    @Test func replacesSingleValues() throws {
        let environment = [
            "LATCHKEY_NODE": "from-environment", "LATCHKEY_STORAGE_URL": "sqlite:other.db",
            "LATCHKEY_LOG_LEVEL": "debug",
        ]
        let file = try ConfigurationText.parse(Self.text, environment: environment)
        #expect(file.configuration.node == "from-environment")
        #expect(file.configuration.storage.databasePath == "/etc/latchkey/other.db")
        #expect(file.configuration.logging.level == .debug)
        #expect(file.warnings.isEmpty)
    }

    @Test func replacesThePublicListenersByOne() throws {
        let listeners = try ConfigurationText.parse(Self.text, environment: ["LATCHKEY_LISTEN": "127.0.0.1:0"])
            .configuration.listeners
        #expect(listeners.public.map(\.address.description) == ["127.0.0.1:0"])
        #expect(listeners.admin.count == 2)
    }

    @Test func replacesTheAdminListenersByOneWithTheFirstToken() throws {
        let listeners = try ConfigurationText.parse(Self.text, environment: ["LATCHKEY_ADMIN_LISTEN": "[::1]:0"])
            .configuration.listeners
        #expect(listeners.public.count == 2)
        #expect(listeners.admin.map(\.address.description) == ["[::1]:0"])
        #expect(listeners.admin.map(\.tokenFile) == [.file(path: "/token")])
    }

    @Test func addsAnAdminListenerWhereThereIsNone() throws {
        let text = ConfigurationText.make(rest: "listeners: { admin: [] }")
        let listeners = try ConfigurationText.parse(text, environment: ["LATCHKEY_ADMIN_LISTEN": "127.0.0.1:0"])
            .configuration.listeners
        #expect(listeners.admin.map(\.tokenFile) == [nil])
    }

    @Test(arguments: EnvironmentOverride.allCases)
    func namesTheVariableOfABadValue(variable: EnvironmentOverride) throws {
        let problems = ConfigurationText.problems(Self.text, environment: [variable.rawValue: "not good"])
        #expect(problems.map(\.path) == [variable.rawValue])
        #expect(problems.map(\.position) == [nil])
        guard case .invalidValue = problems.first?.fault else {
            Issue.record("another fault: \(problems)")
            return
        }
    }

    @Test func checksTheFileEvenWhereItIsOverridden() {
        let problems = ConfigurationText.problems(
            ConfigurationText.make(rest: #"node: "a b""#), environment: ["LATCHKEY_NODE": "good"])
        #expect(problems.map(\.path) == ["node"])
    }

    @Test func warnsOfUnknownVariables() throws {
        let environment = ["LATCHKEY_LISTN": "x", "LATCHKEY_SOMETHING_ELSE": "x", "OTHER": "x"]
        #expect(
            try ConfigurationText.parse(Self.text, environment: environment).warnings == [
                .unknownVariable(name: "LATCHKEY_LISTN", nearest: "LATCHKEY_LISTEN"),
                .unknownVariable(name: "LATCHKEY_SOMETHING_ELSE", nearest: nil),
            ])
    }

    @Test(arguments: [
        "LATCHKEY_VECTORS", "LATCHKEY_BENCHMARKS", "LATCHKEY_BIN", "LATCHKEY_SETUP", "LATCHKEY_URL", "LATCHKEY_TOKEN",
        "LATCHKEY_TEST_SEED",
    ])
    func knowsTheVariablesOfTestsAndScripts(name: String) throws {
        #expect(try ConfigurationText.parse(Self.text, environment: [name: "x"]).warnings.isEmpty)
    }

    @Test func knowsTheVariablesThatTheConfigurationNames() throws {
        let text = ConfigurationText.make(rest: #"keys: { keyEncryptionKey: "environment:LATCHKEY_KEK" }"#)
        #expect(try ConfigurationText.parse(text, environment: ["LATCHKEY_KEK": "/kek"]).warnings.isEmpty)
    }

    @Test func knowsTheVariablesOfEveryFileOfACredential() throws {
        let names = ["BUNDLE", "KEY1", "KEY2", "PHRASE", "DATA"].map { "LATCHKEY_X_\($0)" }
        let credential = """
            name: "a", certificateBundle: "environment:\(names[0])", privateKey1024: "environment:\(names[1])", \
            privateKey2048: "environment:\(names[2])", privateKeyPassphrase: "environment:\(names[3])", \
            module: { library: "/l", data: "environment:\(names[4])" }
            """
        let environment = Dictionary(uniqueKeysWithValues: names.map { ($0, "/x") })
        let file = try ConfigurationText.parse(
            ConfigurationText.make(credential: credential), environment: environment)
        #expect(file.warnings.isEmpty)
    }

    /// Sources in lists, of TLS and of issuers are fields like all others.
    @Test func knowsTheVariablesOfFieldsAnywhere() throws {
        let text = ConfigurationText.make(
            issuer: #"issuer: "i", keysFile: "environment:LATCHKEY_X_KEYS""#,
            entitlement: """
                sessions: { key: "environment:LATCHKEY_X_S", retiredKeys: ["a", "environment:LATCHKEY_X_OLD"] }
                """)
        let names = ["LATCHKEY_X_S", "LATCHKEY_X_OLD", "LATCHKEY_X_KEYS"]
        let environment = Dictionary(uniqueKeysWithValues: (names + ["LATCHKEY_SOMETHING_ELSE"]).map { ($0, "/x") })
        let file = try ConfigurationText.parse(text, environment: environment)
        #expect(file.warnings == [.unknownVariable(name: "LATCHKEY_SOMETHING_ELSE", nearest: nil)])
    }
}
