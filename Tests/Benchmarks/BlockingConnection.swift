import Glibc

/// One keep-alive connection of the load generator: writes a request, reads a whole response. Loopback only.
final class BlockingConnection {
    private let descriptor: Int32
    private var buffer: [UInt8] = []

    init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        // The address lives as long as the call, and sockaddr_in may be read as sockaddr.
        let connected = unsafe withUnsafeBytes(of: &address) { bytes in
            unsafe connect(
                descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        guard connected == 0 else { throw BenchmarkError("cannot connect to the daemon: errno \(errno)") }
        var isOn: Int32 = 1
        unsafe setsockopt(
            descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit {
        close(descriptor)
    }

    /// The body of the response; throws unless its status is 200.
    func exchange(_ request: [UInt8]) throws -> [UInt8] {
        try write(request)
        while true {
            if let body = try takeResponse() { return body }
            try readMore()
        }
    }

    private func write(_ bytes: [UInt8]) throws {
        var offset = 0
        while offset < bytes.count {
            let written = unsafe bytes.withUnsafeBytes { buffer in
                // The rest of the request, from `offset` on.
                unsafe send(
                    descriptor, buffer.baseAddress?.advanced(by: offset), bytes.count - offset, Int32(MSG_NOSIGNAL))
            }
            guard written > 0 else { throw BenchmarkError("the daemon closed a connection") }
            offset += written
        }
    }

    private func readMore() throws {
        var piece = [UInt8](repeating: 0, count: 16_384)
        let count = unsafe recv(descriptor, &piece, piece.count, 0)
        guard count > 0 else { throw BenchmarkError("the daemon closed a connection") }
        buffer += piece.prefix(count)
    }

    private func takeResponse() throws -> [UInt8]? {
        let end = Array("\r\n\r\n".utf8)
        guard let headEnd = buffer.indices.first(where: { buffer[$0...].starts(with: end) }) else { return nil }
        let head = String(decoding: buffer[..<headEnd], as: UTF8.self)
        guard head.hasPrefix("HTTP/1.1 200 ") else { throw BenchmarkError("the daemon answered: \(head)") }
        guard let line = head.split(separator: "\r\n").first(where: { $0.lowercased().hasPrefix("content-length:") }),
            let length = Int(line.dropFirst("content-length:".count).filter { $0.isNumber })
        else { throw BenchmarkError("a response without a length") }
        let bodyStart = headEnd + end.count
        guard buffer.count >= bodyStart + length else { return nil }
        let body = Array(buffer[bodyStart..<bodyStart + length])
        buffer.removeFirst(bodyStart + length)
        return body
    }
}
