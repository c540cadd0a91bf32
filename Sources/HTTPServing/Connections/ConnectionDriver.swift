import HTTPMessages
import Telemetry

/// Implements a protocol on one connection: HTTP/1.1, HTTP/2, or a step before them.
///
/// The connection owns the socket, TLS, the timer, the output that the kernel has not taken yet, and the closing. The
/// driver interprets the bytes. A driver belongs to one connection and keeps no reference to it: each event passes the
/// connection, and the driver acts by calling it. All calls happen on the connection's loop.
///
/// A connection may have several drivers, one after the other: for the PROXY header, for the TLS handshake, for the
/// choice between HTTP/1.1 and HTTP/2, then for one of these two. Each driver passes the connection to the next one by
/// `HTTPConnection.handOver`, and gets no events after that.
///
/// A call of the connection may close it, for example if a write fails. It may also call the driver before it returns:
/// if the handler answers immediately, `HTTPConnection.dispatch` calls `respond`. So a driver updates its own state
/// before it calls the connection, and checks `HTTPConnection.isOpen` before it continues. Once the connection is
/// closed, only `closed` is called.
protocol ConnectionDriver: AnyObject {
    /// Whether the driver wants bytes now. While this is `false`, the connection does not read, and the peer's bytes
    /// wait in the kernel.
    ///
    /// If a driver changes this to `true` outside `received`, it calls `HTTPConnection.requestInputTurn`.
    var isReading: Bool { get }

    /// The first event: the driver now serves the connection, and has received nothing yet.
    func started(on connection: HTTPConnection)

    /// The socket has input, the end of the input, or room for output.
    ///
    /// It is for drivers that examine the input themselves or let OpenSSL read it. It is called only while `isReading`
    /// is `false`; otherwise the connection reads.
    func socketReady(on connection: HTTPConnection)

    /// The connection has read bytes of the peer, at least one, without TLS. They are borrowed: the driver must copy
    /// the bytes that it keeps.
    ///
    /// Called only while `isReading` is `true`, and at most once per turn of the loop.
    func received(_ bytes: Span<UInt8>, on connection: HTTPConnection)

    /// The peer has ended its output; it may still read. Called once.
    func inputEnded(on connection: HTTPConnection)

    /// The client is gone. The connection closes next; what the client sent last can still be read.
    func lost(on connection: HTTPConnection)

    /// The kernel has taken the rest of the output, after a `write` of which it took only a part.
    func outputDrained(on connection: HTTPConnection)

    /// The driver's turn to write has come, which it requested with `HTTPConnection.requestResume`.
    func resumed(on connection: HTTPConnection)

    /// The driver's turn has come, which it requested with `HTTPConnection.requestInputTurn`. The driver processes one
    /// piece of the input that it holds.
    ///
    /// Called only while `isReading` is `false`; otherwise the connection uses the turn to read.
    func inputTurnCame(on connection: HTTPConnection)

    /// The instant that was set with `HTTPConnection.setDeadline` has passed. No deadline runs until a new one is set.
    func deadlinePassed(on connection: HTTPConnection)

    /// The handler has answered the request that was dispatched under this token. Called once per `dispatch`, unless
    /// the connection closes first.
    func respond(_ response: HTTPResponse, to stream: StreamToken, on connection: HTTPConnection)

    /// The handler has answered the request with this head, and will send the body in pieces.
    ///
    /// The driver ends the body if no body follows the head, and when the stream is over for any reason.
    func respond(
        _ head: HTTPResponse, streaming body: HTTPBodyStream, to stream: StreamToken, on connection: HTTPConnection)

    /// A streamed body has more bytes for the client, or is finished.
    func bodyChanged(of stream: StreamToken, on connection: HTTPConnection)

    /// The client does not read a streamed body. The driver ends the response without its rest.
    func abandonBody(of stream: StreamToken, on connection: HTTPConnection)

    /// The server is shutting down: the driver finishes the requests that have begun and all streamed bodies, accepts
    /// no new requests (HTTP/2: GOAWAY), then closes.
    func drain(on connection: HTTPConnection)

    /// The state of the connection, for eviction and for operators.
    var state: HTTPConnectionState { get }

    /// Whether a part of a request's head has arrived. It is read after each event.
    var isInHead: Bool { get }

    /// The memory that the driver holds for its client. Its part `connection` has only the driver's own addition. It is
    /// read after each event.
    var heldMemory: HeldMemory { get }

    /// The memory budget has no room for the memory that the driver holds.
    ///
    /// The driver ends streams that are answered already. If there are none and `mayRefuse` is `true`, it refuses the
    /// newest request that is still arriving.
    func makeRoom(on connection: HTTPConnection, mayRefuse: Bool) -> MemoryRelief

    /// The connection is closed, for any reason. The driver releases everything, and calls the connection no more.
    func closed()
}

extension ConnectionDriver {
    /// False, because only HTTP/1.1 has requests whose head arrives alone on the connection.
    var isInHead: Bool { false }

    /// Nothing, because the answer to what came last would reach no client.
    func lost(on connection: HTTPConnection) {}
}

/// What a driver has ended because the memory budget is used up.
enum MemoryRelief {
    /// Nothing, because no request is arriving.
    case none
    /// Streams that were answered already.
    case answered
    /// A request, which was refused.
    case request
}

/// A driver for a step before HTTP. It writes nothing, dispatches nothing, and requests no turn.
protocol PreludeDriver: ConnectionDriver {}

extension PreludeDriver {
    /// False, because most of these drivers examine the input in `socketReady`.
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
    func respond(
        _ head: HTTPResponse, streaming body: HTTPBodyStream, to stream: StreamToken, on connection: HTTPConnection
    ) {}
    func bodyChanged(of stream: StreamToken, on connection: HTTPConnection) {}
    func abandonBody(of stream: StreamToken, on connection: HTTPConnection) {}
    func closed() {}
}

/// Identifies one of the requests that are being answered on a connection: the stream identifier in HTTP/2, 0 in
/// HTTP/1.1.
struct StreamToken: Hashable, Sendable {
    let number: Int32

    init(_ number: Int32 = 0) {
        self.number = number
    }
}

/// The facts about a request that the observer gets when the request is answered.
struct HTTPExchange: Equatable {
    let method: HTTPMethod
    /// When the last byte of the request arrived.
    let startedAt: MonotonicTime
    /// The status of the answer; nil until the handler has answered.
    var status: HTTPStatus?
}
