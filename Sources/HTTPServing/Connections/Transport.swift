import HTTPMessages
import POSIXSockets
import Telemetry

/// Reads and writes the bytes of a connection, through TLS once TLS has begun.
struct Transport: ~Copyable {
    private var socket: ConnectedSocket
    private var tls: TLSSession?
    /// The bytes that the kernel has not taken yet.
    private var unsent: ArraySlice<UInt8> = []

    init(_ socket: consuming ConnectedSocket) {
        self.socket = socket
    }

    /// The descriptor to register with a loop.
    var descriptor: Int32 { socket.number }

    /// Whether TLS has begun.
    var hasTLS: Bool {
        switch tls {
        case .some: true
        case nil: false
        }
    }

    // MARK: TLS

    /// Begins TLS, before anything was read. Returns `false` if there is no memory for it.
    mutating func startTLS(_ context: TLSContext, limits: HTTPLimits, now: MonotonicTime) -> Bool {
        tls = TLSSession(context, descriptor: socket.number, limits: limits, now: now)
        return tls != nil
    }

    /// Continues the handshake. Without TLS, it is done immediately.
    mutating func handshake(now: MonotonicTime) -> HandshakeOutcome {
        tls?.handshake(now: now) ?? .done
    }

    /// Notes that a response was sent, which allows the client more small records.
    mutating func answered() {
        tls?.answered()
    }

    /// The protocol that the handshake has agreed on; `nil` without TLS, or if the client offered no protocol.
    var applicationProtocol: ApplicationProtocol? {
        switch tls {
        case .some(let tls): tls.applicationProtocol
        case nil: nil
        }
    }

    /// The facts about TLS; `nil` without TLS.
    var tlsFacts: TLSFacts? {
        switch tls {
        case .some(let tls): tls.facts
        case nil: nil
        }
    }

    /// Whether a read waits until there is room to write.
    var readWaitsForRoom: Bool {
        switch tls {
        case .some(let tls): tls.readWaitsForRoom
        case nil: false
        }
    }

    // MARK: Bytes

    /// Reads available bytes into the beginning of `buffer`, as much as one turn may read.
    mutating func read(into buffer: inout [UInt8], now: MonotonicTime) -> TransportReadOutcome {
        if let outcome = tls?.read(into: &buffer, now: now) { return outcome }
        switch socket.read(into: &buffer) {
        // If the buffer is not full, the socket is empty.
        case .bytes(let count): return .bytes(count, mayHaveMore: count == buffer.count)
        case .endOfInput: return .endOfInput
        case .wouldBlock: return .wouldBlock
        case .failed: return .failed
        }
    }

    /// Copies available bytes into the beginning of `buffer`, and leaves them in the socket. TLS is not involved.
    mutating func peek(into buffer: inout [UInt8]) -> ReadOutcome {
        socket.peek(into: &buffer)
    }

    /// Drops `count` bytes that `peek` has copied before.
    mutating func skip(_ count: Int) {
        socket.skip(count)
    }

    // MARK: Output

    /// Whether output waits for the kernel.
    var isCongested: Bool { !unsent.isEmpty }

    var unsentSize: Int { unsent.count }

    /// Sends bytes while no output waits, and keeps those that the kernel does not take.
    mutating func send(_ bytes: [UInt8]) -> SendOutcome {
        let taken: Int
        switch write(bytes.span) {
        case .written(bytes.count): return .sent
        case .written(let part): taken = part
        case .wouldBlock: taken = 0
        case .failed: return .failed
        }
        // The bytes are copied, because the next connection uses the caller's buffer.
        unsent = Array(bytes[taken...])[...]
        return .waits(mayHaveRoom: taken > 0)
    }

    /// Sends output that waits.
    mutating func sendRest() -> SendOutcome {
        let rest = unsent
        switch write(rest.span) {
        case .written(let count):
            unsent = rest.dropFirst(count)
            // The kernel may still have room, which no edge announces.
            guard unsent.isEmpty else { return .waits(mayHaveRoom: true) }
            unsent = []
            return .sent
        case .wouldBlock: return .waits(mayHaveRoom: false)
        case .failed: return .failed
        }
    }

    /// Adds the bytes that `fill` appends to the output that waits.
    mutating func appendUnsent(_ fill: (inout [UInt8]) -> Void) {
        var output = Array(unsent)
        unsent = []
        fill(&output)
        unsent = output[...]
    }

    /// Writes as much as is possible. If not everything was written, more may be possible immediately.
    private mutating func write(_ bytes: Span<UInt8>) -> WriteOutcome {
        if let outcome = tls?.write(bytes) { return outcome }
        return socket.write(bytes)
    }

    /// Ends the output.
    mutating func finishWriting() {
        tls?.finishWriting()
        socket.shutDownWriting()
    }

    /// Closes the connection. With `reset`, the peer gets a reset, which tells it that data was lost.
    mutating func close(reset: Bool) {
        if reset { socket.resetOnClose() } else { tls?.finishWriting() }
        socket.close()
        tls = nil
        unsent = []
    }
}

/// The result of sending output.
enum SendOutcome {
    /// The kernel has taken all output.
    case sent
    /// Output waits. With `mayHaveRoom`, the kernel may have more room, which no event announces.
    case waits(mayHaveRoom: Bool)
    /// The connection is lost.
    case failed
}
