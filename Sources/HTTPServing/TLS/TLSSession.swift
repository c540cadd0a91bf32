private import COpenSSL
import HTTPMessages
import POSIXSockets
import Telemetry

/// TLS on one connection: encrypts and decrypts between its socket and the plain bytes.
@safe
struct TLSSession: ~Copyable {
    /// The most plain bytes that one call encrypts, so that a large response does not block the loop.
    private static let writeSizeMaximum = 256 * 1024

    /// The number of small records that each response allows in addition, because acknowledgements and window updates
    /// come in small records.
    private static let smallRecordsPerResponse = 16
    /// The number of output bytes that allow one small record more.
    private static let outputSizePerSmallRecord = 4096

    private let session: OpaquePointer
    /// The socket as OpenSSL sees it.
    private let wire: TLSWire
    private var smallRecords: TokenBucket
    /// The context that the session's callbacks use.
    private let context: TLSContext
    /// Whether the session has failed. OpenSSL must not be called with it any more.
    private var hasFailed = false
    /// Whether a read waits until the socket has room for output, for example because the peer changes its keys.
    private(set) var readWaitsForRoom = false

    /// Makes a session that waits for the client's first message; `nil` if there is no memory.
    init?(_ context: TLSContext, descriptor: Int32, limits: HTTPLimits, now: MonotonicTime) {
        guard let session = unsafe context.makeSession() else { return nil }
        let wire = TLSWire(descriptor: descriptor)
        guard let socket = unsafe wire.makeBIO() else {
            unsafe SSL_free(session)
            return nil
        }
        // Both directions share one reference, which the session frees.
        unsafe SSL_set_bio(session, socket, socket)
        unsafe SSL_set_accept_state(session)
        unsafe self.session = session
        self.wire = wire
        self.context = context
        smallRecords = TokenBucket(
            burst: limits.smallRecordBurstMaximum, rate: limits.smallRecordRateMaximum, now: now)
    }

    deinit {
        unsafe SSL_free(session)
    }

    // MARK: Events

    /// Continues the handshake as far as the socket and the turn's budget allow.
    mutating func handshake(now: MonotonicTime) -> HandshakeOutcome {
        ERR_clear_error()
        wire.beginTurn()
        let result = unsafe SSL_do_handshake(session)
        guard smallRecords.take(wire.takeSmallRecords(), now: now) else { return .abused }
        if result == 1 { return .done }
        switch unsafe SSL_get_error(session, result) {
        case SSL_ERROR_WANT_READ: return wire.isEmpty ? .wouldBlock : .turnIsSpent
        case SSL_ERROR_WANT_WRITE: return .wouldBlock
        case let error:
            hasFailed = true
            return .failed(wire.hasLongChain ? .clientChainTooLarge : failure(error, ERR_peek_error()))
        }
    }

    /// Reads plain bytes into the beginning of `buffer`, until it is full, the socket is empty, or the turn's budget is
    /// spent.
    mutating func read(into buffer: inout [UInt8], now: MonotonicTime) -> TransportReadOutcome {
        readWaitsForRoom = false
        wire.beginTurn()
        let outcome = readRecords(into: &buffer)
        return smallRecords.take(wire.takeSmallRecords(), now: now) ? outcome : .abused
    }

    private mutating func readRecords(into buffer: inout [UInt8]) -> TransportReadOutcome {
        var count = 0
        while count < buffer.count, !wire.turnIsSpent {
            switch readRecord(into: &buffer, at: count) {
            case .bytes(let size):
                count += size
                if unsafe wire.isEmpty && SSL_has_pending(session) == 0 { return .bytes(count, mayHaveMore: false) }
            case .wouldBlock where wire.isEmpty || readWaitsForRoom:
                return count > 0 ? .bytes(count, mayHaveMore: false) : .wouldBlock
            case .wouldBlock:
                // The record has no data, or the budget is spent.
                continue
            // The bytes before the end or the failure are returned first. The next read finds the end again.
            case .endOfInput: return count > 0 ? .bytes(count, mayHaveMore: true) : .endOfInput
            case .failed: return count > 0 ? .bytes(count, mayHaveMore: true) : .failed
            }
        }
        return count > 0 ? .bytes(count, mayHaveMore: true) : .turnIsSpent
    }

    private mutating func readRecord(into buffer: inout [UInt8], at position: Int) -> ReadOutcome {
        guard !hasFailed else { return .failed(errno: 0) }
        ERR_clear_error()
        let size = buffer.count - position
        let result = unsafe buffer.withUnsafeMutableBytes { bytes in
            // Safe: the buffer has `size` bytes after `position`.
            unsafe SSL_read(session, bytes.baseAddress?.advanced(by: position), Int32(size))
        }
        if result > 0 { return .bytes(Int(result)) }
        switch unsafe SSL_get_error(session, result) {
        case SSL_ERROR_WANT_READ: return .wouldBlock
        case SSL_ERROR_WANT_WRITE:
            readWaitsForRoom = true
            return .wouldBlock
        case SSL_ERROR_ZERO_RETURN: return .endOfInput
        default:  // Every other number of OpenSSL is a failure.
            hasFailed = true
            return .failed(errno: 0)
        }
    }

    /// Notes that a response was sent, which allows more small records.
    mutating func answered() {
        smallRecords.give(Self.smallRecordsPerResponse)
    }

    /// Encrypts and sends bytes. The caller must pass the bytes that were not sent again; more may follow them.
    mutating func write(_ bytes: Span<UInt8>) -> WriteOutcome {
        var count = 0
        let end = min(bytes.count, Self.writeSizeMaximum)
        while count < end {
            ERR_clear_error()
            let result = unsafe bytes.extracting(count..<bytes.count).withUnsafeBufferPointer { rest in
                unsafe SSL_write(session, rest.baseAddress, Int32(clamping: rest.count))
            }
            if result > 0 {
                count += Int(result)
                smallRecords.give(Int(result) / Self.outputSizePerSmallRecord)
                continue
            }
            switch unsafe SSL_get_error(session, result) {
            case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return count > 0 ? .written(count) : .wouldBlock
            default:  // Every other number of OpenSSL is a failure.
                hasFailed = true
                return .failed(errno: 0)
            }
        }
        return .written(count)
    }

    /// Tells the peer that no more data comes. It does not wait for an answer, and ignores errors, because the
    /// connection is then lost.
    mutating func finishWriting() {
        guard !hasFailed, unsafe SSL_is_init_finished(session) == 1 else { return }
        ERR_clear_error()
        unsafe SSL_shutdown(session)
    }

    // MARK: Results of the handshake

    /// The protocol that was agreed by ALPN; `nil` if the client offered none.
    var applicationProtocol: ApplicationProtocol? {
        var start: UnsafePointer<UInt8>?
        var size: UInt32 = 0
        unsafe SSL_get0_alpn_selected(session, &start, &size)
        // Safe: the name exists as long as the session, and is copied here.
        let name = unsafe String(decoding: UnsafeBufferPointer(start: start, count: Int(size)), as: UTF8.self)
        return ApplicationProtocol(rawValue: name)
    }

    /// The facts for handlers and observers.
    var facts: TLSFacts {
        TLSFacts(
            version: unsafe SSL_version(session) == TLS1_3_VERSION ? .version13 : .version12,
            isResumed: unsafe SSL_session_reused(session) == 1, clientCertificate: clientCertificate)
    }

    private var clientCertificate: TLSClientCertificate? {
        guard context.requiresClientCertificate, let certificate = unsafe SSL_get0_peer_certificate(session) else {
            return nil
        }
        var digest = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        unsafe X509_digest(certificate, EVP_sha256(), &digest, nil)
        return TLSClientCertificate(subject: unsafe Self.subject(of: certificate), sha256: digest)
    }

    /// Returns the subject of a certificate in the format of RFC 4514.
    private static func subject(of certificate: OpaquePointer) -> String {
        guard let memory = unsafe BIO_new(BIO_s_mem()) else { return "" }
        defer { unsafe BIO_free(memory) }
        unsafe latchkey_print_name(memory, X509_get_subject_name(certificate))
        var start: UnsafeMutablePointer<CChar>?
        let count = unsafe latchkey_bio_memory(memory, &start)
        // Safe: the text has `count` bytes, which exist as long as `memory`.
        return unsafe String(decoding: UnsafeRawBufferPointer(start: start, count: max(0, count)), as: UTF8.self)
    }

    /// Converts OpenSSL's first error. The error queue is cleared before the next call.
    private func failure(_ error: Int32, _ code: UInt) -> TLSHandshakeFailure {
        guard error == SSL_ERROR_SSL else { return .closed }
        return switch ERR_GET_REASON(code) {
        case SSL_R_HTTP_REQUEST, SSL_R_HTTPS_PROXY_REQUEST, SSL_R_WRONG_VERSION_NUMBER, SSL_R_UNEXPECTED_MESSAGE,
            SSL_R_BAD_RECORD_TYPE, SSL_R_PACKET_LENGTH_TOO_LONG, SSL_R_RECORD_TOO_SMALL, SSL_R_LENGTH_MISMATCH:
            .notTLS
        case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_VERSION_TOO_LOW, SSL_R_UNKNOWN_PROTOCOL: .version
        case SSL_R_NO_SHARED_CIPHER, SSL_R_NO_SUITABLE_KEY_SHARE, SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM,
            SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS, SSL_R_NO_SUITABLE_GROUPS:
            .parameters
        case SSL_R_NO_APPLICATION_PROTOCOL: .applicationProtocol
        case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE, SSL_R_CERTIFICATE_VERIFY_FAILED: .clientCertificate
        // Of such a client, no other message can be as large.
        case SSL_R_EXCESSIVE_MESSAGE_SIZE where context.requiresClientCertificate: .clientChainTooLarge
        case SSL_R_UNEXPECTED_EOF_WHILE_READING: .closed
        case SSL_AD_REASON_OFFSET..<(SSL_AD_REASON_OFFSET + 256): .refused
        default: .other  // OpenSSL has hundreds of other reasons.
        }
    }
}

/// The result of continuing a handshake.
enum HandshakeOutcome: Equatable {
    case done
    /// The handshake waits for the socket, to read or to write.
    case wouldBlock
    /// The turn's budget is spent. The handshake must continue in the next turn, because no event announces input that
    /// has arrived already.
    case turnIsSpent
    /// The client sends more small records than are allowed.
    case abused
    case failed(TLSHandshakeFailure)
}

/// The facts about a connection with TLS.
package struct TLSFacts: Hashable, Sendable {
    package enum Version: String, Sendable, CaseIterable {
        case version12 = "1.2"
        case version13 = "1.3"
    }

    package let version: Version
    /// Whether the session was resumed with a ticket instead of a full handshake.
    package let isResumed: Bool
    /// The client's certificate; nil unless the listener demands one.
    package let clientCertificate: TLSClientCertificate?

    package init(version: Version, isResumed: Bool, clientCertificate: TLSClientCertificate? = nil) {
        self.version = version
        self.isResumed = isResumed
        self.clientCertificate = clientCertificate
    }
}

/// A client's certificate, which an authority of the listener has signed.
package struct TLSClientCertificate: Hashable, Sendable {
    /// The subject in the format of RFC 4514, for example `CN=packager-1,O=Example`.
    package let subject: String
    /// The SHA-256 of the certificate's DER encoding, 32 bytes.
    package let sha256: [UInt8]

    package init(subject: String, sha256: [UInt8]) {
        self.subject = subject
        self.sha256 = sha256
    }
}

/// The result of the read of one turn.
enum TransportReadOutcome: Equatable {
    /// The number of bytes, at least one. With `mayHaveMore`, the next turn must read again, because no event announces
    /// bytes that have arrived already.
    case bytes(Int, mayHaveMore: Bool)
    /// No byte was read, although there may be more: the turn's budget was spent on records without data.
    case turnIsSpent
    /// The peer has ended its output.
    case endOfInput
    /// No bytes have arrived yet.
    case wouldBlock
    /// The connection is lost.
    case failed
    /// The client sends more small TLS records than are allowed.
    case abused
}
