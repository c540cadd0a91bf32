import KeyCrypto
import Licensing
import ServiceConfiguration
import Telemetry
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

/// The result of a reload, before and after it is in force.
@Suite struct RuleBookTests {
    private let folder: ConfigurationFolder

    init() throws {
        folder = try ConfigurationFolder()
        for name in ["a", "b", "c"] { try folder.write("secrets/\(name)", String(repeating: name, count: 16)) }
    }

    private func load(_ rest: String, entitlement: String = "") throws -> LoadedConfiguration {
        let text = ConfigurationText.make(entitlement: entitlement, rest: rest)
        let file = try ConfigurationFile(
            parsing: Array(text.utf8), path: "\(folder.path)/latchkey.json5", environment: [:])
        return try .load(file, environment: [:])
    }

    private func book(of loaded: LoadedConfiguration) throws -> RuleBook {
        let logger = Logger(level: .error, sink: MemoryLogSink())
        return try RuleBook(loaded, modules: LadderModules(loaded, for: [], logger: logger))
    }

    private func loadAdmin(_ listeners: String) throws -> LoadedConfiguration {
        try load("listeners: { admin: [\(listeners)] },")
    }

    /// Each listener's tokens, as their names and first characters.
    private func texts(_ credentials: [AdminCredentials]) -> [String] {
        credentials.map { credentials in
            credentials.tokens.map {
                $0.name + ":" + String(decoding: $0.secret.bytes.revealed().prefix(1), as: UTF8.self)
            }
            .joined(separator: " ")
        }
    }

    private static let unguarded = #"{ address: "127.0.0.1:0" }"#
    private static let guardedByA = #"{ address: "127.0.0.1:0", tokenFile: "secrets/a" }"#

    /// Two listeners may both have port 0, so the address alone does not tell them apart.
    @Test func listenersOfOneAddressKeepTheirOwnTokens() throws {
        let loaded = try loadAdmin("\(Self.unguarded), \(Self.guardedByA)")
        let book = try book(of: loaded)
        #expect(texts(book.cell.current.administration.credentials) == ["", "tokenFile:a"])
        #expect(texts(try book.draft(loaded).adminCredentials) == ["", "tokenFile:a"])
    }

    @Test func tokensFollowTheAddressAndStayWithoutOne() throws {
        let book = try book(
            of: try loadAdmin(
                #"{ address: "127.0.0.1:1", tokenFile: "secrets/a" }, { address: "127.0.0.1:2", tokenFile: "secrets/b" }"#
            ))
        let new = try loadAdmin(#"{ address: "127.0.0.1:3" }, { address: "127.0.0.1:2", tokenFile: "secrets/c" }"#)
        let draft = try book.draft(new)
        #expect(texts(book.cell.current.administration.credentials) == ["tokenFile:a", "tokenFile:b"])
        book.adopt(draft)
        #expect(texts(book.cell.current.administration.credentials) == ["tokenFile:a", "tokenFile:c"])
        #expect(draft.fieldsThatNeedRestart == ["listeners.admin[0].address"])
    }

    /// A session ends with its token, also if the token comes back before the session is used again.
    @Test func aReloadEndsTheSessionsOfRemovedTokens() throws {
        let both = #"tokenFile: "secrets/a", tokens: [{ name: "bob", file: "secrets/b" }]"#
        let old = try loadAdmin(#"{ address: "127.0.0.1:1", \#(both) }"#)
        let book = try book(of: old)
        let credentials = try #require(book.cell.current.administration.credentials.first)
        let ids = try credentials.tokens.map { try book.adminSessions.begin(of: $0, at: 0).id }
        book.adopt(try book.draft(try loadAdmin(#"{ address: "127.0.0.1:1", tokenFile: "secrets/a" }"#)))
        book.adopt(try book.draft(old))
        let now = try #require(book.cell.current.administration.credentials.first)
        #expect(ids.map { book.adminSessions.holder(of: $0, at: 0, among: now)?.token.name } == ["tokenFile", nil])
    }

    /// A listener must not get the certificates of another one, which might not demand client certificates.
    @Test func certificatesFollowTheAddress() throws {
        let book = try book(
            of: try load(#"listeners: { public: [{ address: "127.0.0.1:1" }, { address: "127.0.0.1:2" }] },"#))
        let new = try load(#"listeners: { public: [{ address: "127.0.0.1:3" }, { address: "127.0.0.1:1" }] },"#)
        #expect(try book.draft(new).publicListeners.map { $0?.address.description } == ["127.0.0.1:1", nil])
    }

    /// The service object keeps its cached answers through a reload, unless its configuration changes.
    @Test func theCallbackServiceStaysUntilItChanges() throws {
        let entitlement = #"callback: { url: "https://portal.example/entitle", secret: "secrets/callback" },"#
        try folder.write("secrets/callback", String(repeating: "a", count: 32))
        let book = try book(of: try load("", entitlement: entitlement))
        let first = try #require(book.cell.current.license.callback)

        book.adopt(try book.draft(try load(#"logging: { level: "error" },"#, entitlement: entitlement)))
        #expect(book.cell.current.license.callback === first)

        try folder.write("secrets/callback", String(repeating: "b", count: 32))
        book.adopt(try book.draft(try load("", entitlement: entitlement)))
        let second = try #require(book.cell.current.license.callback)
        #expect(second !== first && second.counts === first.counts)

        book.adopt(try book.draft(try load("")))
        #expect(book.cell.current.license.callback == nil && book.callback.current == nil)
    }
}
