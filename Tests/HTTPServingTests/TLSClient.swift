private import COpenSSL
import Glibc
import POSIXSockets
import Testing

/// The options of a test's TLS client.
struct TLSClientOptions: Sendable {
    var host: String? = "a.test"
    var versions: ClosedRange<Int32> = tls12...tls13
    /// The ALPN protocols. If empty, the client offers no ALPN.
    var protocols: [String] = []
    var certificate: TestCertificate?
    /// TLS 1.2 cipher names, in OpenSSL's form.
    var ciphers: String?
    /// Signature algorithms, in OpenSSL's form: "RSA+SHA256".
    var signatures: String?
    var session: TLSClientSession?
    /// Whether the client trusts every server. Otherwise it trusts none.
    var trusts = true
}

let tls12 = Int32(TLS1_2_VERSION)
let tls13 = Int32(TLS1_3_VERSION)

/// A session that a later connection may resume.
@safe
final class TLSClientSession: @unchecked Sendable {
    // Safe to share: a session does not change after its ticket has arrived.
    fileprivate let pointer: OpaquePointer

    fileprivate init(owning pointer: OpaquePointer) { unsafe self.pointer = pointer }

    deinit { unsafe SSL_SESSION_free(pointer) }
}

/// The handshake failed, with OpenSSL's reason code.
struct HandshakeFailed: Error {
    let reason: Int32
}

/// A blocking TLS client over a `RawClient`. No call takes longer than ten seconds.
@safe
final class TLSClient {
    let raw: RawClient
    private let context: OpaquePointer
    private let session: OpaquePointer

    /// Ignores SIGPIPE: OpenSSL's socket BIO uses `write`, so a server that resets a connection would end the tests.
    private static let ignoresBrokenPipes: Void = { _ = signal(SIGPIPE, SIG_IGN) }()

    init(_ raw: RawClient, _ options: TLSClientOptions = TLSClientOptions()) throws {
        _ = Self.ignoresBrokenPipes
        self.raw = raw
        // Safe here and below: objects of OpenSSL that this one owns, used on one thread.
        unsafe context = try #require(SSL_CTX_new(TLS_client_method()))
        unsafe session = try #require(SSL_new(context))
        unsafe latchkey_tls_set_client_versions(session, options.versions.lowerBound, options.versions.upperBound)
        if let host = options.host { unsafe latchkey_tls_ask_for_host(session, host) }
        if let ciphers = options.ciphers { unsafe SSL_set_cipher_list(session, ciphers) }
        if let signatures = options.signatures { unsafe latchkey_tls_set_client_signatures(session, signatures) }
        if !options.protocols.isEmpty {
            let list = options.protocols.flatMap { [UInt8($0.utf8.count)] + Array($0.utf8) }
            unsafe SSL_set_alpn_protos(session, list, UInt32(list.count))
        }
        if let certificate = options.certificate { unsafe certificate.install(in: session) }
        if let resumed = options.session { unsafe SSL_set_session(session, resumed.pointer) }
        if !options.trusts { unsafe SSL_set_verify(session, SSL_VERIFY_PEER, nil) }
        unsafe SSL_set_fd(session, raw.descriptor)
        ERR_clear_error()
        guard unsafe SSL_connect(session) == 1 else { throw HandshakeFailed(reason: ERR_GET_REASON(ERR_peek_error())) }
    }

    deinit {
        // Otherwise OpenSSL takes the end for a failure and does not resume the session again.
        unsafe SSL_set_shutdown(session, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN)
        unsafe SSL_free(session)
        unsafe SSL_CTX_free(context)
    }

    var isResumed: Bool { unsafe SSL_session_reused(session) == 1 }
    var version: Int32 { unsafe SSL_version(session) }

    var chosenProtocol: String {
        var start: UnsafePointer<UInt8>?
        var count: UInt32 = 0
        unsafe SSL_get0_alpn_selected(session, &start, &count)
        return unsafe String(decoding: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
    }

    /// The common name of the server's certificate.
    var serverName: String {
        var text = [CChar](repeating: 0, count: 128)
        let name = unsafe X509_get_subject_name(SSL_get0_peer_certificate(session))
        let count = unsafe X509_NAME_get_text_by_NID(name, NID_commonName, &text, Int32(text.count))
        return String(decoding: text.prefix(Int(max(0, count))).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    /// Whether the server's key is RSA.
    var serverHasRSA: Bool { unsafe EVP_PKEY_is_a(X509_get0_pubkey(SSL_get0_peer_certificate(session)), "RSA") == 1 }

    func send(_ text: String) { send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) {
        unsafe SSL_write(session, bytes, Int32(bytes.count))
    }

    /// The next bytes. Empty at the end, `nil` if the end came without close_notify.
    func receive() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 65536)
        ERR_clear_error()
        let count = unsafe SSL_read(session, &buffer, Int32(buffer.count))
        if count > 0 { return Array(buffer.prefix(Int(count))) }
        return unsafe SSL_get_error(session, count) == SSL_ERROR_ZERO_RETURN ? [] : nil
    }

    func receive(until end: String) -> String {
        var all = ""
        while !all.hasSuffix(end), let bytes = receive(), !bytes.isEmpty {
            all += String(decoding: bytes, as: UTF8.self)
        }
        return all
    }

    /// All bytes up to close_notify. Returns `nil` if the stream ends in another way, so that a test notices it.
    func receiveAll() -> String? {
        var all: [UInt8] = []
        while let bytes = receive() {
            if bytes.isEmpty { return String(decoding: all, as: UTF8.self) }
            all += bytes
        }
        return nil
    }

    /// Sends close_notify and ends the stream. The client can still read.
    func finish() {
        unsafe SSL_shutdown(session)
        raw.finish()
    }

    /// Requests new keys from the server with the next write (TLS 1.3).
    func updateKeys() { unsafe SSL_key_update(session, SSL_KEY_UPDATE_REQUESTED) }

    /// Changes the client's own keys now, without data (TLS 1.3): sends one record of 22 bytes.
    func sendKeyUpdate() {
        unsafe SSL_key_update(session, SSL_KEY_UPDATE_NOT_REQUESTED)
        unsafe SSL_do_handshake(session)
    }

    /// Sends only close_notify. The stream stays open.
    func sayGoodbye() { unsafe SSL_shutdown(session) }

    /// Requests another handshake (TLS 1.2). Returns whether the server took part.
    func renegotiate() -> Bool {
        unsafe SSL_renegotiate(session) == 1 && SSL_do_handshake(session) == 1
    }

    /// The session, once its ticket has arrived: with TLS 1.3 after the first answer.
    func resumableSession() throws -> TLSClientSession {
        unsafe TLSClientSession(owning: try #require(SSL_get1_session(session)))
    }
}
