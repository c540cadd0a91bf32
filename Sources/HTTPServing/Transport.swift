import POSIXSockets

/// The bytes of a connection, in and out, without any knowledge of what they mean.
///
/// Between the socket and the HTTP machines: this is where TLS stands once a listener has it, with the same outcomes.
struct Transport: ~Copyable {
    private var socket: ConnectedSocket

    init(_ socket: consuming ConnectedSocket) {
        self.socket = socket
    }

    /// The number to register with a loop.
    var descriptor: Int32 { socket.number }

    var isOpen: Bool { socket.isOpen }

    /// Reads what is there into the front of `buffer`.
    borrowing func read(into buffer: inout [UInt8]) -> ReadOutcome {
        socket.read(into: &buffer)
    }

    /// Writes as much as can be written now.
    borrowing func write(_ bytes: Span<UInt8>) -> WriteOutcome {
        socket.write(bytes)
    }

    /// Sends the end of our stream.
    borrowing func finishWriting() {
        socket.shutDownWriting()
    }

    /// Closes; with `reset` the peer is told that something was lost.
    mutating func close(reset: Bool) {
        if reset { socket.resetOnClose() }
        socket.close()
    }
}
