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

    /// Says that the service is ready, after start or reload. `status` is the line that `systemctl status` shows, here
    /// and below.
    package func ready(status: String) throws(SocketError) { try send("READY=1\n" + Self.assignment(status)) }

    /// Says that the service is going down, and needs at most so long for it, whatever the unit says.
    package func stopping(within limit: Duration, status: String) throws(SocketError) {
        let (seconds, attoseconds) = limit.components
        let microseconds = seconds * 1_000_000 + attoseconds / 1_000_000_000_000
        try send("STOPPING=1\nEXTEND_TIMEOUT_USEC=\(microseconds)\n" + Self.assignment(status))
    }

    /// Says that a reload begins, at this time of the monotonic clock.
    package func reloading(monotonicMicroseconds: UInt64, status: String) throws(SocketError) {
        try send("RELOADING=1\nMONOTONIC_USEC=\(monotonicMicroseconds)\n" + Self.assignment(status))
    }

    /// Says that the service still makes progress. Never blocks: without room in the socket it fails with `EAGAIN`.
    package func alive() throws(SocketError) { try send("WATCHDOG=1", flags: Int32(MSG_DONTWAIT)) }

    /// Sets the status. Never blocks, as `alive`.
    package func status(_ text: String) throws(SocketError) {
        try send(Self.assignment(text), flags: Int32(MSG_DONTWAIT))
    }

    /// How long systemd waits for the next `alive` before it ends the process: `WATCHDOG_USEC`, unless `WATCHDOG_PID`
    /// names another process (`sd_watchdog_enabled(3)`). Nil if it does not wait for any.
    package static func watchdogLimit(environment: [String: String], processID: Int32) -> Duration? {
        if let owner = environment["WATCHDOG_PID"], Int32(owner) != processID { return nil }
        guard let microseconds = environment["WATCHDOG_USEC"].flatMap({ Int64($0) }), microseconds > 0 else {
            return nil
        }
        return .microseconds(microseconds)
    }

    private static func assignment(_ status: String) -> String {
        "STATUS=" + String(status.map { $0.isNewline ? " " : $0 })
    }

    private func send(_ message: String, flags: Int32 = 0) throws(SocketError) {
        guard !path.isEmpty else { return }
        let socket = try Descriptor(openingSocketOf: AF_UNIX, Int32(SOCK_DGRAM.rawValue))
        let number = socket.number
        let bytes = Array(message.utf8)
        let result = unsafe withSystemAddress { address, length in
            // Safe: the kernel reads the address and the message, both borrowed for the call.
            interruptible {
                unsafe sendto(number, bytes, bytes.count, Int32(MSG_NOSIGNAL) | flags, address, length)
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
