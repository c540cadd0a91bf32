import EventLoops
import HTTPMessages
import POSIXSockets
import Synchronization
import Telemetry
import TestSupport
import Testing

@testable import HTTPServing

/// A server on a free loopback port, with its own loops and clock.
final class TestServer {
    let clock = ManualClock()
    let group: EventLoopGroup
    let server: HTTPServer
    let handler: TestHandler
    let observer = TestObserver()
    let address: SocketAddress
    let tlsSlot: TLSContextSlot?
    let resources: ServerResources

    /// The wall clock. It stands still, even if the other clock moves.
    private static let wallClock = ManualClock(wallTime: WallTime(seconds: 784_111_777))

    init(
        loopCount: Int = 1, offersHTTP2: Bool = false, offersHTTP2ToProxies: Bool = false, tls: TLSContext? = nil,
        trustedProxies: TrustedProxies = TrustedProxies(), expectsProxyHeader: Bool = false,
        listener: SocketAddress = .internet(.v4(0x7f00_0001), port: 0),
        resources: ServerResources = ServerResources(), healthPaths: Set<String> = [],
        change: (inout HTTPLimits) -> Void = { _ in }
    ) throws {
        tlsSlot = tls.map(TLSContextSlot.init)
        var limits = HTTPLimits()
        change(&limits)
        group = try EventLoopGroup(count: loopCount, clock: clock)
        handler = TestHandler(clock: clock)
        self.resources = resources
        server = HTTPServer(
            group: group, observer: observer, wallClock: Self.wallClock, resources: resources)
        var settings = HTTPListenerSettings(name: "test", address: listener, limits: limits, handler: handler)
        settings.offersHTTP2 = offersHTTP2
        settings.offersHTTP2ToProxies = offersHTTP2ToProxies
        settings.tls = tlsSlot
        settings.trustedProxies = trustedProxies
        settings.expectsProxyHeader = expectsProxyHeader
        settings.healthPaths = healthPaths
        address = try server.listen(settings)
    }

    deinit {
        handler.gate.open()
        server.drain(within: .zero)
        group.stop(within: .seconds(10))
    }

    func connect(from source: UInt32? = nil) throws -> RawClient { try RawClient(address, from: source) }

    func connectTLS(_ options: TLSClientOptions = TLSClientOptions(), from source: UInt32? = nil) throws -> TLSClient {
        try TLSClient(try connect(from: source), options)
    }

    /// Waits until the loops are idle, moves the clock, and lets every loop act on the new time.
    func advance(by duration: Duration) {
        settle()
        clock.advance(by: duration)
        group.wakeAll()
        settle()
    }

    /// Waits until the loops have done all pending work.
    func settle() {
        for _ in 0..<3 {
            for loop in group.loops { loop.runAndWait {} }
        }
    }

    /// Waits until exactly `count` connections are open.
    func wait(forConnections count: Int) {
        observer.openCount.wait { $0 == count ? () : nil }
        settle()
    }
}

/// A handler whose answer depends on the path, so that a test can choose it.
final class TestHandler: HTTPHandler {
    let gate = Gate()
    let largeSize = 8 << 20
    private let largeCount = Monitor(0)
    /// The streamed bodies that have begun, and how many of them have ended.
    private let bodies = Monitor((begun: [HTTPBodyStream](), endedCount: 0))
    /// Where each request was answered, on its loop or elsewhere, in the order of the answers.
    let answered = Log<String>()
    private let clock: ManualClock?

    init(clock: ManualClock? = nil) {
        self.clock = clock
    }

    func answer(_ request: HTTPRequest, on loop: LoopContext) -> HTTPAnswer {
        switch request.path {
        case "/now": return .now(HTTPResponse(status: .ok, body: Array("now".utf8)))
        case "/costly":
            clock?.advance(by: InputTurns.turnTime)
            return .now(HTTPResponse(status: .ok, body: Array("now".utf8)))
        case "/proxied":
            let words = "header: \(request.peer.hasProxyHeader), fields: \(request.peer.isBehindTrustedProxy)"
            return .now(HTTPResponse(status: .ok, body: Array(words.utf8)))
        case "/peer": return .now(HTTPResponse(status: .ok, body: Array(request.peer.address.description.utf8)))
        case "/echo", "/dropped": return .now(HTTPResponse(status: .ok, body: request.body))
        case "/loop": return .now(HTTPResponse(status: .ok, body: Array("\(loop.index)".utf8)))
        case "/large":
            largeCount.update { $0 += 1 }
            return .now(HTTPResponse(status: .ok, body: [UInt8](repeating: 97, count: largeSize)))
        case "/stream":
            let fields: HTTPFields = ["Content-Type": "text/plain"]
            return .stream(HTTPResponse(status: .ok, fields: fields)) { [bodies] body in
                body.whenEnded { bodies.update { $0.endedCount += 1 } }
                bodies.update { $0.begun.append(body) }
            }
        case "/closing": return .now(HTTPResponse(status: .ok, body: Array("bye".utf8), closesConnection: true))
        case "/later":
            let (gate, answered) = (gate, answered)
            return .later { loop in
                await gate.pass()
                answered.append(loop.isCurrent ? "on its loop" : "elsewhere")
                return HTTPResponse(status: .ok, body: Array("later".utf8))
            }
        default: return .now(HTTPResponse(status: .notFound))
        }
    }

    func decideBody(of request: HTTPRequest, on loop: LoopContext) -> HTTPBodyDecision {
        switch request.path {
        case "/refused": .refuse(HTTPResponse(status: .unauthorized, body: Array("no".utf8)))
        case "/dropped": .drop
        default: .keep
        }
    }

    /// Waits until this many streamed bodies have begun, and returns the last of them.
    func waitForBody(_ count: Int = 1) -> HTTPBodyStream? {
        bodies.wait { $0.begun.count >= count ? .some($0.begun.last) : nil }
    }

    /// Waits until this many streamed bodies have ended.
    func waitForEnds(_ count: Int) {
        bodies.wait { $0.endedCount >= count ? () : nil }
    }

    var bodyCount: Int { bodies.update { $0.begun.count } }

    /// Waits until a client has requested the large body, because a busy machine may deliver the request late.
    func waitForLarge() {
        largeCount.wait { $0 > 0 ? () : nil }
    }

    func refusal(
        of problem: HTTPProblem, in head: HTTPRequestHead?, from peer: HTTPPeer, on loop: LoopContext
    ) -> HTTPResponse {
        HTTPResponse(status: problem.status, body: Array(problem.code.utf8))
    }
}

/// Counts connections, and records the events that it gets.
final class TestObserver: HTTPServerObserver {
    let openCount = Monitor(0)
    let refusedConnections = Log<HTTPConnectionRefusal>()
    let finished = Log<String>()
    let problems = Log<HTTPProblem>()
    let abuses = Log<ConnectionAbuse>()
    let handshakes = Log<TLSFacts?>()
    let failedHandshakes = Log<TLSHandshakeFailure>()

    func connectionOpened(_ peer: HTTPPeer) { openCount.update { $0 += 1 } }
    func connectionClosed(_ peer: HTTPPeer, after duration: Duration) { openCount.update { $0 -= 1 } }
    func connectionRefused(_ peer: HTTPPeer?, because reason: HTTPConnectionRefusal) {
        refusedConnections.append(reason)
    }
    func requestFinished(_ peer: HTTPPeer, method: HTTPMethod, status: HTTPStatus, after duration: Duration) {
        finished.append("\(method.rawValue) \(status.code) \(peer.listener) \(peer.isLoopback)")
    }
    func handshakeFinished(_ peer: HTTPPeer, after duration: Duration) { handshakes.append(peer.tls) }
    func handshakeFailed(_ peer: HTTPPeer, because reason: TLSHandshakeFailure) { failedHandshakes.append(reason) }
    func inputRefused(_ peer: HTTPPeer, _ problem: HTTPProblem) { problems.append(problem) }
    func connectionAbused(_ peer: HTTPPeer, _ abuse: ConnectionAbuse) { abuses.append(abuse) }
}

/// The text of a whole response.
func response(_ status: String, _ body: String, _ field: String = "") -> String {
    "HTTP/1.1 \(status)\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\nContent-Length: \(body.utf8.count)\r\n\(field)\r\n\(body)"
}

func get(_ path: String, _ fields: String = "") -> String { "GET \(path) HTTP/1.1\r\nHost: h\r\n\(fields)\r\n" }

let closes = "Connection: close\r\n"

/// Holds a loop until it is released.
final class Hold: Sendable {
    private enum State {
        case coming
        case held
        case released
    }

    private let state = Monitor(State.coming)

    func wait() {
        state.update { $0 = .held }
        state.wait { $0 == .released ? () : nil }
    }

    func waitUntilHeld() {
        state.wait { $0 == .held ? () : nil }
    }

    func release() {
        state.update { $0 = .released }
    }
}

extension HTTPServer {
    /// The number of connections that occupy memory: open ones, and closed ones whose request a task still answers.
    var connectionObjectCount: Int {
        listeners.withLock { $0.reduce(0) { $0 + $1.state.connectionObjects.load(ordering: .relaxed) } }
    }
}
