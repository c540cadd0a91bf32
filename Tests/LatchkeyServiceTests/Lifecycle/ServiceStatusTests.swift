import POSIXSockets
import Telemetry
import TestSupport
import Testing

@testable import AdminRoutes
@testable import LatchkeyService
@testable import PackagerRoutes
@testable import PlayerRoutes
@testable import RouteKit
@testable import Upkeep

/// What `systemctl status` shows.
@Suite struct ServiceStatusTests {
    private let folder: TemporaryDirectory
    private let socket: NotifySocket
    private let status: ServiceStatus

    init() throws {
        folder = try TemporaryDirectory()
        socket = try NotifySocket(path: folder.path("notify"))
        status = ServiceStatus(
            try ServiceNotifier(socketName: socket.path), logger: Logger(level: .info, sink: MemoryLogSink()))
    }

    @Test func tellsEachChangeOnce() {
        status.change { $0.degraded = [.ledger] }
        #expect(socket.pending == nil, "the service is not ready yet")
        status.ready()
        #expect(socket.pending == "READY=1\nSTATUS=Serving; degraded: ledger")
        for _ in 0..<2 { status.change { $0.drainedBy = "token:alice" } }
        #expect(
            socket.pending
                == "STATUS=Not ready by order of token:alice, and serving what comes; degraded: ledger")
        #expect(socket.pending == nil)
        status.change { $0 = .init() }
        #expect(socket.pending == "STATUS=Serving")
    }

    @Test func tellsWhyTheLastReloadWasRefused() {
        status.ready()
        _ = socket.pending
        status.reloading(at: MonotonicTime(nanoseconds: 12_345_678))
        #expect(socket.pending == "RELOADING=1\nMONOTONIC_USEC=12345\nSTATUS=Reloading")
        status.ready { $0.reloadRefusal = "line 3:\nno such field " + String(repeating: "x", count: 1000) }
        let message = socket.pending ?? ""
        #expect(message.hasPrefix("READY=1\nSTATUS=Serving; the last reload was refused: line 3: no such field x"))
        #expect(message.utf8.count < 500)
        status.ready { $0.reloadRefusal = nil }
        #expect(socket.pending == "READY=1\nSTATUS=Serving")
    }

    @Test func asksForTheTimeThatTheEndTakes() {
        status.stopping(within: .milliseconds(50_500), "Finishing requests")
        #expect(socket.pending == "STOPPING=1\nEXTEND_TIMEOUT_USEC=50500000\nSTATUS=Finishing requests")
    }
}
