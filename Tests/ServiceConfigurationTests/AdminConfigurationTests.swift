import POSIXSockets
import PackagerAPI
import TestSupport
import Testing

@testable import ServiceConfiguration

/// The credentials of admin listeners, their roles, and the warnings about tokens without roles.
@Suite struct AdminConfigurationTests {
    private static let fingerprint = String(repeating: "0a", count: 32)
    private static let authorities =
        #"tls: { certificate: "tls/c.pem", privateKey: "tls/k.pem", clientCA: "tls/ca.pem" }"#

    private let folder: ConfigurationFolder

    init() throws {
        folder = try ConfigurationFolder()
        try folder.write("secrets/alice", "the-secret-of-alice")
        try folder.write("secrets/bob", "the-secret-of-bob")
    }

    private static func text(_ fields: String) -> String {
        ConfigurationText.make(rest: #"listeners: { admin: [{ address: "127.0.0.1:0", \#(fields) }] },"#)
    }

    @Test func readsTheRolesOfEachToken() throws {
        let text = Self.text(
            """
            tokenFile: "secrets/admin-token",
            tokens: [{ name: "alice", file: "secrets/alice", roles: ["support", "metrics"] },
                     { name: "bob", file: "secrets/bob" }]
            """)
        let loaded = try folder.load(text)
        let administrators = loaded.adminListeners[0].administrators
        #expect(administrators.tokens.map(\.name) == ["tokenFile", "alice", "bob"])
        #expect(administrators.tokens.map(\.roles) == [[.admin], [.support, .metrics], [.admin]])
        #expect(administrators.sessionIdle == .seconds(900) && !administrators.isEmpty)
        #expect(loaded.publicListeners.allSatisfy { $0.administrators.isEmpty })
    }

    /// Once for each listener, so that a log has no line for each token.
    @Test func warnsAboutTokensWithoutRoles() throws {
        let listeners = """
            { address: "127.0.0.1:1", tokenFile: "a", tokens: [{ name: "b", file: "b" }, { name: "c", file: "c",
              roles: ["admin"] }] },
            { address: "127.0.0.1:2", tokens: [{ name: "d", file: "d", roles: ["metrics"] }] },
            { address: "127.0.0.1:3" }, { address: "127.0.0.1:4", tokenFile: "e" }
            """
        let file = try ConfigurationText.parse(
            ConfigurationText.make(rest: "listeners: { admin: [\(listeners)] },"))
        let warnings = AdminRolesWarning.warnings(about: file.configuration)
        #expect(
            warnings == [
                AdminRolesWarning(listener: "listeners.admin[0]", tokens: ["tokenFile", "b"]),
                AdminRolesWarning(listener: "listeners.admin[3]", tokens: ["tokenFile"]),
            ])
        #expect("\(warnings[0])".contains("tokenFile, b") && "\(warnings[0])".contains("admin"))
    }

    @Test func warnsAboutShortTokens() throws {
        try folder.write("secrets/short", String(repeating: "s", count: 31) + "\n")
        try folder.write("secrets/long", String(repeating: "l", count: 32) + "\n")
        let text = Self.text(
            """
            tokenFile: "secrets/short",
            tokens: [{ name: "long", file: "secrets/long", roles: ["metrics"] },
                     { name: "alice", file: "secrets/alice", roles: ["metrics"] }]
            """)
        let warnings = try folder.load(text).shortSecrets
        #expect(warnings.map(\.field) == ["listeners.admin[0].tokenFile", "listeners.admin[0].tokens[1].file"])
    }

    @Test func readsClientsWithCertificates() throws {
        let clients = """
            [{ name: "carol", clientCertificates: ["CN=carol,O=Example", "\(Self.fingerprint.uppercased())"],
               roles: ["security"] }]
            """
        let file = try ConfigurationText.parse(Self.text("\(Self.authorities), clients: \(clients)"))
        let listener = file.configuration.listeners.admin[0]
        #expect(listener.isGuarded && AdminRolesWarning.warnings(about: file.configuration).isEmpty)
        let client = try #require(listener.clients.first)
        #expect(client.roles == [.security])
        #expect(
            client.clientCertificates == [
                .subject("CN=carol,O=Example"), .sha256([UInt8](repeating: 10, count: 32)),
            ])
    }

    @Test func findsTheHolderOfACertificate() {
        let ten = [UInt8](repeating: 10, count: 32)
        let credentials = AdminCredentials(clients: [
            .init(name: "carol", certificates: [.subject("CN=carol")], roles: [.support]),
            .init(name: "dave", certificates: [.sha256(ten)], roles: [.admin]),
        ])
        #expect(credentials.holder(subject: "CN=carol", sha256: [])?.name == "carol")
        #expect(credentials.holder(subject: "CN=x", sha256: ten)?.name == "dave")
        #expect(credentials.holder(subject: "CN=x", sha256: []) == nil)
        #expect(credentials.holder(subject: "CN=carol", sha256: ten) == nil, "it is of two clients")
    }

    @Test(arguments: [
        (#"tokens: [{ name: "a", file: "f", roles: [] }]"#, "tokens[0].roles"),
        (#"tokens: [{ name: "a", file: "f", roles: ["root"] }]"#, "tokens[0].roles[0]"),
        (#"tokens: [{ name: "a", file: "f", roles: "admin" }]"#, "tokens[0].roles"),
        (#"tokens: [{ name: "a", file: "f", roles: ["admin", "admin"] }]"#, "tokens[0].roles[1]"),
        (#"tokens: [{ name: "a", file: "f", role: ["admin"] }]"#, "tokens[0].role"),
        (#"\#(authorities), clients: [{ name: "a", clientCertificates: ["CN=a"] }]"#, "clients[0].roles"),
        (#"\#(authorities), clients: [{ name: "a", roles: ["admin"] }]"#, "clients[0].clientCertificates"),
        (
            #"\#(authorities), clients: [{ name: "a", clientCertificates: ["a"], roles: ["admin"] }]"#,
            "clients[0].clientCertificates[0]"
        ),
        (#"clients: [{ name: "a", clientCertificates: ["CN=a"], roles: ["admin"] }]"#, "clients"),
        (
            #"tls: { certificate: "c", privateKey: "k" }, clients: [{ name: "a", clientCertificates: ["CN=a"], roles: ["admin"] }]"#,
            "clients"
        ),
        (
            #"\#(authorities), clients: [{ name: "a", clientCertificates: ["CN=a"], roles: ["admin"] }, { name: "a", clientCertificates: ["CN=b"], roles: ["admin"] }]"#,
            "clients[1].name"
        ),
        (
            #"\#(authorities), clients: [{ name: "a", clientCertificates: ["CN=a"], roles: ["admin"] }, { name: "b", clientCertificates: ["CN=c", "CN=a"], roles: ["admin"] }]"#,
            "clients[1].clientCertificates[1]"
        ),
    ])
    func refusesWhatItCannotMean(fields: String, place: String) {
        #expect(ConfigurationText.problems(Self.text(fields)).map(\.path) == ["listeners.admin[0].\(place)"])
    }

    /// The first of two tokens with one secret decides, so the roles of the second one would never count.
    @Test func oneSecretHasOneSetOfRoles() throws {
        func faults(_ roles: String) -> [String: ConfigurationFault] {
            let text = Self.text(
                """
                tokenFile: "secrets/alice", tokens: [{ name: "alice", file: "secrets/alice"\(roles) }]
                """)
            return Dictionary(folder.problems(text).map { ($0.path, $0.fault) }) { first, _ in first }
        }
        #expect(faults("").isEmpty && faults(#", roles: ["admin"]"#).isEmpty)
        #expect(
            faults(#", roles: ["metrics"]"#) == [
                "listeners.admin[0].tokens[0].file": .duplicate(of: "listeners.admin[0].tokenFile")
            ])
    }

    /// A listener that other machines can reach is guarded by certificates alone, too.
    @Test func clientsGuardAListener() {
        let text = ConfigurationText.make(
            fairplay: "allowTestCredentials: true",
            rest: """
                listeners: { admin: [{ address: "0.0.0.0:0", \(Self.authorities),
                  clients: [{ name: "a", clientCertificates: ["CN=a"], roles: ["admin"] }] }] },
                """)
        let faults = folder.problems(text).map(\.fault)
        #expect(!faults.isEmpty, "the TLS files are not there")
        #expect(!faults.contains(.adminTokenMissing(.internet(.v4(0), port: 0))))
    }
}
