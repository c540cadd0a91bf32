private import COpenSSL
import Glibc

/// One keep-alive connection of the load generator, plain or with TLS. It writes a request and reads a whole response,
/// only on loopback.
///
/// Safe to send: one thread at a time uses it.
final class BlockingConnection: @unchecked Sendable {
    private let descriptor: Int32
    private var tls: BenchmarkTLSSession?
    private var buffer: [UInt8] = []

    /// Connects. If TLS settings are given, performs a handshake, and resumes a session if a ticket is given.
    init(port: UInt16, tls settings: BenchmarkTLSSettings? = nil, resuming ticket: BenchmarkTLSTicket? = nil) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        // Safe: the address stays valid during the call, and sockaddr_in may be read as sockaddr.
        let connected = unsafe withUnsafeBytes(of: &address) { bytes in
            unsafe connect(
                descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), socklen_t(bytes.count))
        }
        guard connected == 0 else { throw BenchmarkError("cannot connect to port \(port): errno \(errno)") }
        setOption(Int32(IPPROTO_TCP), TCP_NODELAY, Int32(1))
        // A reset instead of a regular end avoids TIME_WAIT, which would use up the limited port pairs.
        setOption(SOL_SOCKET, SO_LINGER, linger(l_onoff: 1, l_linger: 0))
        if let settings { tls = try BenchmarkTLSSession(settings, descriptor: descriptor, resuming: ticket) }
    }

    deinit {
        close(descriptor)
    }

    /// Whether the TLS session was resumed.
    var isResumed: Bool { tls?.isResumed ?? false }

    /// The ticket that resumes this session. In TLS 1.3, it exists after the first response.
    func ticket() throws -> BenchmarkTLSTicket {
        guard let tls else { throw BenchmarkError("a plain connection has no session") }
        return try tls.ticket()
    }

    /// Sends a request, and returns the body of the response. Throws if its status is not 200.
    func exchange(_ request: [UInt8]) throws -> [UInt8] {
        try write(request)
        while true {
            if let body = try takeResponse() { return body }
            try readMore()
        }
    }

    private func setOption<Value: BitwiseCopyable>(_ level: Int32, _ option: Int32, _ value: Value) {
        // Safe: the value stays valid during the call.
        _ = unsafe withUnsafeBytes(of: value) { bytes in
            unsafe setsockopt(descriptor, level, option, bytes.baseAddress, socklen_t(bytes.count))
        }
    }

    private func write(_ bytes: [UInt8]) throws {
        if let tls { return try tls.write(bytes) }
        var offset = 0
        while offset < bytes.count {
            let written = unsafe bytes.withUnsafeBytes { buffer in
                // Safe: these are the bytes of the request from `offset` to its end.
                unsafe send(
                    descriptor, buffer.baseAddress?.advanced(by: offset), bytes.count - offset, Int32(MSG_NOSIGNAL))
            }
            guard written > 0 else { throw BenchmarkError("the server closed a connection") }
            offset += written
        }
    }

    private func readMore() throws {
        var piece = [UInt8](repeating: 0, count: 16_384)
        // Safe: the kernel writes at most the buffer's size.
        let count = unsafe tls?.read(into: &piece) ?? recv(descriptor, &piece, piece.count, 0)
        guard count > 0 else { throw BenchmarkError("the server closed a connection") }
        buffer += piece.prefix(count)
    }

    private func takeResponse() throws -> [UInt8]? {
        let end = Array("\r\n\r\n".utf8)
        guard let headEnd = buffer.indices.first(where: { buffer[$0...].starts(with: end) }) else { return nil }
        let head = String(decoding: buffer[..<headEnd], as: UTF8.self)
        guard head.hasPrefix("HTTP/1.1 200 ") || head.hasPrefix("HTTP/1.0 200 ") else {
            throw BenchmarkError("the server answered: \(head)")
        }
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

/// The common TLS settings of a load generator's connections: TLS 1.3 with any server.
///
/// Safe to share: OpenSSL counts the uses of a context atomically, and nothing changes it after `init`.
@safe
final class BenchmarkTLSSettings: @unchecked Sendable {
    fileprivate let context: OpaquePointer

    init() throws {
        guard let context = unsafe SSL_CTX_new(TLS_client_method()) else { throw BenchmarkError("no TLS context") }
        unsafe self.context = context
        // The benchmark does not need the server's identity. OpenSSL still checks the server's signature.
        unsafe SSL_CTX_set_verify(context, SSL_VERIFY_NONE, nil)
    }

    deinit {
        unsafe SSL_CTX_free(context)
    }
}

/// A session that a later connection may resume. Safe to share: it never changes.
@safe
final class BenchmarkTLSTicket: @unchecked Sendable {
    fileprivate let pointer: OpaquePointer

    fileprivate init(owning pointer: OpaquePointer) { unsafe self.pointer = pointer }

    deinit { unsafe SSL_SESSION_free(pointer) }
}

/// TLS over a blocking descriptor, for one thread.
@safe
final class BenchmarkTLSSession {
    private let session: OpaquePointer

    fileprivate init(
        _ settings: BenchmarkTLSSettings, descriptor: Int32, resuming ticket: BenchmarkTLSTicket?
    ) throws {
        guard let session = unsafe SSL_new(settings.context) else { throw BenchmarkError("no TLS session") }
        unsafe self.session = session
        // Safe here and below: this object owns the OpenSSL objects, and one thread uses them.
        unsafe latchkey_tls_set_client_versions(session, TLS1_3_VERSION, TLS1_3_VERSION)
        unsafe latchkey_tls_ask_for_host(session, "localhost")
        if let ticket { unsafe SSL_set_session(session, ticket.pointer) }
        unsafe SSL_set_fd(session, descriptor)
        guard unsafe SSL_connect(session) == 1 else { throw BenchmarkError("a TLS handshake failed") }
    }

    deinit {
        // Otherwise OpenSSL takes the end for a failure and does not resume the session again.
        unsafe SSL_set_shutdown(session, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
        unsafe SSL_free(session)
    }

    var isResumed: Bool { unsafe SSL_session_reused(session) == 1 }

    func ticket() throws -> BenchmarkTLSTicket {
        guard let pointer = unsafe SSL_get1_session(session), unsafe SSL_SESSION_is_resumable(pointer) == 1 else {
            throw BenchmarkError("the server gave no ticket")
        }
        return unsafe BenchmarkTLSTicket(owning: pointer)
    }

    func write(_ bytes: [UInt8]) throws {
        guard unsafe SSL_write(session, bytes, Int32(bytes.count)) == bytes.count else {
            throw BenchmarkError("the server closed a connection")
        }
    }

    func read(into piece: inout [UInt8]) -> Int {
        Int(unsafe SSL_read(session, &piece, Int32(piece.count)))
    }
}
