import ByteCoding
import DeviceSimulation
import FairPlay
import Foundation
import TestSupport
import Testing

/// A real daemon goes down: first it is not ready, and the admin listener is there to the last.
@Suite(.tags(.startsProcesses), .serialized) struct DrainTests {
    private func readiness(_ address: String) throws -> Int {
        try LoopbackConnection(address).request("GET", "/readyz").status
    }

    @Test func anOperatorOrdersItByTheTool() async throws {
        let fixture = try DaemonFixture { folder in
            try folder.configure(replacing: "logging: {", with: "drain: { delay: \"10m\" }, logging: {")
        }
        let daemon = fixture.daemon
        let token = "@\(fixture.folder.files.path("secrets/admin-token"))"
        func order(_ word: String) async throws -> LatchkeyProcess {
            try await LatchkeyProcess(
                "admin", word, "--server", "http://\(daemon.adminAddress)", "--token", token)
        }
        let drained = try await order("drain")
        #expect(drained.status == 0 && drained.output == "The node is not ready, and serves what comes.\n")
        #expect(try await order("drain").output == "The node was not ready already.\n")
        #expect(try readiness(daemon.publicAddress) == 503)
        let request = try fixture.deviceRequest(.v1)
        let license = try daemon.connect().license(request.message, token: try fixture.token())
        #expect(try fixture.isRight(license.body, request))
        #expect(daemon.line(event: "drain_ordered")?["actor"]?.string == "token:tokenFile")

        #expect(try await order("ready").output == "The order to drain has ended.\n")
        #expect(try readiness(daemon.publicAddress) == 200)
        #expect(daemon.line(event: "drain_ended")?["actor"]?.string == "token:tokenFile")
    }

    @Test func theToolReadsAddressAndTokenFromTheConfiguration() async throws {
        let folder = try DevelopmentFolder()
        let socket = folder.files.path("admin.sock")
        let environment = ["LATCHKEY_ADMIN_LISTEN": "unix:\(socket)"]
        let process = try RunningDaemon.start(folder, environment: environment)
        let isReady: Bool? = process.messages.wait { bytes in
            String(decoding: bytes, as: UTF8.self).contains(#""event":"ready""#) ? true : nil
        }
        #expect(isReady == true)
        let arguments = ["admin", "drain", "--config", folder.configuration]
        let drained = try await LatchkeyProcess(arguments: arguments, environment: environment)
        #expect(drained.status == 0, "\(drained.messages)")
        process.signal(SIGTERM)
        #expect(process.waitForExit() == 0)
        let late = try await LatchkeyProcess(arguments: arguments, environment: environment)
        #expect(late.status == 1 && late.messages.contains("no daemon answers at unix:"))
    }

    /// The listeners stay open while the daemon is not ready, and a second signal ends the wait.
    @Test func isNotReadyBeforeItCloses() throws {
        let fixture = try DaemonFixture { folder in
            try folder.configure(replacing: "logging: {", with: "drain: { delay: \"10m\" }, logging: {")
        }
        let daemon = fixture.daemon
        daemon.process.signal(SIGTERM)
        #expect(daemon.line(event: "draining")?["seconds"]?.number?.signed == 600)
        #expect(try readiness(daemon.publicAddress) == 503)
        #expect(try readiness(daemon.adminAddress) == 503)
        let request = try fixture.deviceRequest(.v1)
        let answer = try daemon.connect().license(request.message, token: try fixture.token())
        #expect(answer.status == 200 && answer["Connection"] != "close")
        #expect(!daemon.log.contains { $0["event"]?.string == "stopping" })
        daemon.process.signal(SIGTERM)
        #expect(daemon.process.waitForExit() == 1)
    }

    /// A reload changes the delay: here from ten minutes to none.
    @Test func takesTheDelayOfTheLastReload() throws {
        let socketFolder = try TemporaryDirectory()
        let socket = try NotifySocket(path: socketFolder.path("notify"))
        let fixture = try DaemonFixture(environment: ["NOTIFY_SOCKET": socket.path]) { folder in
            try folder.configure(replacing: "logging: {", with: "drain: { delay: \"10m\" }, logging: {")
        }
        #expect(socket.receive() == "READY=1\nSTATUS=Serving")
        try fixture.folder.configure(replacing: "delay: \"10m\"", with: "delay: \"0s\"")
        fixture.daemon.process.signal(SIGHUP)
        #expect(socket.receive()?.hasPrefix("RELOADING=1\nMONOTONIC_USEC=") == true)
        #expect(socket.receive() == "READY=1\nSTATUS=Serving")
        fixture.daemon.process.signal(SIGTERM)
        #expect(socket.receive() == "STOPPING=1\nEXTEND_TIMEOUT_USEC=50000000\nSTATUS=Finishing requests")
        #expect(fixture.daemon.process.waitForExit() == 0)
    }

    /// A request in flight holds up the end; meanwhile operators see health and metrics.
    @Test func operatorsWatchTheEnd() throws {
        let fixture = try DaemonFixture()
        let daemon = fixture.daemon
        let request = try fixture.deviceRequest(.v1)
        let slow = try daemon.connect()
        slow.send(
            "POST /fps/license HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(try fixture.token())\r\n"
                + "Content-Length: \(request.message.count)\r\nExpect: 100-continue\r\n\r\n")
        #expect(try slow.receive().status == 100)
        daemon.process.signal(SIGTERM)
        #expect(daemon.line(event: "stopping") != nil)
        #expect(try readiness(daemon.adminAddress) == 503)
        #expect(try fixture.metrics()["latchkey_http_requests_in_flight"] != nil)
        slow.send(request.message)
        #expect(try slow.receive().status == 200)
        #expect(daemon.process.waitForExit() == 0)
    }
}
