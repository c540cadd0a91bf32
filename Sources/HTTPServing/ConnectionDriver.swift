import HTTPMessages
import Telemetry

/// What speaks a protocol on one connection: HTTP/1.1, HTTP/2, or what comes before them.
///
/// The connection owns the socket, TLS, the timer, the output that the kernel has not taken yet, and the end. The
/// driver owns the meaning of the bytes. A driver belongs to one connection and keeps no reference to it: each event
/// brings the connection along, and the driver acts by calling it. All of that happens on the connection's loop.
///
/// A connection may have several drivers, one after the other: the PROXY header, the TLS handshake, the choice between
/// HTTP/1.1 and HTTP/2, then one of these two. Each hands over to the next by `HTTPConnection.handOver` or `speak`, and
/// hears nothing after that.
///
/// A call of the connection may close it (a write that fails does), and may come back to the driver before it
/// returns: `HTTPConnection.dispatch` calls `respond` at once when the handler answers at once. So a driver brings
/// its own state in order before it calls, and looks at `HTTPConnection.isOpen` before it goes on. Nothing is called
/// any more once the connection is closed, but for `closed`.
protocol ConnectionDriver: AnyObject {
    /// Whether bytes are wanted now. While this is `false` nothing is read, and what the peer sends waits in the
    /// kernel.
    ///
    /// A driver that turns this to `true` by itself, outside `received`, calls `HTTPConnection.requestInputTurn`.
    var isReading: Bool { get }

    /// The first event: the driver has been chosen, and has received nothing.
    func started(on connection: HTTPConnection)

    /// The socket has input, its end, or room to write: for drivers that do not let the connection read, but look at
    /// the input themselves or have OpenSSL read it.
    ///
    /// Called only while `isReading` does not hold; otherwise the connection reads.
    func socketReady(on connection: HTTPConnection)

    /// Bytes of the peer, at least one, without TLS. They are borrowed: what is kept must be copied.
    ///
    /// Called only while `isReading` holds, at most once per turn of the loop.
    func received(_ bytes: Span<UInt8>, on connection: HTTPConnection)

    /// The peer sends no more; it may still read. Called once.
    func inputEnded(on connection: HTTPConnection)

    /// All output has gone to the kernel, after a `write` that left some behind.
    func outputDrained(on connection: HTTPConnection)

    /// The turn has come that `HTTPConnection.requestResume` asked for, to write.
    func resumed(on connection: HTTPConnection)

    /// The turn has come that `HTTPConnection.requestInputTurn` asked for: looks at what the driver keeps of the
    /// input, once.
    ///
    /// Called only while `isReading` does not hold; otherwise the connection uses the turn to read.
    func inputTurnCame(on connection: HTTPConnection)

    /// The instant of `HTTPConnection.setDeadline` has come. No deadline runs until a new one is set.
    func deadlinePassed(on connection: HTTPConnection)

    /// The handler's answer to the request that was dispatched under this token. Comes once per `dispatch`, unless
    /// the connection closes first.
    func respond(_ response: HTTPResponse, to stream: StreamToken, on connection: HTTPConnection)

    /// The server is going down: finish the requests that have begun, take no new ones (HTTP/2: GOAWAY), then close.
    func drain(on connection: HTTPConnection)

    /// What the connection does, for eviction and for operators.
    var state: HTTPConnectionState { get }

    /// What the driver holds because of its client; of `connection` only what it adds. Asked for after each event.
    var heldMemory: HeldMemory { get }

    /// The memory budget has no room for what the driver holds: ends what is answered already, or else, if it may,
    /// refuses the newest request that is still arriving.
    func makeRoom(on connection: HTTPConnection, mayRefuse: Bool) -> MemoryRelief

    /// The connection is closed, for any reason: forget everything, and call nothing any more.
    func closed()
}

/// What a driver has given up because there is no memory.
enum MemoryRelief {
    /// Nothing: no request is arriving.
    case none
    /// What was answered already.
    case answered
    /// A request, which was refused.
    case request
}

/// A driver of what comes before HTTP: it writes nothing, dispatches nothing, and asks for no turn.
protocol PreludeDriver: ConnectionDriver {}

extension PreludeDriver {
    /// Most of them look at the input in `socketReady`.
    var isReading: Bool { false }

    var state: HTTPConnectionState { .arriving }
    var heldMemory: HeldMemory { HeldMemory() }
    func makeRoom(on connection: HTTPConnection, mayRefuse: Bool) -> MemoryRelief { .none }
    func received(_ bytes: Span<UInt8>, on connection: HTTPConnection) {}
    func inputEnded(on connection: HTTPConnection) {}
    func outputDrained(on connection: HTTPConnection) {}
    func resumed(on connection: HTTPConnection) {}
    func inputTurnCame(on connection: HTTPConnection) {}
    func respond(_ response: HTTPResponse, to stream: StreamToken, on connection: HTTPConnection) {}
    func closed() {}
}

/// Names a request among those that are being answered on one connection. What it means is up to the driver: the
/// stream's identifier in HTTP/2, 0 in HTTP/1.1.
struct StreamToken: Hashable, Sendable {
    let number: Int32

    init(_ number: Int32 = 0) {
        self.number = number
    }
}

/// The protocols that a connection can speak, named as in ALPN (RFC 7301 section 6).
enum ApplicationProtocol: String, Sendable {
    case http1 = "http/1.1"
    case http2 = "h2"

    /// Makes the driver for a connection of this listener.
    func makeDriver(for listener: ListenerState) -> any ConnectionDriver {
        switch self {
        case .http1: HTTP1Driver(limits: listener.limits)
        case .http2: HTTP2Driver(limits: listener.limits)
        }
    }
}

extension ListenerState {
    /// Makes the first driver of a new connection; `isFromProxy` says whether a trusted proxy has opened it.
    func makeFirstDriver(isFromProxy: Bool) -> any ConnectionDriver {
        settings.expectsProxyHeader ? ProxyHeaderDriver() : makeClientDriver(isFromProxy: isFromProxy)
    }

    /// Makes the driver for what the client sends first: the bytes behind a PROXY header, if there is one.
    func makeClientDriver(isFromProxy: Bool) -> any ConnectionDriver {
        if let slot = settings.tls { return TLSHandshakeDriver(slot.current) }
        return settings.offersHTTP2 || isFromProxy && settings.offersHTTP2ToProxies
            ? PriorKnowledgeDriver(limits: limits) : ApplicationProtocol.http1.makeDriver(for: self)
    }
}

/// A request that is being answered, as the observer will hear of it.
struct HTTPExchange: Equatable {
    let method: HTTPMethod
    /// When its last byte had arrived.
    let startedAt: MonotonicTime
    /// Known once the handler has answered.
    var status: HTTPStatus?
}
