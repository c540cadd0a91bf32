import HTTPMessages
import POSIXSockets
import Telemetry

/// The bytes of a connection, in and out, without any knowledge of what they mean: through TLS once that has begun.
struct Transport: ~Copyable {
    private var socket: ConnectedSocket
    private var tls: TLSSession?

    init(_ socket: consuming ConnectedSocket) {
        self.socket = socket
    }

    /// The number to register with a loop.
    var descriptor: Int32 { socket.number }

    var isOpen: Bool { socket.isOpen }

    /// Whether TLS has begun.
    var hasTLS: Bool {
        switch tls {
        case .some: true
        case nil: false
        }
    }

    // MARK: TLS

    /// Begins TLS, before anything was read; `false` when there is no memory for it.
    mutating func startTLS(_ context: TLSContext, limits: HTTPLimits, now: MonotonicTime) -> Bool {
        tls = TLSSession(context, descriptor: socket.number, limits: limits, now: now)
        return tls != nil
    }

    /// Goes on with the handshake; without TLS it is finished at once.
    mutating func handshake(now: MonotonicTime) -> HandshakeOutcome {
        tls?.handshake(now: now) ?? .done
    }

    /// A response has gone out, which allows for what a client says about it.
    mutating func answered() {
        tls?.answered()
    }

    /// What the handshake has agreed on; `nil` without TLS, and when the client offered no protocol.
    var applicationProtocol: ApplicationProtocol? {
        switch tls {
        case .some(let tls): tls.applicationProtocol
        case nil: nil
        }
    }

    /// What is known of the TLS in use; `nil` without.
    var tlsFacts: TLSFacts? {
        switch tls {
        case .some(let tls): tls.facts
        case nil: nil
        }
    }

    /// Whether reading goes on once there is room to write.
    var readWaitsForRoom: Bool {
        switch tls {
        case .some(let tls): tls.readWaitsForRoom
        case nil: false
        }
    }

    // MARK: Bytes

    /// Reads what is there into the front of `buffer`, as much as one turn may take.
    mutating func read(into buffer: inout [UInt8], now: MonotonicTime) -> TransportReadOutcome {
        if let outcome = tls?.read(into: &buffer, now: now) { return outcome }
        switch socket.read(into: &buffer) {
        // A buffer that was not filled means that the socket is empty.
        case .bytes(let count): return .bytes(count, mayHaveMore: count == buffer.count)
        case .endOfInput: return .endOfInput
        case .wouldBlock: return .wouldBlock
        case .failed: return .failed
        }
    }

    /// Copies what is there into the front of `buffer` and leaves it there, beneath TLS.
    mutating func peek(into buffer: inout [UInt8]) -> ReadOutcome {
        socket.peek(into: &buffer)
    }

    /// Drops so many bytes that were seen by `peek`.
    mutating func skip(_ count: Int) {
        socket.skip(count)
    }

    /// Writes as much as can be written now. When that is less than all, more may be possible at once.
    mutating func write(_ bytes: Span<UInt8>) -> WriteOutcome {
        if let outcome = tls?.write(bytes) { return outcome }
        return socket.write(bytes)
    }

    /// Sends the end of our stream.
    mutating func finishWriting() {
        tls?.finishWriting()
        socket.shutDownWriting()
    }

    /// Closes; with `reset` the peer is told that something was lost.
    mutating func close(reset: Bool) {
        if reset { socket.resetOnClose() } else { tls?.finishWriting() }
        socket.close()
        tls = nil
    }
}

/// What one turn's read came to.
enum TransportReadOutcome: Equatable {
    /// So many bytes, at least one. With `mayHaveMore` the next turn is to read again: no event announces what is there
    /// already.
    case bytes(Int, mayHaveMore: Bool)
    /// No byte, although there may be more: the turn's budget went to what carries none.
    case turnIsSpent
    /// The peer sends no more.
    case endOfInput
    /// Nothing is there yet.
    case wouldBlock
    /// The connection is lost.
    case failed
    /// The client sends more small TLS records than it may.
    case abused
}
