import Foundation
import Glibc
import POSIXSockets
import Testing

/// No listener accepts the connection.
struct NotConnected: Error {}

/// A blocking client that sends and reads raw bytes. No call takes longer than ten seconds.
final class RawClient {
    let descriptor: Int32

    /// Connects to the server, optionally from another loopback address and with a small receive buffer.
    init(_ server: SocketAddress, from source: UInt32? = nil, receiveBufferSize: Int32? = nil) throws {
        let family = if case .unix = server { AF_UNIX } else { AF_INET }
        descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
        try #require(descriptor >= 0)
        // Safe here and below: the kernel gets local variables with their sizes.
        var timeout = timeval(tv_sec: 10, tv_usec: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        if var receiveBufferSize {
            unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &receiveBufferSize, 4)
        }
        let number = descriptor
        if let source {
            let result = unsafe Self.withAddress(source, 0) { unsafe bind(number, $0, $1) }
            try #require(result == 0)
        }
        let result: Int32 =
            switch server {
            case .internet(.v4(let bits), let port):
                unsafe Self.withAddress(bits, port) { unsafe connect(number, $0, $1) }
            case .internet(.v6, _): -1
            case .unix(let path): unsafe withUnixAddress(path) { unsafe connect(number, $0, $1) }
            }
        guard result == 0 else { throw NotConnected() }
    }

    deinit { close(descriptor) }

    func send(_ text: String) {
        send(Array(text.utf8))
    }

    func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let number = descriptor
            let count = unsafe rest.withUnsafeBytes { bytes in
                unsafe Glibc.send(number, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
            }
            // The server may have closed the connection already. The test sees that when it reads.
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// From now on, sends each piece without waiting for the server's acknowledgement of the previous piece.
    func sendAtOnce() {
        var value: Int32 = 1
        unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &value, 4)
    }

    /// Sends a piece together with the next one.
    func sendLater(_ text: String) {
        let bytes = Array(text.utf8)
        let count = unsafe Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL | MSG_MORE))
        #expect(count == bytes.count)
    }

    /// While `isHeld`, holds output back, so that it leaves in one piece.
    func hold(_ isHeld: Bool) {
        var value: Int32 = isHeld ? 1 : 0
        unsafe setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_CORK, &value, 4)
    }

    /// Ends the sending side of the connection.
    func finish() {
        shutdown(descriptor, Int32(SHUT_WR))
    }

    /// Makes the next close a reset.
    func resetOnClose() {
        var value = linger(l_onoff: 1, l_linger: 0)
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size))
    }

    /// The next bytes. Empty at the end of the stream, `nil` if the connection was reset or nothing arrived in time.
    func receive(_ sizeMaximum: Int = 65536) -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: sizeMaximum)
        let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
        return count < 0 ? nil : Array(buffer.prefix(count))
    }

    /// All bytes up to the end of the stream.
    func receiveAll() -> String {
        var all: [UInt8] = []
        while let bytes = receive(), !bytes.isEmpty { all += bytes }
        return String(decoding: all, as: UTF8.self)
    }

    /// Reads `count` bytes, or up to the end of the stream.
    func receive(exactly count: Int) -> String {
        var all: [UInt8] = []
        while all.count < count, let bytes = receive(count - all.count), !bytes.isEmpty { all += bytes }
        return String(decoding: all, as: UTF8.self)
    }

    /// Reads until the received text ends with `end`.
    func receive(until end: String) -> String {
        var all = ""
        while !all.hasSuffix(end), let bytes = receive(), !bytes.isEmpty {
            all += String(decoding: bytes, as: UTF8.self)
        }
        return all
    }

    private static func withAddress(
        _ bits: UInt32, _ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    )
        -> Int32
    {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = bits.bigEndian
        return unsafe withUnsafePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
    }
}

/// The number of this process's descriptors that are sockets on the server's port: its listeners, and its ends of
/// connections.
func descriptorCount(of server: SocketAddress) -> Int {
    (0..<4096).count { descriptor in
        var address = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe getsockname(Int32(descriptor), $0, &length)
            }
        }
        return result == 0 && address.sin_family == AF_INET && UInt16(bigEndian: address.sin_port) == server.port
    }
}

/// Calls the body with the address of a Unix socket.
func withUnixAddress(_ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    // Safe: test paths are short, and the address is a local variable.
    unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: path.utf8) }
    return unsafe withUnsafePointer(to: &address) { pointer in
        unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            unsafe body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
        }
    }
}
