import ByteCoding
import DatabaseSupport
import Entitlements
import Foundation
import Synchronization
import Telemetry
import TestSupport
import Testing

@testable import StoragePostgreSQL

/// Several daemons that share one PostgreSQL (architecture, "What many nodes share").
@Suite(.tags(.startsProcesses), .needsPostgreSQL, .serialized) struct NodesTests {
    @Test func giveATokenItsUsesAndNoMore() async throws {
        let nodes = try NodesFixture(on: .current)
        let token = try nodes.token(uses: 3)
        let requests = try (0..<96).map { _ in try nodes.spc() }
        let daemons = nodes.daemons
        let answers = Mutex<[LoopbackResponse]>([])
        DispatchQueue.concurrentPerform(iterations: 8) { worker in
            for index in stride(from: worker, to: requests.count, by: 8) {
                let answer = try? daemons[index / 8 % 2].connect().license(requests[index], token: token)
                answers.withLock { if let answer { $0.append(answer) } }
            }
        }
        let all = answers.withLock { $0 }
        #expect(all.count == 96)
        let given = all.filter { $0.status == 200 }
        #expect(given.count == 3)
        #expect(all.filter { $0.status != 200 }.allSatisfy { $0.code == "token_used" })
        nodes.stopDaemons()
        let recorded = try await nodes.licenses(of: 0) + nodes.licenses(of: 1)
        #expect(Set(recorded) == Set(given.compactMap { $0["X-License-Id"] }) && recorded.count == 3)
        #expect(try nodes.shippedRows() == 3)
    }

    @Test func giveTheSameRequestTheSameLicense() async throws {
        let nodes = try NodesFixture(on: .current)
        let (token, spc) = (try nodes.token(uses: 1, mode: .both), try nodes.spc())
        let first = try nodes.daemons[0].connect().license(spc, token: token)
        let second = try nodes.daemons[1].connect().license(spc, token: token)
        try #require(first.status == 200, "\(first.text)")
        try #require(second.status == 200, "\(second.text)")
        #expect(first["X-License-Id"] != nil && first["X-License-Id"] == second["X-License-Id"])
        // The same SPC for another use is another grant, and the use is spent. No ledger records it as issued.
        let fields = ["Authorization": "Bearer \(token)"]
        let offline = try nodes.daemons[0].connect().request("POST", "/fps/license?offline=1", fields, body: spc)
        #expect(offline.status == 403 && offline.code == "token_used", "\(offline.text)")
        let other = try nodes.daemons[1].connect().license(try nodes.spc(), token: token)
        #expect(other.status == 403 && other.code == "token_used", "\(other.text)")
        nodes.stopDaemons()
        let rows = try await nodes.rows(of: 0)
        #expect(rows.count { $0["kind"]?.string == "license_issued" } == 1)
    }

    /// A player gets a new token and sends its request to the other node. It gets the same license, counted and
    /// recorded once.
    @Test func writeARepetitionDownOnce() async throws {
        let nodes = try NodesFixture(on: .current)
        let spc = try nodes.spc()
        let first = try nodes.daemons[0].connect().license(spc, token: nodes.token(uses: 1, subject: "viewer-7"))
        #expect(first.status == 200)
        let end = Date(timeIntervalSinceNow: 60)
        while try nodes.recordedRequests() == 0, Date() < end {}
        let refreshed = try nodes.token(uses: 1, subject: "viewer-7")
        for node in [1, 0, 1] {
            let again = try nodes.daemons[node].connect().license(spc, token: refreshed)
            #expect(again.status == 200 && again["X-License-Id"] == first["X-License-Id"])
        }
        let unused = try nodes.daemons[1].connect().license(try nodes.spc(), token: refreshed)
        #expect(unused.status == 200, "the repetitions used nothing of this token")
        let stranger = try nodes.daemons[1].connect().license(spc, token: nodes.token(uses: 1, subject: "viewer-8"))
        #expect(stranger.status == 200 && stranger["X-License-Id"] != first["X-License-Id"], "it spends its own use")
        nodes.stopDaemons()
        let recorded = try await nodes.licenses(of: 0) + nodes.licenses(of: 1)
        #expect(Set(recorded) == Set([first, unused, stranger].compactMap { $0["X-License-Id"] }))
        #expect(recorded.count == 3)
    }

    /// An operator revokes at a node while PostgreSQL accepts no changes. The revocation is in force there immediately,
    /// and everywhere later.
    @Test func revokeWhileTheDatabaseTakesNothing() async throws {
        let nodes = try NodesFixture(on: .current)
        func code(of node: Int) throws -> String? {
            let answer = try nodes.daemons[node].connect().license(nodes.spc(), token: nodes.token(subject: "viewer-7"))
            return answer.status == 200 ? nil : answer.code
        }
        #expect(try code(of: 0) == nil && code(of: 1) == nil)
        let lock = try nodes.lockRevocations()
        let answer = try nodes.admin("POST", "/v1/revocations", body: #"{"kind":"sub","value":"viewer-7"}"#)
        #expect(answer.status == 200, "\(answer.text)")
        #expect(answer.text.contains(#""isShared":false"#))
        #expect(try code(of: 0) == "subject_disabled" && code(of: 1) == nil)
        try lock.execute("COMMIT", until: SystemMonotonicClock().monotonicTime + .seconds(60))
        let end = Date(timeIntervalSinceNow: 60)
        while try code(of: 1) != "subject_disabled", Date() < end {}
        #expect(try code(of: 0) == "subject_disabled" && code(of: 1) == "subject_disabled")
        #expect(try nodes.revocations() == 1)
        nodes.stopDaemons()
        #expect(try await nodes.rows(of: 0).count { $0["kind"]?.string == "revoked" } == 1)
    }

    /// Two seconds after a key is withdrawn, no node gives it any more.
    @Test func withdrawAKeyOnAllNodes() async throws {
        let nodes = try NodesFixture(on: .current)
        for daemon in nodes.daemons {
            #expect(try daemon.connect().license(nodes.spc(), token: nodes.token()).status == 200)
        }
        let configuration = nodes.folders[1].configuration
        let list = try await LatchkeyProcess("keys", "list", "--config", configuration, "--json")
        let kid = try #require(try list.object()["keys"]?.array?.first?.object?["kid"]?.string)
        let deleted = try await LatchkeyProcess("keys", "delete", "--config", configuration, "--kid", kid)
        #expect(deleted.status == 0, "\(deleted.messages)")
        for daemon in nodes.daemons {
            var last = 200
            let end = Date(timeIntervalSinceNow: 60)
            while last == 200, Date() < end {
                last = try daemon.connect().license(nodes.spc(), token: nodes.token()).status
            }
            #expect(last == 404)
        }
        let row = try #require(try await nodes.rows(of: 1).first { $0["kind"]?.string == "key_withdrawn" })
        #expect(row["kid"]?.string == kid && row["content"]?.string == NodesFixture.content)
    }

    @Test func advanceTheTimeByWhichTheDatabaseForgets() throws {
        let before = SystemWallClock().wallTime.seconds
        let nodes = try NodesFixture(nodes: ["node-1"], on: .current)
        let settled = try nodes.settledTime()
        #expect((before...SystemWallClock().wallTime.seconds).contains(settled))
        #expect(try nodes.metric("latchkey_clock_may_delete") == 1 && nodes.metric("latchkey_clock_trusted") == 1)
        let offset = try #require(try nodes.metric("latchkey_clock_offset_seconds"))
        #expect(abs(offset) < 60, "both clocks are clocks of this machine")
        nodes.stopDaemons()
    }

    /// The table of outages for PostgreSQL, with a server that never comes back.
    @Test(.tags(.slow), arguments: ["refuse", "admit"])
    func serveWhatTheyCanWithoutTheDatabase(rule: String) async throws {
        let own = try OwnServer()
        let nodes = try NodesFixture(nodes: ["node-1"], on: own.server, onStoreOutage: rule)
        try nodes.importKey(content: "movie-2")
        let daemon = nodes.daemons[0]
        var given: [String] = []
        for token in [try nodes.token(), try nodes.token(uses: 5)] {
            let answer = try daemon.connect().license(try nodes.spc(), token: token)
            #expect(answer.status == 200)
            given += [answer["X-License-Id"]].compactMap(\.self)
        }
        #expect(try daemon.connectAsAdmin().request("GET", "/readyz").text == "ready\n")
        #expect(try nodes.metric("latchkey_postgresql_up") == 1)
        own.stop()

        // The node knows the key, and the token needs no shared counts.
        let plain = try daemon.connect().license(try nodes.spc(), token: try nodes.token())
        #expect(plain.status == 200)
        // The token needs shared counts.
        let shared = try daemon.connect().license(try nodes.spc(), token: try nodes.token(uses: 5))
        #expect(shared.status == (rule == "admit" ? 200 : 503))
        #expect(try nodes.metric("latchkey_licenses_admitted_in_outage_total") == (rule == "admit" ? 1 : 0))
        given += [plain, shared].compactMap { $0["X-License-Id"] }
        // The node has not loaded this key yet.
        let unknown = try daemon.connect().license(
            try nodes.spc(content: "movie-2"), token: try nodes.token(content: "movie-2"))
        #expect(unknown.status == 503 && unknown.code == "key_store_timeout")

        let ready = try daemon.connectAsAdmin().request("GET", "/readyz")
        #expect(ready.status == 200 && ready.text == "ready\ndegraded: postgresql\n")
        #expect(try daemon.connect().request("GET", "/readyz").text == "ready\n")
        #expect(try nodes.metric("latchkey_postgresql_up") == 0)

        nodes.stopDaemons()
        #expect(Set(try await nodes.licenses(of: 0)) == Set(given) && given.count == (rule == "admit" ? 4 : 3))
        // The daemon also starts without the database.
        let again = try RunningDaemon(nodes.folders[0])
        #expect(again.line(event: "postgresql_away") != nil)
        let answer = try again.connect().license(try nodes.spc(), token: try nodes.token())
        #expect(answer.status == 503)
    }

    @Test func shipEverythingOnceTheDatabaseIsBack() async throws {
        let own = try OwnServer()
        defer { own.stop() }
        let nodes = try NodesFixture(nodes: ["node-1"], on: own.server)
        let daemon = nodes.daemons[0]
        var given: [String] = []
        for _ in 0..<5 {
            let answer = try daemon.connect().license(try nodes.spc(), token: try nodes.token())
            given += [answer["X-License-Id"]].compactMap(\.self)
        }
        try own.crash()
        // Requests are served all the time, and each use is counted when the database is back.
        var shared: LoopbackResponse?
        let end = Date(timeIntervalSinceNow: 60)
        while shared?.status != 200, Date() < end {
            let plain = try daemon.connect().license(try nodes.spc(), token: try nodes.token())
            #expect(plain.status == 200)
            shared = try daemon.connect().license(try nodes.spc(), token: try nodes.token(uses: 1))
            given += [plain, shared].compactMap { $0?.status == 200 ? $0?["X-License-Id"] : nil }
            // Only a pace: no result depends on it.
            try await Task.sleep(for: .milliseconds(given.count < 20 ? 50 : 2000))
        }
        #expect(shared?.status == 200)
        // A server that has crashed may have answered just before the crash, and may not accept connections yet.
        while (try? nodes.shippedRows()) != Int64(given.count), Date() < end {
            try await Task.sleep(for: .milliseconds(50))
        }
        nodes.stopDaemons()
        let recorded = try await nodes.licenses(of: 0)
        #expect(Set(recorded) == Set(given) && recorded.count == given.count)
        #expect(try nodes.shippedRows() == Int64(given.count))
    }

    /// A node's name is only a label. Ledgers have their own ids, and both are shipped.
    @Test func shipBothLedgersOfNodesWithOneName() throws {
        let nodes = try NodesFixture(nodes: ["node-1", "node-1"], on: .current)
        let end = Date(timeIntervalSinceNow: 60)
        #expect(try nodes.daemons[0].connect().license(try nodes.spc(), token: try nodes.token()).status == 200)
        while try nodes.shippedRows() != 1, Date() < end {}
        #expect(try nodes.daemons[1].connect().license(try nodes.spc(), token: try nodes.token()).status == 200)
        while try nodes.shippedRows() != 2, Date() < end {}
        #expect(try nodes.shippedRows() == 2)
        #expect(try nodes.metric("latchkey_ledger_copy_contradicted", of: 1) == 0)
    }

    @Test func hearOfEachOthersRevocations() async throws {
        let own = try OwnServer()
        defer { own.stop() }
        let nodes = try NodesFixture(on: own.server)
        func refusal(of node: Int) throws -> String? {
            let answer = try nodes.daemons[node].connect().license(nodes.spc(), token: nodes.token(subject: "viewer-7"))
            return answer.status == 200 ? nil : answer.code
        }
        func refusal(of node: Int, until code: String?) async throws -> String? {
            let end = Date(timeIntervalSinceNow: 60)
            while try refusal(of: node) != code, Date() < end { try await Task.sleep(for: .milliseconds(20)) }
            return try refusal(of: node)
        }
        #expect(try refusal(of: 0) == nil && refusal(of: 1) == nil)
        let body = #"{"kind":"sub","value":"viewer-7"}"#
        #expect(try nodes.admin("POST", "/v1/revocations", body: body).status == 200)
        #expect(try refusal(of: 0) == "subject_disabled")
        #expect(try await refusal(of: 1, until: "subject_disabled") == "subject_disabled")

        // On the other node, a command that works on the database lifts the revocation.
        let lifted = try await LatchkeyProcess(
            "revocations", "lift", "--config", nodes.folders[1].configuration, "--kind", "sub", "--value", "viewer-7")
        #expect(lifted.status == 0, "\(lifted.messages)")
        for node in [0, 1] { #expect(try await refusal(of: node, until: nil) == nil) }

        // Without the database, the revocations that the node read last stay in force.
        #expect(try nodes.admin("POST", "/v1/revocations", body: body, of: 1).status == 200)
        #expect(try await refusal(of: 0, until: "subject_disabled") == "subject_disabled")
        own.stop()
        #expect(nodes.daemons[0].line(event: "revocations_not_read") != nil)
        #expect(try refusal(of: 0) == "subject_disabled" && refusal(of: 1) == "subject_disabled")
        // A revocation can only be lifted in the database.
        #expect(try nodes.admin("DELETE", "/v1/revocations?kind=sub&value=viewer-7").status == 503)
        // A revocation at this node is in force at this node.
        func other() throws -> String? {
            let answer = try nodes.daemons[0].connect().license(nodes.spc(), token: nodes.token(subject: "viewer-9"))
            return answer.status == 200 ? nil : answer.code
        }
        #expect(try other() == nil)
        let added = try nodes.admin("POST", "/v1/revocations", body: #"{"kind":"sub","value":"viewer-9"}"#)
        #expect(added.status == 200 && added.text.contains(#""isShared":false"#), "\(added.text)")
        #expect(try other() == "subject_disabled")
        nodes.stopDaemons()
        let rows = try await nodes.rows(of: 0)
        #expect(rows.count { $0["kind"]?.string == "revoked" } == 2)
        #expect(rows.count { $0["kind"]?.string == "revocation_lifted" } == 0)
    }

    @Test func acceptEachOthersChallengesOnce() async throws {
        let nodes = try NodesFixture(on: .current)
        let token = try nodes.token(subject: "viewer-7")
        let fields = ["Authorization": "Bearer \(token)"]
        let given = try nodes.daemons[0].connect().request("POST", "/fps/challenge", fields)
        #expect(given.status == 200, "\(given.text)")
        let digits = try #require(try JSONReader.parse(given.body).object?["challenge"]?.string)
        let challenge = try #require(UInt64(digits, radix: 16))
        let first = try nodes.daemons[1].connect().license(nodes.syncReport(challenge), token: token)
        #expect(first.status == 200, "\(first.text)")
        for node in [0, 1] {
            let again = try nodes.daemons[node].connect().license(nodes.syncReport(challenge), token: token)
            #expect(again.status == 409 && again.code == "spc_replayed")
        }
    }

    @Test func shareTheKeysThatCommandsStore() async throws {
        let nodes = try NodesFixture(on: .current)
        let configuration = nodes.folders[1].configuration
        let made = try await LatchkeyProcess(
            "keys", "create", "--config", configuration, "--content", "movie-9", "--alias", "nine", "--json")
        #expect(made.status == 0, "\(made.messages)")
        let list = try await LatchkeyProcess("keys", "list", "--config", configuration, "--json")
        let contents = try #require(try list.object()["keys"]?.array).compactMap { $0.object?["content"]?.string }
        #expect(Set(contents) == [NodesFixture.content, "movie-9"])
        let answer = try nodes.daemons[0].connect().license(
            try nodes.spc(content: "nine"), token: try nodes.token(content: "movie-9"))
        #expect(answer.status == 200)

        let kid = try #require(try made.object()["kid"]?.string)
        let deleted = try await LatchkeyProcess(
            "keys", "delete", "--config", configuration, "--kid", kid, "--for-good")
        #expect(deleted.status == 0, "\(deleted.messages)")
        #expect(try await LatchkeyProcess("keys", "show", "--config", configuration, "--kid", kid).status == 1)
    }

    /// The key-encryption key is changed while the nodes serve. All nodes know the new key before a node seals with it.
    @Test func changeTheKeyEncryptionKeyAmongThem() async throws {
        let nodes = try NodesFixture(on: .current)
        let (old, new) = (
            #"{ version: 1, key: "secrets/key-encryption-key" }"#, #"{ version: 2, key: "secrets/new-key" }"#
        )
        let current = #"keys: { keyEncryptionKey: "secrets/key-encryption-key""#
        for folder in nodes.folders {
            try folder.files.write((String(repeating: "cd", count: 32) + "\n").utf8, to: "secrets/new-key")
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600], ofItemAtPath: folder.files.path("secrets/new-key"))
            try folder.configure(replacing: current, with: current + ", olderKeyEncryptionKeys: [\(new)]")
        }
        nodes.stopDaemons()
        let first = try RunningDaemon(nodes.folders[0])
        try nodes.folders[1].configure(
            replacing: current + ", olderKeyEncryptionKeys: [\(new)]",
            with: #"keys: { keyEncryptionKey: "secrets/new-key", keyEncryptionKeyVersion: 2, "#
                + "olderKeyEncryptionKeys: [\(old)]")
        let configuration = nodes.folders[1].configuration
        let lines = (1...1500).map { number in
            let digits = String(format: "%032x", number)
            return "\(digits),content-\(number),\(digits.dropLast())f,\(digits.dropLast())0,alias-\(number)"
        }
        let csv = (["kid,content,key,iv,alias"] + lines).joined(separator: "\n")
        let imported = try await LatchkeyProcess(
            arguments: ["keys", "import", "--config", configuration, "--file", "-", "--json"], input: csv)
        #expect(imported.status == 0, "\(imported.messages)")
        #expect(try imported.object()["stored"]?.number?.signed == 1500)
        let rewrapped = try await LatchkeyProcess("keys", "rewrap", "--config", configuration, "--json")
        #expect(rewrapped.status == 0, "\(rewrapped.messages)")
        #expect(try rewrapped.object()["rewrapped"]?.number?.signed == 1)
        let checked = try await LatchkeyProcess("store", "check", "--config", configuration, "--json")
        #expect(checked.status == 0, "\(checked.messages)")
        #expect(try checked.object()["keys"]?.number?.signed == 1501)
        // A node that still seals with the old key opens keys that are sealed under the new one.
        for content in [NodesFixture.content, "content-7"] {
            let answer = try first.connect().license(
                try nodes.spc(content: content), token: try nodes.token(content: content))
            #expect(answer.status == 200, "\(content)")
        }
    }
}
