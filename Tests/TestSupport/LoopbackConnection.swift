import Glibc

/// A blocking HTTP/1.1 connection that sends any bytes, well-formed or not. No wait takes longer than 30 seconds.
package final class LoopbackConnection {
    private let descriptor: Int32
    private var received: [UInt8] = []

    /// Connects to `127.0.0.1:PORT`; throws `LoopbackError.refused` if there is no listener.
    package init(_ address: String) throws {
        guard let port = address.split(separator: ":").last.flatMap({ UInt16($0) }) else {
            throw LoopbackError.refused
        }
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var timeout = timeval(tv_sec: 30, tv_usec: 0)
        // Safe here and below: the kernel gets local variables with their sizes.
        unsafe setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var server = sockaddr_in()
        server.sin_family = sa_family_t(AF_INET)
        server.sin_port = port.bigEndian
        server.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let number = descriptor
        let result = unsafe withUnsafePointer(to: &server) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw LoopbackError.refused }
    }

    deinit { close(descriptor) }

    /// Sends bytes unchanged. Bytes that the server does not accept any more are dropped; the test notices it when it
    /// reads.
    package func send(_ bytes: [UInt8]) {
        var sent = 0
        while sent < bytes.count {
            let rest = Array(bytes[sent...])
            let count = unsafe Glibc.send(descriptor, rest, rest.count, Int32(MSG_NOSIGNAL))
            guard count > 0 else { return }
            sent += count
        }
    }

    package func send(_ text: String) { send(Array(text.utf8)) }

    /// Sends a request with a body of known length, and returns the response.
    package func request(
        _ method: String, _ path: String, _ fields: [String: String] = [:], body: [UInt8] = []
    ) throws -> LoopbackResponse {
        var head = "\(method) \(path) HTTP/1.1\r\nHost: localhost\r\nContent-Length: \(body.count)\r\n"
        for (name, value) in fields { head += "\(name): \(value)\r\n" }
        send(Array((head + "\r\n").utf8) + body)
        return try receive(hasBody: method != "HEAD")
    }

    /// Requests a license as an app does.
    package func license(_ message: [UInt8], token: String?) throws -> LoopbackResponse {
        try request(
            "POST", "/fps/license", token.map { ["Authorization": "Bearer \($0)"] } ?? [:], body: message)
    }

    /// Reads one response. Throws `ended` if the stream ends within it.
    package func receive(hasBody: Bool = true) throws -> LoopbackResponse {
        let separator = Array("\r\n\r\n".utf8)
        while true {
            if let end = received.indices.first(where: { received[$0...].starts(with: separator) }) {
                var response = try LoopbackResponse(head: String(decoding: received[..<end], as: UTF8.self))
                received.removeFirst(end + separator.count)
                let size = hasBody && response.status >= 200 ? Int(response["Content-Length"] ?? "0") ?? 0 : 0
                while received.count < size { try receiveMore() }
                response.body = Array(received.prefix(size))
                received.removeFirst(size)
                return response
            }
            try receiveMore()
        }
    }

    /// Whether the server closes the connection without sending anything more.
    package func isClosed() -> Bool {
        do {
            try receiveMore()
            return false
        } catch {
            return received.isEmpty
        }
    }

    private func receiveMore() throws(LoopbackError) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
        guard count > 0 else { throw .ended }
        received += buffer.prefix(count)
    }
}

/// Addresses on this machine.
package enum LoopbackAddress {
    /// Returns `127.0.0.1:PORT` with a port that was free a moment ago, for tests that need an address before a server
    /// listens on it.
    package static func free() throws -> String {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        // Safe: the kernel gets local variables with their sizes.
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard isBound else { throw LoopbackError.refused }
        return "127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
    }
}

/// A listening socket on a free loopback port, which a test owns and passes to daemons.
package final class ListeningTestSocket: Sendable {
    package let descriptor: Int32
    /// `127.0.0.1:PORT`.
    package let address: String

    package init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let number = descriptor
        // Safe: the kernel gets local variables with their sizes.
        let isBound = unsafe withUnsafeMutablePointer(to: &address) { pointer in
            unsafe pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                unsafe bind(number, $0, size) == 0 && getsockname(number, $0, &size) == 0
            }
        }
        guard isBound, listen(number, 1024) == 0 else { throw LoopbackError.refused }
        self.address = "127.0.0.1:\(UInt16(bigEndian: address.sin_port))"
    }

    deinit { close(descriptor) }
}

/// A response as the server sent it.
package struct LoopbackResponse: Sendable {
    package let status: Int
    package let fields: [(name: String, value: String)]
    package var body: [UInt8] = []

    init(head: String) throws(LoopbackError) {
        let lines = head.replacing("\r\n", with: "\n").split(separator: "\n")
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count > 1, words[0] == "HTTP/1.1", let status = Int(words[1]) else { throw .malformed(head) }
        self.status = status
        fields = lines.dropFirst().map { line in
            let parts = line.split(separator: ":", maxSplits: 1)
            return (String(parts[0]), parts.count > 1 ? String(parts[1].drop { $0 == " " }) : "")
        }
    }

    package subscript(name: String) -> String? {
        fields.first { $0.name.lowercased() == name.lowercased() }?.value
    }

    package var text: String { String(decoding: body, as: UTF8.self) }
}

package enum LoopbackError: Error, Equatable {
    case refused
    case ended
    case malformed(String)
}
