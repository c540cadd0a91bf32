import CLinux
import Glibc

/// A non-blocking socket that accepts connections, over TCP or a unix socket.
///
/// For a TCP address that this process has bound, each event loop has its own socket, and the kernel distributes the
/// connections. All loops share the queue of a unix socket or of a socket from systemd.
package struct ListeningSocket: ~Copyable, Sendable {
    private var descriptor: Descriptor
    /// The address to which the socket is bound. Its port is never 0.
    package let address: SocketAddress
    /// Whether other descriptors share the same queue. An epoll set must then watch it with `EpollInterest.exclusive`.
    package let isShared: Bool
    /// Whether systemd has passed the socket, so that the queue outlives this process.
    package let isPassed: Bool
    /// The file of a unix socket that this process has bound, which this socket removes.
    private var file: UnixSocketFile?

    /// Binds an address on which no other socket listens. With port 0, the kernel chooses a free port.
    ///
    /// A TCP socket binds and listens *without* `SO_REUSEPORT`. This fails with `SocketError.addressInUse` if another
    /// socket listens on the address. Only afterwards is the option set, so that siblings can bind. So a second daemon
    /// gets an error, instead of half of the connections, and there is no time between the check and the bind.
    /// `SO_REUSEADDR` is set, so that connections of an earlier process in TIME_WAIT do not prevent a restart.
    ///
    /// A unix socket replaces one that another process has left (`UnixSocketFile`). Its file has the permissions `mode`
    /// before a client can connect.
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

    /// Makes one more socket on the same address for another event loop, with its own queue or with the shared one.
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
        // EINVAL: a unix socket that refuses new connections has no waiting connections left.
        case .failure(EAGAIN), .failure(EINVAL): return .wouldBlock
        case .failure(EMFILE), .failure(ENFILE), .failure(ENOBUFS), .failure(ENOMEM): return .outOfDescriptors
        // The peer closed the connection before it was accepted, or the network failed. Other connections can still be
        // accepted (accept(2)).
        case .failure: return .failed
        }
    }

    /// Makes the kernel refuse new connections on this queue. Waiting connections, and TCP handshakes that have begun,
    /// can still be accepted.
    ///
    /// A new TCP client tries again later, usually after one second. A new client of a unix socket is refused
    /// immediately. A socket from systemd is not changed. If the kernel does not support socket filters, new TCP
    /// connections still arrive.
    package borrowing func refuseNewConnections() {
        guard !isPassed else { return }
        switch address {
        case .internet: _ = latchkey_drop_new_connections(descriptor.number)
        case .unix: _ = shutdown(descriptor.number, Int32(SHUT_RD))
        }
    }

    /// Stops listening. Connections that are not accepted yet are reset, unless another process shares the queue.
    package mutating func close() {
        file?.remove()
        file = nil
        descriptor.close()
    }

    private static func makeSocket(for address: SocketAddress) throws(SocketError) -> Descriptor {
        let descriptor = try Descriptor(openingSocketOf: address.family, Int32(SOCK_STREAM.rawValue))
        if address.family != AF_UNIX { try descriptor.setOption(SOL_SOCKET, SO_REUSEADDR, 1) }
        // Allows to listen on both 0.0.0.0 and [::], with any default of the machine.
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

/// The result of one `accept`.
package enum AcceptOutcome: ~Copyable {
    /// A connection, which the caller now owns.
    case accepted(ConnectedSocket)
    /// No connection waits.
    case wouldBlock
    /// The process or the machine has no descriptor or no memory left. The caller must pause.
    case outOfDescriptors
    /// This connection failed before it was accepted. The next one may succeed.
    case failed
}
