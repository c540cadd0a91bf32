import Glibc

/// A TCP connection, non-blocking, with Nagle's algorithm off.
package struct ConnectedSocket: ~Copyable, Sendable {
    private var descriptor: Descriptor
    /// Who is at the other end.
    package let peer: SocketAddress

    /// Takes over a connected, non-blocking descriptor.
    init(_ descriptor: consuming Descriptor, peer: SocketAddress) {
        self.descriptor = descriptor
        self.peer = peer
        // A socket that refuses the option still works, only slower.
        try? self.descriptor.setOption(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    }

    /// Starts to connect; the socket is writable once the connection stands.
    package init(connectingTo address: SocketAddress) throws(SocketError) {
        let descriptor = try Descriptor(openingSocketOf: address.family, Int32(SOCK_STREAM.rawValue))
        let number = descriptor.number
        let result = unsafe address.withSystemAddress { pointer, length in
            interruptible { unsafe Glibc.connect(number, pointer, length) }
        }
        if case .failure(let errno) = result, errno != EINPROGRESS { throw .failed(.connect, errno: errno) }
        self.init(descriptor, peer: address)
    }

    /// The descriptor's number, for an epoll set; -1 once closed.
    package var number: Int32 { descriptor.number }

    /// Whether `close` has not been called yet.
    package var isOpen: Bool { descriptor.isOpen }

    /// Reads what is there into the front of `buffer`, at most its whole size. `buffer` must not be empty.
    package borrowing func read(into buffer: inout [UInt8]) -> ReadOutcome {
        descriptor.receive(into: &buffer, from: 0)
    }

    /// Reads like `read`, and leaves the bytes there to be read again.
    package borrowing func peek(into buffer: inout [UInt8]) -> ReadOutcome {
        descriptor.receive(into: &buffer, from: 0, flags: Int32(truncatingIfNeeded: MSG_PEEK))
    }

    /// Drops so many bytes, which `peek` has seen.
    package borrowing func skip(_ count: Int) {
        var rest = [UInt8](repeating: 0, count: count)
        while !rest.isEmpty, case .bytes(let size) = read(into: &rest) { rest.removeLast(size) }
    }

    /// Writes as much as the kernel takes now; never raises SIGPIPE. `bytes` must not be empty.
    package borrowing func write(_ bytes: Span<UInt8>) -> WriteOutcome {
        descriptor.send(bytes)
    }

    /// Sends the end of our side of the stream; the peer can still send.
    package borrowing func shutDownWriting() {
        // Fails only when the connection is already gone, which the next read tells.
        _ = Glibc.shutdown(descriptor.number, Int32(SHUT_WR))
    }

    /// Makes the coming close a reset: what was not delivered is dropped, and no TIME_WAIT stays behind.
    package borrowing func resetOnClose() {
        try? descriptor.setLinger(seconds: 0)
    }

    /// Closes now; a second call does nothing.
    package mutating func close() {
        descriptor.close()
    }
}

/// What one read came to.
package enum ReadOutcome: Equatable, Sendable {
    /// So many bytes arrived, at least one.
    case bytes(Int)
    /// The peer sends no more.
    case endOfInput
    /// Nothing is there yet.
    case wouldBlock
    /// The connection is lost.
    case failed(errno: Int32)
}

/// What one write came to.
package enum WriteOutcome: Equatable, Sendable {
    /// The kernel took so many bytes, possibly fewer than were offered.
    case written(Int)
    /// The kernel's buffer is full.
    case wouldBlock
    /// The connection is lost.
    case failed(errno: Int32)
}
