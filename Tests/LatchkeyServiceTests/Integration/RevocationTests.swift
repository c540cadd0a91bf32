import ByteCoding
import Entitlements
import FairPlay
import Foundation
import POSIXSockets
import TestSupport
import Testing

/// Revocations of a running daemon with SQLite.
@Suite(.tags(.startsProcesses)) struct RevocationTests {
    private let fixture: RevocationFixture

    init() throws {
        fixture = try RevocationFixture()
    }

    private struct Case {
        let kind: String
        let value: String
        let isIssuersOwn: Bool
        let code: String
        /// Whether the token alone shows the revocation, so that no RSA operation is spent.
        let isCheap: Bool
    }

    private func cases() throws -> [Case] {
        let hardware = Hexadecimal.encode(fixture.hardware.bytes)
        return [
            Case(kind: "jti", value: "t-1", isIssuersOwn: true, code: "token_revoked", isCheap: true),
            Case(kind: "kid", value: "development-1", isIssuersOwn: false, code: "kid_revoked", isCheap: true),
            Case(
                kind: "iss", value: RevocationFixture.issuer, isIssuersOwn: false, code: "subject_disabled",
                isCheap: true),
            Case(kind: "sub", value: "viewer-7", isIssuersOwn: true, code: "subject_disabled", isCheap: true),
            Case(kind: "hu", value: hardware, isIssuersOwn: false, code: "device_revoked", isCheap: false),
            Case(kind: "device", value: "box-7", isIssuersOwn: true, code: "device_revoked", isCheap: true),
            Case(
                kind: "content", value: DaemonFixture.content, isIssuersOwn: false, code: "content_mismatch",
                isCheap: false),
            Case(kind: "session", value: "s-1", isIssuersOwn: true, code: "session_killed", isCheap: true),
        ]
    }

    private func operations() throws -> Double {
        try #require(try fixture.daemon.metrics()["latchkey_rsa_operations_total"])
    }

    /// The kinds of the revocations that the list with this query has.
    private func listed(_ query: String) throws -> [String] {
        let list = try fixture.admin("GET", query: query)
        #expect(list.status == 200, "\(list.text)")
        return (try JSONReader.parse(list.body).object?["revocations"]?.array ?? [])
            .compactMap { $0.object?["kind"]?.string }
    }

    @Test func eachKindIsRefusedFromTheNextRequestOn() async throws {
        for each in try cases() {
            #expect(try fixture.refusal() == nil, "\(each.kind)")
            let added = try fixture.admin("POST", body: #"{"kind":"\#(each.kind)","value":"\#(each.value)"}"#)
            #expect(added.status == 200, "\(each.kind): \(added.text)")
            let issuer = try JSONReader.parse(added.body).object?["issuer"]?.string
            #expect((issuer != nil) == each.isIssuersOwn, "\(each.kind)")
            let before = try operations()
            #expect(try fixture.refusal() == each.code, "\(each.kind)")
            #expect(try fixture.refusal(isRenewal: true) == each.code, "\(each.kind)")
            #expect((try operations() == before) == each.isCheap, "\(each.kind)")
            let query = "?kind=\(each.kind)&value=\(each.value.replacing("-", with: "%2D"))"
            #expect(try listed(query) == [each.kind], "\(each.kind)")
            #expect(try listed("?kind=\(each.kind)&value=\(String(repeating: "0", count: 40))").isEmpty)
            #expect(try fixture.admin("DELETE", query: query).status == 200, "\(each.kind)")
            #expect(try fixture.admin("DELETE", query: query).status == 404, "\(each.kind)")
        }
        #expect(try fixture.refusal() == nil)
        let revoked = try await fixture.ledger("revoked")
        #expect(revoked.count == 8)
        #expect(revoked.first?["detail"]?.string == "jti" && revoked.first?["token"]?.string == "t-1")
        #expect(try await fixture.ledger("revocation_lifted").count == 8)
        #expect(revoked.allSatisfy { $0["actor"]?.string == "token:tokenFile" })
    }

    /// The list and the database file do not reveal the person.
    @Test func personsAreKeptUnderPseudonyms() async throws {
        for (kind, value) in [("sub", "viewer-of-a-rare-name"), ("device", "box-of-a-rare-name")] {
            let body = #"{"kind":"\#(kind)","value":"\#(value)","reason":"lost"}"#
            #expect(try fixture.admin("POST", body: body).status == 200)
        }
        let list = try fixture.admin("GET")
        #expect(list.status == 200 && !list.text.contains("rare") && list.text.contains("pseudonym:"))
        #expect(try fixture.admin("HEAD").status == 200)
        for name in ["latchkey.db", "latchkey.db-wal"] {
            let bytes = (try? fixture.daemon.folder.files.read(name)) ?? []
            #expect(!String(decoding: bytes, as: UTF8.self).contains("of-a-rare-name"))
        }
        // An entry of the list is enough to lift its revocation.
        let entries = try #require(try JSONReader.parse(list.body).object?["revocations"]?.array)
        for entry in entries.compactMap(\.object) {
            let (kind, value) = (entry["kind"]?.string ?? "", entry["value"]?.string ?? "")
            #expect(try fixture.admin("DELETE", query: "?kind=\(kind)&value=\(value)").status == 200)
        }
        #expect(try JSONReader.parse(fixture.admin("GET").body).object?["revocations"]?.array?.isEmpty == true)
    }

    /// The list of an account's playbacks has ids that name no session. One of them has a form that no session has, and
    /// the other may be an issuer's.
    @Test func takesNoIDOfAPlaybackForASession() async throws {
        let playback = String(repeating: "0", count: 64) + "-7"
        let refused = try await fixture.command("add", "--kind", "session", "--value", playback)
        #expect(refused.status == 2 && refused.messages.contains("account playbacks end"), "\(refused.messages)")
        #expect(try fixture.admin("POST", body: #"{"kind":"session","value":"\#(playback)"}"#).status == 400)
        let doubtful = try await fixture.command("add", "--kind", "session", "--value", "1111111111111111")
        #expect(doubtful.status == 0 && doubtful.messages.contains("session.id"), "\(doubtful.messages)")
        let id = String(repeating: "1", count: 32)
        let license = try await fixture.command("add", "--kind", "session", "--value", id)
        #expect(license.status == 0 && license.messages.isEmpty, "\(license.messages)")
    }

    @Test func commandsReachARunningDaemon() async throws {
        #expect(try fixture.refusal() == nil)
        let added = try await fixture.command(
            "add", "--kind", "sub", "--value", "viewer-7", "--until", "2999-01-31T12:00:00Z", "--reason", "kill",
            "--json")
        #expect(added.status == 0, "\(added.messages)")
        #expect(try added.object()["until"]?.string == "2999-01-31T12:00:00Z")
        #expect(try await fixture.refusal(until: "subject_disabled") == "subject_disabled")
        #expect(try fixture.refusal(try fixture.token(subject: "viewer-8")) == nil)
        let list = try await fixture.command("list", "--json")
        let entry = try #require(try list.object()["revocations"]?.array?.first?.object)
        #expect(entry["kind"]?.string == "sub" && entry["reason"]?.string == "kill")
        #expect(entry["issuer"]?.string == RevocationFixture.issuer)
        let shown = try #require(entry["value"]?.string)

        // The 32 digits of lists and of the ledger find what is revoked, and revoke nothing.
        let half = String(shown.prefix("pseudonym:".count + 32))
        #expect(try await fixture.command("list").output.contains("\(half) of \(RevocationFixture.issuer)"))
        #expect(try await fixture.command("add", "--kind", "sub", "--value", half).messages.contains("only lift"))
        let stranger = "pseudonym:" + String(repeating: "0", count: 32)
        #expect(try await fixture.command("lift", "--kind", "sub", "--value", stranger).status == 1)
        let lifted = try await fixture.command("lift", "--kind", "sub", "--value", half)
        #expect(lifted.status == 0 && lifted.output.hasPrefix("lifted  "), "\(lifted.messages)")
        #expect(try await fixture.refusal(until: nil) == nil)
        let again = try await fixture.command("lift", "--kind", "sub", "--value", shown)
        #expect(again.status != 0 && again.messages.contains("nothing of this kind"))
        // The daemon continues the ledger to which a command has written.
        for kind in ["revoked", "revocation_lifted"] {
            #expect(try await fixture.ledger(kind).map { $0["actor"]?.string } == [OperatingSystemUser.actor])
        }
    }

    /// Each operator has a token. The ledger names the operator by the token's name.
    @Test func namesTheOperatorByTheToken() async throws {
        let folder = fixture.daemon.folder
        let token = String(repeating: "a", count: 32)
        try folder.files.write((token + "\n").utf8, to: "secrets/admin-token-alice")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: folder.files.path("secrets/admin-token-alice"))
        try folder.configure(
            replacing: #"tokenFile: "secrets/admin-token""#,
            with: #"tokenFile: "secrets/admin-token", tokens: [{ name: "alice", file: "secrets/admin-token-alice" }]"#)
        #expect(try fixture.admin("GET", token: token).status == 401)
        fixture.daemon.daemon.process.signal(SIGHUP)
        #expect(fixture.daemon.daemon.line(event: "reloaded") != nil)
        let body = #"{"kind":"jti","value":"t-1"}"#
        #expect(try fixture.admin("POST", body: body, token: token).status == 200)
        #expect(try fixture.admin("DELETE", query: "?kind=jti&value=t-1", token: token).status == 200)
        #expect(try fixture.admin("POST", body: body).status == 200)
        let actors = try await fixture.ledger("revoked").map { $0["actor"]?.string }
        #expect(actors == ["token:alice", "token:tokenFile"])
        #expect(try await fixture.ledger("revocation_lifted").map { $0["actor"]?.string } == ["token:alice"])
    }

    /// A restarted daemon refuses revoked tokens from its first request on.
    @Test func theyOutliveTheDaemon() async throws {
        #expect(try fixture.admin("POST", body: #"{"kind":"jti","value":"t-1"}"#).status == 200)
        fixture.daemon.daemon.process.signal(SIGKILL)
        #expect(fixture.daemon.daemon.process.waitForExit() == -SIGKILL)
        let again = try RunningDaemon(fixture.daemon.folder)
        let answer = try again.connect().license(fixture.spc(), token: fixture.token())
        #expect(answer.status == 403 && answer.code == "token_revoked")
    }

    @Test func onlyTheAdministratorSeesAndChangesThem() throws {
        for method in ["GET", "POST", "DELETE"] {
            let body = method == "POST" ? #"{"kind":"jti","value":"t-1"}"# : ""
            let answer = try fixture.admin(method, query: "?kind=jti&value=t-1", body: body, token: "another")
            #expect(answer.status == 401 && answer.code == "admin_token_invalid", "\(method)")
            #expect(try fixture.daemon.daemon.connect().request(method, "/v1/revocations").status == 404)
        }
        #expect(try fixture.admin("PUT").status == 405)
        #expect(try fixture.refusal() == nil)
    }

    /// All cases use one daemon, because starting one takes time.
    @Test func whatCannotBeRevokedIsExplained() throws {
        let bodies = [
            "", "[]", #"{"kind":"jti"}"#, #"{"kind":"nothing","value":"x"}"#, #"{"kind":"jti","value":""}"#,
            #"{"kind":"jti","value":"x","colour":"red"}"#, #"{"kind":"jti","value":7}"#,
            #"{"kind":"jti","issuer":"another","value":"x"}"#,
            #"{"kind":"content","issuer":"latchkey-development","value":"x"}"#, #"{"kind":"hu","value":"zz"}"#,
            #"{"kind":"sub","value":"pseudonym:00"}"#, #"{"kind":"jti","value":"x","until":"tomorrow"}"#,
            #"{"kind":"jti","value":"x","until":"2001-01-31T12:00:00Z"}"#,
            #"{"kind":"jti","value":"x","reason":"\#(String(repeating: "r", count: 201))"}"#,
        ]
        var details: [String?] = []
        for body in bodies {
            let answer = try fixture.admin("POST", body: body)
            #expect(answer.status == 400 && answer.code == "request_invalid", "\(body)")
            details.append(try JSONReader.parse(answer.body).object?["detail"]?.string)
        }
        #expect(Set(details).count > 8 && details.last??.contains("200") == true)
        #expect(try JSONReader.parse(fixture.admin("GET").body).object?["revocations"]?.array?.isEmpty == true)
    }
}
