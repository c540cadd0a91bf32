import CLinux
import Glibc

/// A TCP socket that accepts connections, non-blocking.
///
/// Every event loop has one of its own on the same address, and the kernel spreads the connections between them.
package struct ListeningSocket: ~Copyable, Sendable {
    private var descriptor: Descriptor
    /// The address that the socket is bound to; never port 0.
    package let address: SocketAddress

    /// Takes an address that nobody else listens on; port 0 takes a free one.
    ///
    /// The socket binds and listens *without* `SO_REUSEPORT`, which fails with `SocketError.addressInUse` as long as anybody else
    /// listens there. Only then the option is set, so that siblings may join. So a second daemon is told that the port is taken,
    /// instead of silently receiving half of the connections, and no moment lies between the proof and the possession.
    ///
    /// `SO_REUSEADDR` is set: connections of an earlier process in TIME_WAIT do not hinder a restart.
    package init(exclusivelyOn address: SocketAddress, backlog: Int32 = 4096) throws(SocketError) {
        let descriptor = try Self.makeSocket(for: address)
        try Self.bindAndListen(descriptor, address, backlog)
        try descriptor.setOption(SOL_SOCKET, SO_REUSEPORT, 1)
        self.address = try descriptor.localAddress()
        self.descriptor = descriptor
    }

    /// Opens one more socket of this process on the same address, for another event loop.
    package borrowing func sibling(backlog: Int32 = 4096) throws(SocketError) -> ListeningSocket {
        let descriptor = try Self.makeSocket(for: address)
        try descriptor.setOption(SOL_SOCKET, SO_REUSEPORT, 1)
        try Self.bindAndListen(descriptor, address, backlog)
        return ListeningSocket(descriptor, on: address)
    }

    private init(_ descriptor: consuming Descriptor, on address: SocketAddress) {
        self.descriptor = descriptor
        self.address = address
    }

    /// The descriptor's number, for an epoll set.
    package var number: Int32 { descriptor.number }

    /// Accepts one waiting connection as a non-blocking socket with Nagle's algorithm off.
    package borrowing func accept() -> AcceptOutcome {
        let listener = descriptor.number
        let (result, peer) = unsafe SocketAddress.filled { address, length in
            interruptible { unsafe latchkey_accept_nonblocking(listener, address, length) }
        }
        switch result {
        case .value(let number):
            let accepted = Descriptor(owning: number)
            guard let peer else { return .failed }
            return .accepted(ConnectedSocket(accepted, peer: peer))
        case .failure(EAGAIN): return .wouldBlock
        case .failure(EMFILE), .failure(ENFILE), .failure(ENOBUFS), .failure(ENOMEM): return .outOfDescriptors
        // The peer gave up between its handshake and now, or the network failed: accept(2) says to go on.
        case .failure: return .failed
        }
    }

    /// Stops listening at once; connections that nobody accepted yet are reset.
    package mutating func close() {
        descriptor.close()
    }

    private static func makeSocket(for address: SocketAddress) throws(SocketError) -> Descriptor {
        let descriptor = try Descriptor(openingSocketOf: address.family, Int32(SOCK_STREAM.rawValue))
        try descriptor.setOption(SOL_SOCKET, SO_REUSEADDR, 1)
        // So that 0.0.0.0 and [::] can be listened on side by side, whatever the machine's default is.
        if address.family == AF_INET6 { try descriptor.setOption(Int32(IPPROTO_IPV6), IPV6_V6ONLY, 1) }
        return descriptor
    }

    private static func bindAndListen(
        _ descriptor: borrowing Descriptor, _ address: SocketAddress, _ backlog: Int32
    ) throws(SocketError) {
        let number = descriptor.number
        let bound = unsafe address.withSystemAddress { pointer, length in
            interruptible { unsafe Glibc.bind(number, pointer, length) }
        }
        if case .failure(let errno) = bound { throw refusal(of: .bind, address, errno) }
        if case .failure(let errno) = interruptible({ Glibc.listen(number, backlog) }) {
            throw refusal(of: .listen, address, errno)
        }
    }

    private static func refusal(of call: SystemCall, _ address: SocketAddress, _ errno: Int32) -> SocketError {
        switch errno {
        case EADDRINUSE: .addressInUse(address)
        case EADDRNOTAVAIL: .addressUnavailable(address)
        case EACCES, EPERM: .addressForbidden(address)
        default: .failed(call, errno: errno)
        }
    }
}

/// What one `accept` came to.
package enum AcceptOutcome: ~Copyable {
    /// A connection, which the caller now owns.
    case accepted(ConnectedSocket)
    /// Nobody waits.
    case wouldBlock
    /// The process or the machine has no descriptor or memory left: back off.
    case outOfDescriptors
    /// This one connection failed before it was accepted; the next may succeed.
    case failed
}
