import Glibc

/// The other end of `NOTIFY_SOCKET`, which systemd has in production.
package final class NotifySocket {
    package let path: String
    private let descriptor: Int32

    /// Makes the socket. `path` must not exist yet, and has at most 100 bytes.
    package init(path: String) throws {
        self.path = path
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // Safe here and below: the path fits with a zero byte after it, and the kernel gets local variables with their
        // sizes.
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8.prefix(100)) }
        let number = descriptor
        let result = unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else { throw ChildProcessError(program: "bind", errno: errno) }
        var timeout = timeval(tv_sec: 30, tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// Waits for the next message; nil if none arrives within 30 seconds.
    package func receive() -> String? { receive(flags: 0) }

    /// The next message that has already arrived; nil if there is none.
    package var pending: String? { receive(flags: Int32(MSG_DONTWAIT)) }

    private func receive(flags: Int32) -> String? {
        var buffer = [UInt8](repeating: 0, count: 4096)
        let count = unsafe recv(descriptor, &buffer, buffer.count, flags)
        return count < 0 ? nil : String(decoding: buffer.prefix(count), as: UTF8.self)
    }
}
