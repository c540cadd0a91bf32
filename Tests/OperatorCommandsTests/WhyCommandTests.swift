import ByteCoding
import Foundation
import KeyCrypto
import Records
import StorageSQLite
import TestSupport
import Testing

@testable import CommandSupport
@testable import OperatorCommands

@Suite(.tags(.startsProcesses)) struct WhyCommandTests {
    private static let id = "4be1c7a2d0396f58"
    private static let body = """
        {"source":"memory","request_id":"\(id)","time":"2026-01-31T12:00:00.000Z","event":"license_refused",\
        "code":"token_audience","cause":"the token is not meant for this server","explanation":"x",\
        "found":"aud \\"other\\"","expected":"aud \\"latchkey\\"","remedy":"y"}
        """
    private let fixture: DevelopmentFixture

    init() throws {
        fixture = try DevelopmentFixture()
    }

    private func server(_ status: String, _ body: String = "{}") throws -> OneAnswerServer {
        try OneAnswerServer(
            answer: Array("HTTP/1.1 \(status)\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)".utf8))
    }

    private func why(_ words: String...) async throws -> LatchkeyProcess {
        try await LatchkeyProcess(arguments: ["why"] + words)
    }

    /// A refusal, and what became of the key that was asked for.
    private func recordRefusal(
        of content: String = "movie-1", keyID: KeyID? = nil, code: String = "content_mismatch",
        cause: String = "no right of the token covers the content"
    ) throws {
        let loaded = try ConfiguredLedger(of: fixture.configuration)
        var appender = try LedgerAppender.open(path: fixture.folder.path("latchkey.db"), chain: loaded.chain)
        let license = LicenseID(milliseconds: 1_700_000_000_000, random: Bytes16(high: 0, low: 1))
        var refusal = LedgerEntry(
            kind: .licenseRefused, at: 1_700_000_000, license: license, keyID: keyID, content: content, detail: code)
        refusal.request = Self.id
        refusal.facts = RefusalFacts(found: "content movie-1", expected: "content movie-2")
        refusal.facts[.cause] = cause
        var deleted = LedgerEntry(kind: .keyDeleted, at: 1_600_000_000, license: license, content: "movie-1")
        deleted.actor = "user:eve"
        try appender.append([deleted, refusal], at: 1_700_000_000)
    }

    @Test func asksTheDaemonFirst() async throws {
        let server = try server("200 OK", Self.body)
        let run = try await why(Self.id.uppercased(), "--server", server.url + "/", "--token", "an-admin-token")
        #expect(run.status == 0 && run.messages.isEmpty, "\(run.messages)")
        #expect(run.output.contains("cause       the token is not meant for this server\n"))
        #expect(run.output.contains(#"found       aud "other""#) && run.output.contains("what to do  Compare iss"))
        #expect(server.request.hasPrefix("GET /v1/refusals/\(Self.id) HTTP/1.1\r\n"))
        #expect(server.request.contains("\r\nAuthorization: Bearer an-admin-token\r\n"))
    }

    /// The ledger has no trace ids, so it is not read.
    @Test func asksTheDaemonAboutATrace() async throws {
        try recordRefusal()
        let trace = "0af7651916cd43dd8448eb211c80319c"
        let server = try server("200 OK", Self.body)
        let run = try await why(trace.uppercased(), "--server", server.url, "--token", "an-admin-token")
        #expect(run.status == 0 && run.output.contains("request id  \(Self.id)\n"), "\(run.messages)")
        #expect(server.request.hasPrefix("GET /v1/refusals/\(trace) HTTP/1.1\r\n"))
        let absent = try self.server("404 Not Found")
        let none = try await why(trace, "--config", fixture.configuration, "--server", absent.url)
        #expect(none.status == 1 && none.output.isEmpty)
        #expect(none.messages.contains("no refusal of the trace \(trace) is known to the admin listener."))
    }

    /// With the token of the configuration; the ledger has what the daemon has forgotten.
    @Test func readsTheLedgerThen() async throws {
        try recordRefusal()
        let server = try server("404 Not Found")
        let run = try await why(Self.id, "--config", fixture.configuration, "--server", server.url, "--json")
        #expect(run.status == 0, "\(run.messages)")
        let object = try run.object()
        #expect(object["source"]?.string == "ledger" && object["code"]?.string == "content_mismatch")
        #expect(object["found"]?.string == "content movie-1" && object["expected"]?.string == "content movie-2")
        #expect(object["explanation"]?.string == "no right of the token covers the content")
        #expect(object["history"]?.string?.contains("by user:eve") == true)
        let token = try String(decoding: fixture.folder.read("secrets/admin-token"), as: UTF8.self)
        #expect(server.request.contains("Bearer \(token.trimmingCharacters(in: .whitespacesAndNewlines))\r\n"))
    }

    /// A daemon that is down, and one that does not take the token, are no reason to give up.
    @Test func readsTheLedgerOfADaemonThatDoesNotAnswer() async throws {
        try recordRefusal()
        let listener = try LoopbackListener()
        let url = "http://127.0.0.1:\(listener.port)"
        close(listener.descriptor)
        let run = try await why(Self.id, "--config", fixture.configuration, "--server", url)
        #expect(run.status == 0 && run.messages.contains("no daemon answers at \(url)"), "\(run.messages)")
        #expect(run.output.contains("history     the key was deleted at 2020-09-13T12:26:40Z by user:eve"))
        let refusing = try server("401 Unauthorized")
        let other = try await why(Self.id, "--config", fixture.configuration, "--server", refusing.url)
        #expect(other.status == 0 && other.messages.contains("does not accept the admin token"), "\(other.messages)")
    }

    /// On Linux, the address 0.0.0.0 leads to this host, but it is not an address that only this host has.
    @Test func givesNoTokenOfTheConfigurationToAnotherHost() async throws {
        try recordRefusal()
        let server = try server("401 Unauthorized")
        let elsewhere = server.url.replacing("127.0.0.1", with: "0.0.0.0")
        let run = try await why(Self.id, "--config", fixture.configuration, "--server", elsewhere)
        #expect(run.status == 0 && run.messages.contains("asks for an admin token: give it by --token"))
        #expect(server.request.contains("GET /v1/refusals/") && !server.request.contains("Bearer"), "\(server.request)")
    }

    /// The row of a key that was asked for by its key id names the key, and another content.
    @Test func saysWhatBecameOfAKeyThatWasAskedForByItsID() async throws {
        let kid = "2f6c1d0e-7d3c-4c5e-9c57-0d6a5f0f6a11"
        let made = try await LatchkeyProcess(
            "keys", "create", "--config", fixture.configuration, "--content", "movie-1", "--kid", kid)
        #expect(made.status == 0, "\(made.messages)")
        try recordRefusal(
            of: kid, keyID: KeyID(parsing: kid), cause: "the asset id names no single live key, and no right names it")
        for (options, words) in [([], "was withdrawn"), (["--for-good"], "was deleted")] as [([String], String)] {
            let done = try await LatchkeyProcess(
                arguments: ["keys", "delete", "--config", fixture.configuration, "--kid", kid] + options)
            #expect(done.status == 0, "\(done.messages)")
            let server = try server("404 Not Found")
            let run = try await why(Self.id, "--config", fixture.configuration, "--server", server.url)
            #expect(run.status == 0 && run.output.contains("history     the key \(kid) \(words) at "), "\(run.output)")
            #expect(run.output.contains("what to do  The asset id is a key id, and no live key has it"))
            #expect(run.output.contains("refused     content_mismatch (license_refused), 2023-11-14T22:13:20Z\n"))
        }
    }

    /// A name that fits several keys is shown with these keys.
    @Test func listsTheKeysThatANameFits() async throws {
        let kids = ["2f6c1d0e-7d3c-4c5e-9c57-0d6a5f0f6a11", "2f6c1d0e-7d3c-4c5e-9c57-0d6a5f0f6a12"]
        for (kid, track) in zip(kids, ["SD", "HD"]) {
            let made = try await LatchkeyProcess(
                "keys", "create", "--config", fixture.configuration, "--content", "movie-1", "--another", "--kid", kid,
                "--track", track)
            #expect(made.status == 0, "\(made.messages)")
        }
        try recordRefusal(
            code: "key_not_found", cause: "several live keys fit the asset id, which does not say which one is meant")
        let server = try server("404 Not Found")
        let run = try await why(Self.id, "--config", fixture.configuration, "--server", server.url)
        #expect(run.status == 0, "\(run.messages)")
        #expect(run.output.contains("candidates  \(kids[0]) (track SD), \(kids[1]) (track HD)\n"), "\(run.output)")
        #expect(run.output.contains("what to do  Several keys fit"), "\(run.output)")
    }

    @Test func saysThatNothingIsKnown() async throws {
        try recordRefusal()
        let server = try server("404 Not Found")
        let run = try await why("0000000000000000", "--config", fixture.configuration, "--server", server.url)
        #expect(run.status == 1 && run.output.isEmpty)
        #expect(run.messages.contains("no refusal of the request 0000000000000000 is known"))
    }

    /// The copies are searched for one request, in a database that all nodes share.
    @Test func refusesCopiesThatItCannotSearch() async throws {
        let latest = try await why("--config", fixture.configuration, "--shared")
        #expect(latest.status == 2 && latest.messages.contains("--shared needs an ID"), "\(latest.messages)")
        let own = try await why(Self.id, "--config", fixture.configuration, "--shared")
        #expect(own.status == 1 && own.output.isEmpty)
        #expect(own.messages.contains("storage.url does not name a PostgreSQL database"), "\(own.messages)")
    }

    @Test(arguments: [
        ["0123", "--server", "http://127.0.0.1:1"], [id + "00", "--server", "http://127.0.0.1:1"], [id],
        [id, "--server", "ftp://127.0.0.1"], [],
        [id, "--server", "http://127.0.0.1:1", "--token", "two words"],
    ])
    func refusesOtherArguments(words: [String]) async throws {
        let run = try await LatchkeyProcess(arguments: ["why"] + words)
        #expect(run.status == 2 || run.status == 1 && run.messages.contains("--token"), "\(run.messages)")
        #expect(run.output.isEmpty)
    }
}
