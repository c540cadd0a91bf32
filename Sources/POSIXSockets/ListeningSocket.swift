import CLinux
import Glibc

/// A socket that accepts connections, non-blocking: TCP or unix.
///
/// On a TCP address of our own every event loop has one of its own, and the kernel spreads the connections between
/// them. A unix socket, and one that systemd has passed, is one queue that all loops share.
package struct ListeningSocket: ~Copyable, Sendable {
    private var descriptor: Descriptor
    /// The address that the socket is bound to; never port 0.
    package let address: SocketAddress
    /// Whether other descriptors stand for the same queue: an event set must watch it as `EpollInterest.exclusive`.
    package let isShared: Bool
    /// Whether systemd has passed the socket: the queue outlives this process.
    package let isPassed: Bool
    /// The file of a unix socket of our own, which this socket removes.
    private var file: UnixSocketFile?

    /// Takes an address on which no other socket listens; port 0 takes a free one.
    ///
    /// A TCP socket binds and listens *without* `SO_REUSEPORT`, which fails with `SocketError.addressInUse` as long as
    /// another socket listens there. Only then the option is set, so that siblings may join. So a second daemon is told
    /// that the port is taken, instead of silently receiving half of the connections, and no moment lies between the
    /// proof and the possession. `SO_REUSEADDR` is set: connections of an earlier process in TIME_WAIT do not hinder a
    /// restart.
    ///
    /// A unix socket replaces one that a process has left behind (`UnixSocketFile`), and its file has the permissions
    /// `mode` before a client can connect.
    package init(
        exclusivelyOn address: SocketAddress, mode: UInt32 = 0o660, backlog: Int32 = 4096
    ) throws(SocketError) {
        switch address {
        case .internet:
            let descriptor = try Self.makeSocket(for: address)
            try Self.bind(descriptor, address)
            try Self.listen(descriptor, address, backlog)
            try descriptor.setOption(SOL_SOCKET, SO_REUSEPORT, 1)
            let bound = try descriptor.localAddress()
            self.init(descriptor, on: bound)
        case .unix(let path):
            let file = try UnixSocketFile(claiming: path)
            let descriptor = try Self.makeSocket(for: address)
            try Self.bind(descriptor, address)
            try file.setMode(mode)
            try Self.listen(descriptor, address, backlog)
            self.init(descriptor, on: address, isShared: true, file: file)
        }
    }

    /// Takes over a listening stream socket that another process has made.
    init(activated descriptor: consuming Descriptor) throws(SocketError) {
        guard try descriptor.option(SOL_SOCKET, SO_ACCEPTCONN) == 1,
            try descriptor.option(SOL_SOCKET, SO_TYPE) == Int32(SOCK_STREAM.rawValue)
        else { throw .failed(.listen, errno: EINVAL) }
        try descriptor.makeNonBlocking()
        let address = try descriptor.localAddress()
        self.init(descriptor, on: address, isShared: true, isPassed: true)
    }

    /// One more socket of this process on the same address, for another event loop: with a queue of its own, or the
    /// shared one.
    package borrowing func sibling(backlog: Int32 = 4096) throws(SocketError) -> ListeningSocket {
        if isShared {
            return ListeningSocket(try descriptor.duplicate(), on: address, isShared: true, isPassed: isPassed)
        }
        let descriptor = try Self.makeSocket(for: address)
        try descriptor.setOption(SOL_SOCKET, SO_REUSEPORT, 1)
        try Self.bind(descriptor, address)
        try Self.listen(descriptor, address, backlog)
        return ListeningSocket(descriptor, on: address)
    }

    private init(
        _ descriptor: consuming Descriptor, on address: SocketAddress, isShared: Bool = false, isPassed: Bool = false,
        file: UnixSocketFile? = nil
    ) {
        self.descriptor = descriptor
        self.address = address
        self.isShared = isShared
        self.isPassed = isPassed
        self.file = file
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
        // EINVAL: a unix socket that takes no new connections has no more waiting ones.
        case .failure(EAGAIN), .failure(EINVAL): return .wouldBlock
        case .failure(EMFILE), .failure(ENFILE), .failure(ENOBUFS), .failure(ENOMEM): return .outOfDescriptors
        // The peer gave up between its handshake and now, or the network failed: accept(2) says to go on.
        case .failure: return .failed
        }
    }

    /// Has the kernel begin no new connections on this queue; those that wait, and TCP handshakes that have begun, can
    /// still be accepted.
    ///
    /// A client that comes now waits for its second attempt on TCP (as a rule for one second), and is refused at once
    /// on a unix socket. A socket that systemd has passed stays as it is. If the kernel takes no socket filter, new TCP
    /// connections still come.
    package borrowing func refuseNewConnections() {
        guard !isPassed else { return }
        switch address {
        case .internet: _ = latchkey_drop_new_connections(descriptor.number)
        case .unix: _ = shutdown(descriptor.number, Int32(SHUT_RD))
        }
    }

    /// Stops listening at once. Connections that are not accepted yet are reset, unless the queue is shared with
    /// another process.
    package mutating func close() {
        file?.remove()
        file = nil
        descriptor.close()
    }

    private static func makeSocket(for address: SocketAddress) throws(SocketError) -> Descriptor {
        let descriptor = try Descriptor(openingSocketOf: address.family, Int32(SOCK_STREAM.rawValue))
        if address.family != AF_UNIX { try descriptor.setOption(SOL_SOCKET, SO_REUSEADDR, 1) }
        // So that 0.0.0.0 and [::] can be listened on side by side, with any default of the machine.
        if address.family == AF_INET6 { try descriptor.setOption(Int32(IPPROTO_IPV6), IPV6_V6ONLY, 1) }
        return descriptor
    }

    private static func bind(_ descriptor: borrowing Descriptor, _ address: SocketAddress) throws(SocketError) {
        let number = descriptor.number
        let bound = unsafe address.withSystemAddress { pointer, length in
            interruptible { unsafe Glibc.bind(number, pointer, length) }
        }
        if case .failure(let errno) = bound { throw refusal(of: .bind, address, errno) }
    }

    private static func listen(
        _ descriptor: borrowing Descriptor, _ address: SocketAddress, _ backlog: Int32
    ) throws(SocketError) {
        let number = descriptor.number
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
    /// No client waits.
    case wouldBlock
    /// The process or the machine has no descriptor or memory left: back off.
    case outOfDescriptors
    /// This one connection failed before it was accepted; the next may succeed.
    case failed
}
