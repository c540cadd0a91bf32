import POSIXSockets

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
    mutating func startTLS(_ context: TLSContext) -> Bool {
        tls = TLSSession(context, descriptor: socket.number)
        return tls != nil
    }

    /// Goes on with the handshake; without TLS there is none.
    mutating func handshake() -> HandshakeOutcome {
        tls?.handshake() ?? .done
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

    /// Reads what is there into the front of `buffer`. A buffer that was not filled means that the socket is empty.
    mutating func read(into buffer: inout [UInt8]) -> ReadOutcome {
        if let outcome = tls?.read(into: &buffer) { return outcome }
        return socket.read(into: &buffer)
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
