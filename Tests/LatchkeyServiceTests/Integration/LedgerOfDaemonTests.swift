import ByteCoding
import DeviceSimulation
import Entitlements
import FairPlay
import Foundation
import TestSupport
import Testing

/// What the ledger holds of what a real daemon gave.
@Suite(.tags(.startsProcesses)) struct LedgerOfDaemonTests {
    private func verify(_ folder: DevelopmentFolder) async throws -> LatchkeyProcess {
        try await LatchkeyProcess("ledger", "verify", "--config", folder.configuration, "--json")
    }

    private func entries(_ folder: DevelopmentFolder, _ more: [String] = []) async throws -> [JSONObject] {
        let run = try await LatchkeyProcess(
            arguments: ["ledger", "query", "--config", folder.configuration, "--json", "--limit", "1000"] + more)
        #expect(run.status == 0, "\(run.messages)")
        return try #require(try run.object()["entries"]?.array).compactMap(\.object)
    }

    private func kill(_ daemon: RunningDaemon) {
        daemon.process.signal(SIGKILL)
        #expect(daemon.process.waitForExit() == -SIGKILL)
    }

    /// Every licence that a client has in its hands, after a daemon that was killed without a word.
    @Test func holdsEveryLicenceThatWasAnswered() async throws {
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

    /// Whom a good token was of no use has a row; who has none leaves no trace here.
    @Test func holdsRefusalsOfGoodTokensAlone() async throws {
        let fixture = try DaemonFixture()
        let connection = try fixture.daemon.connect()
        let request = try fixture.deviceRequest(.v1).message
        let contents = fixture.contents(Right(.content("movie-2")))
        #expect(try connection.license(request, token: "a.b.c").status == 401)
        #expect(try connection.license(request, token: fixture.token(contents)).code == "content_mismatch")
        let end = Date(timeIntervalSinceNow: 60)
        while try await entries(fixture.folder).isEmpty, Date() < end {}
        let found = try await entries(fixture.folder)
        #expect(found.count == 1 && found.first?["kind"]?.string == "licenseRefused")
        #expect(found.first?["detail"]?.string == "content_mismatch")
        #expect(found.first?["content"]?.string == DaemonFixture.content)
        #expect(found.first?["token"]?.string == contents.tokenID)
        #expect(try await verify(fixture.folder).status == 0)
    }

    /// The ledger's key is not this daemon's: it must not go on as if nothing had happened.
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
