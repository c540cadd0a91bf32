import Glibc

/// A TCP connection, non-blocking, with Nagle's algorithm off.
package struct ConnectedSocket: ~Copyable, Sendable {
    private var descriptor: Descriptor
    /// The address of the peer.
    package let peer: SocketAddress

    /// Takes over a connected, non-blocking descriptor.
    init(_ descriptor: consuming Descriptor, peer: SocketAddress) {
        self.descriptor = descriptor
        self.peer = peer
        // A socket that refuses the option still works, only slower.
        try? self.descriptor.setOption(Int32(IPPROTO_TCP), TCP_NODELAY, 1)
    }

    /// Starts to connect. The socket becomes writable when the connection is established.
    package init(connectingTo address: SocketAddress) throws(SocketError) {
        let descriptor = try Descriptor(openingSocketOf: address.family, Int32(SOCK_STREAM.rawValue))
        let number = descriptor.number
        let result = unsafe address.withSystemAddress { pointer, length in
            interruptible { unsafe Glibc.connect(number, pointer, length) }
        }
        if case .failure(let errno) = result, errno != EINPROGRESS { throw .failed(.connect, errno: errno) }
        self.init(descriptor, peer: address)
    }

    /// The descriptor's number, for an epoll set; -1 after `close`.
    package var number: Int32 { descriptor.number }

    /// Whether the socket is open: `close` was not called yet.
    package var isOpen: Bool { descriptor.isOpen }

    /// Reads available bytes into the beginning of `buffer`, which must not be empty.
    package borrowing func read(into buffer: inout [UInt8]) -> ReadOutcome {
        descriptor.receive(into: &buffer, from: 0)
    }

    /// Reads like `read`, but leaves the bytes in the socket, so that they can be read again.
    package borrowing func peek(into buffer: inout [UInt8]) -> ReadOutcome {
        descriptor.receive(into: &buffer, from: 0, flags: Int32(truncatingIfNeeded: MSG_PEEK))
    }

    /// Drops `count` bytes that `peek` has read before.
    package borrowing func skip(_ count: Int) {
        var rest = [UInt8](repeating: 0, count: count)
        while !rest.isEmpty, case .bytes(let size) = read(into: &rest) { rest.removeLast(size) }
    }

    /// Writes as much as the kernel takes now. It never raises SIGPIPE. `bytes` must not be empty.
    package borrowing func write(_ bytes: Span<UInt8>) -> WriteOutcome {
        descriptor.send(bytes)
    }

    /// Ends the output. The peer can still send.
    package borrowing func shutDownWriting() {
        // This fails only if the connection is lost already, which the next read shows.
        _ = Glibc.shutdown(descriptor.number, Int32(SHUT_WR))
    }

    /// Makes the next `close` send a reset: undelivered bytes are dropped, and the kernel keeps no TIME_WAIT state.
    package borrowing func resetOnClose() {
        try? descriptor.setLinger(seconds: 0)
    }

    /// Closes the socket. A second call does nothing.
    package mutating func close() {
        descriptor.close()
    }
}

/// The result of one read.
package enum ReadOutcome: Equatable, Sendable {
    /// The number of bytes that were read, at least one.
    case bytes(Int)
    /// The peer has ended its output.
    case endOfInput
    /// No bytes have arrived yet.
    case wouldBlock
    /// The connection is lost.
    case failed(errno: Int32)
}

/// The result of one write.
package enum WriteOutcome: Equatable, Sendable {
    /// The number of bytes that the kernel took, which can be fewer than offered.
    case written(Int)
    /// The kernel's buffer is full.
    case wouldBlock
    /// The connection is lost.
    case failed(errno: Int32)
}
