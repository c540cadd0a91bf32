import ByteCoding
import CommandLineKit
import DeviceSimulation
import Entitlements
import FairPlay
import Foundation
import POSIXSockets
import Synchronization
import TestSupport
import Testing

/// The ledger entries of a running daemon.
@Suite(.tags(.startsProcesses)) struct LedgerOfDaemonTests {
    private func verify(_ folder: DevelopmentFolder) async throws -> LatchkeyProcess {
        try await LatchkeyProcess("ledger", "verify", "--config", folder.configuration, "--json")
    }

    /// The rows of these kinds, the oldest first.
    private func entries(
        _ folder: DevelopmentFolder, _ more: [String] = [],
        of kinds: Set<String> = ["license_issued", "license_renewed", "license_refused", "refusals_omitted"]
    ) async throws -> [JSONObject] {
        let run = try await LatchkeyProcess(
            arguments: ["ledger", "query", "--config", folder.configuration, "--json", "--limit", "1000"] + more)
        #expect(run.status == 0, "\(run.messages)")
        let all = try #require(try run.object()["entries"]?.array).compactMap(\.object)
        return all.reversed().filter { $0["kind"]?.string.map { kinds.contains($0) } ?? false }
    }

    private func kill(_ daemon: RunningDaemon) {
        daemon.process.signal(SIGKILL)
        #expect(daemon.process.waitForExit() == -SIGKILL)
    }

    /// After the daemon was killed, the ledger has every license that a client has received.
    @Test func holdsEveryLicenseThatWasAnswered() async throws {
        let fixture = try DaemonFixture()
        let connection = try fixture.daemon.connect()
        var licenses: [String] = []
        for _ in 0..<30 {
            let request = try fixture.deviceRequest(.v1)
            let response = try connection.license(request.message, token: try fixture.token())
            #expect(try fixture.isRight(response.body, request))
            licenses.append(try #require(response["X-License-Id"]))
        }
        kill(fixture.daemon)
        #expect(try await verify(fixture.folder).status == 0)
        let found = Set(try await entries(fixture.folder).compactMap { $0["license"]?.string })
        #expect(found == Set(licenses) && licenses.count == 30)
    }

    /// A refused request with a valid token gets a row. A request without a valid token leaves no row.
    @Test func holdsRefusalsOfGoodTokensAlone() async throws {
        let fixture = try DaemonFixture()
        let connection = try fixture.daemon.connect()
        let request = try fixture.deviceRequest(.v1).message
        let contents = fixture.contents(Right(.content("movie-2")))
        #expect(try connection.license(request, token: "a.b.c").status == 401)
        let refused = try connection.license(request, token: fixture.token(contents))
        #expect(refused.code == "content_mismatch")
        let end = Date(timeIntervalSinceNow: 60)
        while try await entries(fixture.folder).isEmpty, Date() < end {}
        let found = try await entries(fixture.folder)
        #expect(found.count == 1 && found.first?["kind"]?.string == "license_refused")
        #expect(found.first?["detail"]?.string == "content_mismatch")
        #expect(found.first?["content"]?.string == DaemonFixture.content)
        #expect(found.first?["token"]?.string == contents.tokenID)
        let requestID = try #require(refused["X-Request-Id"])
        #expect(found.first?["request"]?.string == requestID)
        #expect(try await verify(fixture.folder).status == 0)
    }

    /// Five copies of a request without counted uses, and one request with a new token of the same viewer, give one
    /// row.
    @Test func holdsOneRowHoweverOftenARequestComes() async throws {
        let fixture = try DaemonFixture()
        let request = try fixture.deviceRequest(.v1).message
        var contents = fixture.contents(Right(.content(DaemonFixture.content)))
        contents.subject = "viewer-7"
        let token = try fixture.token(contents)
        let daemon = fixture.daemon
        let answers = Mutex<[LoopbackResponse?]>([])
        DispatchQueue.concurrentPerform(iterations: 5) { _ in
            let answer = try? daemon.connect().license(request, token: token)
            answers.withLock { $0.append(answer) }
        }
        contents.tokenID = "another"
        let refreshed = try fixture.daemon.connect().license(request, token: fixture.token(contents))
        let all = answers.withLock { $0 } + [refreshed]
        #expect(all.count == 6 && all.allSatisfy { $0?.status == 200 })
        let ids = Set(all.map { $0?["X-License-Id"] })
        #expect(ids.count == 1 && ids.first != .some(nil))
        contents.subject = "viewer-8"
        let other = try fixture.daemon.connect().license(request, token: fixture.token(contents))
        #expect(other.status == 200 && !ids.contains(other["X-License-Id"]))
        #expect(try await entries(fixture.folder).count == 2)
    }

    @Test func holdsWhatHappenedToTheDaemon() async throws {
        let fixture = try DaemonFixture()
        fixture.daemon.process.signal(SIGHUP)
        #expect(fixture.daemon.line(event: "reloaded") != nil)
        fixture.daemon.process.signal(SIGTERM)
        #expect(fixture.daemon.process.waitForExit() == 0)
        let kinds: Set<String> = ["node_started", "configuration_reloaded", "node_stopped"]
        let found = try await entries(fixture.folder, of: kinds)
        #expect(found.compactMap { $0["kind"]?.string } == ["node_started", "configuration_reloaded", "node_stopped"])
        #expect(found.allSatisfy { $0["actor"]?.string == OperatingSystemUser.actor })
        #expect(found.first?["detail"]?.string == LatchkeyVersion.current)
        #expect(try await verify(fixture.folder).status == 0)
    }

    /// If the ledger was made with another key, the daemon must refuse to open it.
    @Test func isNotOpenedUnderAnotherKey() throws {
        let fixture = try DaemonFixture()
        let request = try fixture.deviceRequest(.v1)
        _ = try fixture.daemon.connect().license(request.message, token: try fixture.token())
        kill(fixture.daemon)
        try fixture.folder.files.write(
            (String(repeating: "00", count: 32) + "\n").utf8, to: "secrets/ledger-key")
        let process = try RunningDaemon.start(fixture.folder)
        #expect(process.waitForExit() != 0)
        #expect(process.messages.text.contains("ledger"))
    }
}
