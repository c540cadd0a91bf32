import CLinux
import Glibc

/// Tells systemd the state of the service (protocol of `sd_notify(3)`), with one datagram per message.
///
/// If systemd has not started the service, there is no notify socket, and every message succeeds without an effect.
package struct ServiceNotifier: Sendable {
    private let path: [UInt8]

    /// Takes the socket's name in `$NOTIFY_SOCKET`: a file path, or `@` and an abstract name; `nil` if it is not set.
    ///
    /// The name must fit into `sockaddr_un.sun_path` (107 bytes). For a longer one, it throws `ENAMETOOLONG`.
    package init(socketName: String?) throws(SocketError) {
        var path = Array((socketName ?? "").utf8)
        guard path.count < Self.pathSizeMaximum else { throw .failed(.send, errno: ENAMETOOLONG) }
        if path.first == UInt8(ascii: "@") { path[0] = 0 }
        self.path = path
    }

    /// Reports that the service is ready, after its start or a reload.
    package func ready() throws(SocketError) { try send("READY=1") }

    /// Reports that the service is shutting down.
    package func stopping() throws(SocketError) { try send("STOPPING=1") }

    /// Reports that a reload begins at this time of the monotonic clock.
    package func reloading(monotonicMicroseconds: UInt64) throws(SocketError) {
        try send("RELOADING=1\nMONOTONIC_USEC=\(monotonicMicroseconds)")
    }

    /// Reports that the service still makes progress (watchdog).
    package func alive() throws(SocketError) { try send("WATCHDOG=1") }

    /// Sets the one-line status that `systemctl status` shows.
    package func status(_ text: String) throws(SocketError) {
        try send("STATUS=" + String(text.map { $0.isNewline ? " " : $0 }))
    }

    private func send(_ message: String) throws(SocketError) {
        guard !path.isEmpty else { return }
        let socket = try Descriptor(openingSocketOf: AF_UNIX, Int32(SOCK_DGRAM.rawValue))
        let number = socket.number
        let bytes = Array(message.utf8)
        let result = unsafe withSystemAddress { address, length in
            // Safe: the kernel reads the address and the message, both borrowed for the call.
            interruptible {
                unsafe sendto(number, bytes, bytes.count, Int32(MSG_NOSIGNAL), address, length)
            }
        }
        _ = try result.get(.send)
    }

    private func withSystemAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        // Safe: the path is shorter than sun_path, so a terminator stays after it. A sockaddr_un may be read as a
        // sockaddr.
        return unsafe withUnsafeMutableBytes(of: &address) { bytes in
            guard let start = bytes.baseAddress else { preconditionFailure("a socket address has no size") }
            unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[Self.pathOffset...]).copyBytes(from: path)
            return unsafe body(start.assumingMemoryBound(to: sockaddr.self), socklen_t(Self.pathOffset + path.count))
        }
    }

    private static let pathOffset = MemoryLayout<sa_family_t>.size
    private static let pathSizeMaximum = MemoryLayout<sockaddr_un>.size - pathOffset
}
