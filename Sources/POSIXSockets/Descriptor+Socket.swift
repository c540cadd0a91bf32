import CLinux
import Glibc

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

    /// Makes calls return at once when they would wait.
    borrowing func makeNonBlocking() throws(SocketError) {
        let number = self.number
        let flags = try interruptible { fcntl(number, F_GETFL) }.get(.fcntl)
        _ = try interruptible { fcntl(number, F_SETFL, flags | O_NONBLOCK) }.get(.fcntl)
    }

    /// A second descriptor of the same open socket, close-on-exec.
    borrowing func duplicate() throws(SocketError) -> Descriptor {
        let number = self.number
        return Descriptor(owning: try interruptible { fcntl(number, F_DUPFD_CLOEXEC, 3) }.get(.fcntl))
    }

    /// Sets how long a close waits for undelivered bytes; 0 makes it a reset.
    borrowing func setLinger(seconds: Int32) throws(SocketError) {
        var value = linger(l_onoff: 1, l_linger: seconds)
        // Safe: the pointer and the size belong to the same local variable.
        let result = unsafe setsockopt(number, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size))
        guard result == 0 else { throw .failed(.setsockopt, errno: errno) }
    }

    /// The address that a socket is bound to.
    borrowing func localAddress() throws(SocketError) -> SocketAddress {
        let number = self.number
        let (result, address) = unsafe SocketAddress.filled { address, length in
            interruptible { unsafe getsockname(number, address, length) }
        }
        _ = try result.get(.getsockname)
        guard let address else { throw .failed(.getsockname, errno: EAFNOSUPPORT) }
        return address
    }
}
