import CLinux
import Glibc

/// The owner of an open file descriptor. It closes the descriptor in `deinit`.
///
/// A descriptor number is not used after it was closed, because the kernel may give the number to another file.
package struct Descriptor: ~Copyable, Sendable {
    /// The number for system calls; -1 after `close`.
    package private(set) var number: Int32

    /// Takes over a descriptor that no other code closes.
    package init(owning number: Int32) {
        self.number = number
    }

    deinit {
        if number >= 0 { _ = Glibc.close(number) }
    }

    /// Whether the descriptor is still open.
    package var isOpen: Bool { number >= 0 }

    /// Closes the descriptor before `deinit`. A second call does nothing.
    ///
    /// An error of `close` is ignored: Linux frees the number in any case, and a retry could close a descriptor of
    /// another owner.
    package mutating func close() {
        guard number >= 0 else { return }
        _ = Glibc.close(number)
        number = -1
    }
}

extension Descriptor {
    /// Opens a non-blocking, close-on-exec socket.
    init(openingSocketOf family: Int32, _ type: Int32) throws(SocketError) {
        self.init(owning: try interruptible { latchkey_socket_nonblocking(family, type) }.get(.socket))
    }

    /// Sets an integer socket option.
    borrowing func setOption(_ level: Int32, _ option: Int32, _ value: Int32) throws(SocketError) {
        var value = value
        // Safe: the pointer and the size belong to the same local variable.
        let result = unsafe setsockopt(number, level, option, &value, socklen_t(MemoryLayout<Int32>.size))
        guard result == 0 else { throw .failed(.setsockopt, errno: errno) }
    }

    /// Reads an integer socket option.
    borrowing func option(_ level: Int32, _ option: Int32) throws(SocketError) -> Int32 {
        var value: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        // Safe: the pointer and the size belong to the same local variable.
        let result = unsafe getsockopt(number, level, option, &value, &size)
        guard result == 0 else { throw .failed(.getsockopt, errno: errno) }
        return value
    }

    /// Makes the descriptor non-blocking: calls return immediately if they would have to wait.
    borrowing func makeNonBlocking() throws(SocketError) {
        let number = self.number
        let flags = try interruptible { fcntl(number, F_GETFL) }.get(.fileControl)
        _ = try interruptible { fcntl(number, F_SETFL, flags | O_NONBLOCK) }.get(.fileControl)
    }

    /// Returns a second descriptor of the same open socket, which is close-on-exec.
    borrowing func duplicate() throws(SocketError) -> Descriptor {
        let number = self.number
        return Descriptor(owning: try interruptible { fcntl(number, F_DUPFD_CLOEXEC, 3) }.get(.fileControl))
    }

    /// Sets how long `close` waits until all bytes are delivered. With 0, `close` sends a reset.
    borrowing func setLinger(seconds: Int32) throws(SocketError) {
        var value = linger(l_onoff: 1, l_linger: seconds)
        // Safe: the pointer and the size belong to the same local variable.
        let result = unsafe setsockopt(number, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size))
        guard result == 0 else { throw .failed(.setsockopt, errno: errno) }
    }

    /// Whether a number is an open stream socket.
    static func isStreamSocket(_ number: Int32) -> Bool {
        var type: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        // Safe: the pointer and the size belong to the same local variable.
        let result = unsafe getsockopt(number, SOL_SOCKET, SO_TYPE, &type, &size)
        return result == 0 && type == Int32(SOCK_STREAM.rawValue)
    }

    /// Returns the address to which a socket is bound.
    borrowing func localAddress() throws(SocketError) -> SocketAddress {
        let number = self.number
        let (result, address) = unsafe SocketAddress.filled { address, length in
            interruptible { unsafe getsockname(number, address, length) }
        }
        _ = try result.get(.getsockname)
        guard let address else { throw .failed(.getsockname, errno: EAFNOSUPPORT) }
        return address
    }

    /// Reads available bytes into `buffer` from `offset` on. If the descriptor is blocking, it waits for bytes.
    ///
    /// There must be room after `offset`, because a read of 0 bytes would look like the end of the input.
    borrowing func receive(into buffer: inout [UInt8], from offset: Int, flags: Int32 = 0) -> ReadOutcome {
        precondition(offset >= 0 && offset < buffer.count, "a read needs room")
        let number = self.number
        // Safe: the kernel writes at most to the end of storage that is borrowed for the call.
        let result = unsafe buffer.withUnsafeMutableBytes { bytes in
            let room = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[offset...])
            return interruptible { unsafe Glibc.recv(number, room.baseAddress, room.count, flags) }
        }
        switch result {
        case .value(0): return .endOfInput
        case .value(let count): return .bytes(count)
        case .failure(EAGAIN): return .wouldBlock
        case .failure(let errno): return .failed(errno: errno)
        }
    }

    /// Writes as much as the kernel takes now. It never raises SIGPIPE. `bytes` must not be empty.
    borrowing func send(_ bytes: Span<UInt8>) -> WriteOutcome {
        let number = self.number
        // Safe: the kernel only reads `count` bytes of storage that is borrowed for the call.
        let result = unsafe bytes.withUnsafeBufferPointer { bytes in
            interruptible { unsafe Glibc.send(number, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL)) }
        }
        switch result {
        case .value(let count): return .written(count)
        case .failure(EAGAIN): return .wouldBlock
        case .failure(let errno): return .failed(errno: errno)
        }
    }
}

/// A reserved descriptor. It allows to accept and close a connection when the process has no other descriptor left.
package struct ReserveDescriptor: ~Copyable, Sendable {
    private var descriptor: Descriptor

    /// Opens the reserve.
    package init() throws(SocketError) {
        descriptor = Descriptor(owning: try Self.open().get(.open))
    }

    /// Closes the reserve while `body` runs, then opens it again if the process has a free descriptor.
    package mutating func lend(_ body: () -> Void) {
        descriptor.close()
        body()
        if case .value(let number) = Self.open() { descriptor = Descriptor(owning: number) }
    }

    /// Opens the reserve again if `lend` could not. Returns whether it is open.
    package mutating func restore() -> Bool {
        if !descriptor.isOpen, case .value(let number) = Self.open() { descriptor = Descriptor(owning: number) }
        return descriptor.isOpen
    }

    private static func open() -> SystemCallResult<Int32> {
        // Safe: the path is a literal.
        interruptible { unsafe Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC) }
    }
}
