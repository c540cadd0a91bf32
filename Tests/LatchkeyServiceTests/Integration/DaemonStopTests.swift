import ByteCoding
import DeviceSimulation
import FairPlay
import Foundation
import TestSupport
import Testing

/// Signals, and requests that are still on their way.
@Suite(.tags(.startsProcesses), .serialized) struct DaemonStopTests {
    private let fixture: DaemonFixture
    private var daemon: RunningDaemon { fixture.daemon }

    init() throws {
        fixture = try DaemonFixture()
    }

    @Test(arguments: [SIGTERM, SIGINT])
    func endsWithStatus0(signal: Int32) throws {
        let idle = try daemon.connect()
        #expect(try idle.request("GET", "/livez").status == 200)
        daemon.process.signal(signal)
        #expect(daemon.process.waitForExit() == 0)
        #expect(idle.isClosed())
        let events = daemon.log.compactMap { $0["event"]?.string }
        #expect(events.suffix(3) == ["stopping", "ledger_checkpoint", "stopped"])
        #expect(throws: LoopbackError.refused) { try daemon.connect() }
    }

    /// The signal to stop arrives while the body of a license request is still on its way.
    @Test func finishesARequestInFlight() throws {
        let request = try fixture.deviceRequest(.v1)
        let slow = try daemon.connect()
        slow.send(
            "POST /fps/license HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(try fixture.token())\r\n"
                + "Content-Length: \(request.message.count)\r\nExpect: 100-continue\r\n\r\n")
        // The daemon has read the head.
        #expect(try slow.receive().status == 100)
        slow.send(Array(request.message.prefix(100)))

        daemon.process.signal(SIGTERM)
        #expect(daemon.line(event: "stopping") != nil)
        #expect(daemon.process.isRunning)
        slow.send(Array(request.message.dropFirst(100)))
        let response = try slow.receive()
        #expect(response.status == 200)
        #expect(response["Connection"] == "close")
        #expect(try fixture.isRight(response.body, request))
        #expect(slow.isClosed())
        #expect(daemon.process.waitForExit() == 0)
        #expect(!daemon.log.contains { $0["event"]?.string == "stopped_with_work_left" })
    }

    @Test func aSecondSignalEndsItAtOnce() throws {
        let stuck = try daemon.connect()
        stuck.send(
            "POST /fps/license HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(try fixture.token())\r\n"
                + "Content-Length: 10\r\nExpect: 100-continue\r\n\r\n")
        #expect(try stuck.receive().status == 100)
        daemon.process.signal(SIGTERM)
        #expect(daemon.line(event: "stopping") != nil)
        daemon.process.signal(SIGTERM)
        #expect(daemon.process.waitForExit() == 1)
    }

    @Test func goesOnAfterSIGHUP() throws {
        let connection = try daemon.connect()
        for count in 1...3 {
            daemon.process.signal(SIGHUP)
            let seen: Int? = daemon.process.messages.wait { bytes in
                let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
                let found = lines.count { $0.contains("\"reloaded\"") }
                return found >= count ? found : nil
            }
            #expect(seen == count)
        }
        #expect(try connection.request("GET", "/readyz").status == 200)
        let request = try fixture.deviceRequest(.v2)
        let response = try connection.license(request.message, token: try fixture.token())
        #expect(try fixture.isRight(response.body, request))
    }

    /// A client that disconnects while its answer is being written must not end the daemon.
    @Test func survivesClientsThatGoAway() throws {
        let token = try fixture.token()
        let message = try fixture.deviceRequest(.v1).message
        let head =
            "POST /fps/license HTTP/1.1\r\nHost: h\r\nAuthorization: Bearer \(token)\r\nContent-Length: \(message.count)\r\n\r\n"
        for _ in 0..<50 {
            let connection = try daemon.connect()
            for _ in 0..<4 { connection.send(Array(head.utf8) + message) }
        }
        #expect(daemon.process.isRunning)
        #expect(try daemon.connect().request("GET", "/readyz").status == 200)
    }
}
