private import COpenSSL
import KeyCrypto

/// How a listener speaks TLS 1.2 and 1.3: certificates by name, whom to trust, and what to offer. Immutable; a reload
/// makes another.
///
/// A connection keeps the context with which it began.
package final class TLSContext: Sendable {
    private let contexts: [SSLContextHandle]
    private let names: TLSServerNames<Int>
    private let tickets: TLSTicketKeys
    /// The ends of all certificates' validity in seconds since 1970, in the order of the identities.
    package let certificateEnds: [Int64]
    /// Whether clients must have a certificate.
    package let requiresClientCertificate: Bool

    /// - Parameters:
    ///   - identities: at least one; the first is for clients that name no host, or one that no certificate has. If
    ///     two with different algorithms have the same name, the client's abilities decide.
    ///   - clientAuthorities: certificates in PEM whose clients alone are let in; `nil` lets everybody in.
    ///   - tickets: the keys under which session tickets are sealed.
    ///   - offersHTTP2: whether ALPN prefers `h2` to `http/1.1`.
    ///   - options: versions and ciphers.
    ///
    /// Throws `tooWeak`, `notAuthorities`, `noCipherList`, `noCipherSuites` or `operationFailed`.
    package init(
        identities: [TLSIdentity], clientAuthorities: [UInt8]? = nil, tickets: TLSTicketKeys, offersHTTP2: Bool = false,
        options: TLSProtocolOptions = TLSProtocolOptions()
    ) throws(TLSError) {
        precondition(!identities.isEmpty, "a TLS listener needs a certificate")
        let choice = TLSIdentityChoice(identities)
        var contexts: [SSLContextHandle] = []
        for group in choice.groups {
            let context = try Self.makeContext(clientAuthorities, tickets, offersHTTP2, options)
            for index in group { try identities[index].install(in: context) }
            contexts.append(context)
        }
        self.contexts = contexts
        names = choice.names
        self.tickets = tickets
        certificateEnds = identities.map(\.notAfter)
        requiresClientCertificate = clientAuthorities != nil
        let argument = unsafe Unmanaged.passUnretained(self).toOpaque()
        for context in contexts { unsafe latchkey_tls_on_server_name(context.pointer, serverNameCallback, argument) }
    }

    /// A session of the default context; the caller frees it with `SSL_free` and keeps this object for as long.
    func makeSession() -> OpaquePointer? {
        unsafe SSL_new(contexts[0].pointer)
    }

    /// Gives a session the certificates of the host that the client asks for.
    fileprivate func choose(_ host: String, for session: OpaquePointer) {
        guard let index = names.value(for: host) else { return }
        _ = unsafe SSL_set_SSL_CTX(session, contexts[index].pointer)
    }
}

// MARK: Settings of OpenSSL

extension TLSContext {
    private static let groups = "X25519:P-256:P-384"
    /// The most bytes of a client's chain.
    private static let clientChainSizeMaximum = 32 * 1024

    private static func makeContext(
        _ clientAuthorities: [UInt8]?, _ tickets: TLSTicketKeys, _ offersHTTP2: Bool, _ options: TLSProtocolOptions
    ) throws(TLSError) -> SSLContextHandle {
        defer { ERR_clear_error() }
        guard let context = SSLContextHandle() else { throw .operationFailed("make a TLS context") }
        try unsafe setAlgorithms(context.pointer, options)
        unsafe latchkey_tls_set_modes(context.pointer)
        unsafe TLSWire.countRecords(of: context.pointer)
        unsafe SSL_CTX_set_num_tickets(context.pointer, 1)
        unsafe setProtocols(context.pointer, offersHTTP2)
        unsafe tickets.install(in: context.pointer)
        try unsafe setClientAuthorities(context.pointer, clientAuthorities)
        return context
    }

    private static func setAlgorithms(_ context: OpaquePointer, _ options: TLSProtocolOptions) throws(TLSError) {
        unsafe SSL_CTX_set_security_level(context, 2)
        guard unsafe SSL_CTX_set_cipher_list(context, options.cipherList) == 1 else { throw .noCipherList }
        guard unsafe SSL_CTX_set_ciphersuites(context, options.cipherSuites) == 1 else { throw .noCipherSuites }
        let minimum = options.minimumVersion == .version13 ? TLS1_3_VERSION : TLS1_2_VERSION
        let isSet =
            unsafe latchkey_tls_set_versions(context, minimum, TLS1_3_VERSION) == 1
            && latchkey_tls_set_groups(context, groups) == 1
        guard isSet else { throw .operationFailed("choose TLS algorithms") }
    }

    private static func setProtocols(_ context: OpaquePointer, _ offersHTTP2: Bool) {
        if offersHTTP2 {
            unsafe SSL_CTX_set_alpn_select_cb(context, chooseEither, nil)
        } else {
            unsafe SSL_CTX_set_alpn_select_cb(context, chooseVersion1, nil)
        }
    }

    /// Whom to let in. The authorities also name the sessions, so that a ticket from one listener or set of authorities
    /// is worth nothing at another.
    private static func setClientAuthorities(_ context: OpaquePointer, _ authorities: [UInt8]?) throws(TLSError) {
        var sessionName = [UInt8](repeating: 0, count: Int(SHA256_DIGEST_LENGTH))
        let named = authorities ?? []
        _ = unsafe SHA256(named, named.count, &sessionName)
        unsafe SSL_CTX_set_session_id_context(context, sessionName, UInt32(sessionName.count))
        guard let authorities else { return }
        let certificates = PEMReading.certificates(authorities)
        guard !certificates.isEmpty else { throw .notAuthorities }
        let store = unsafe SSL_CTX_get_cert_store(context)
        for certificate in certificates {
            let isAdded =
                unsafe X509_check_ca(certificate.pointer) > 0
                && X509_STORE_add_cert(store, certificate.pointer) == 1
                && SSL_CTX_add_client_CA(context, certificate.pointer) == 1
            guard isAdded else { throw .notAuthorities }
        }
        unsafe SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nil)
        unsafe SSL_CTX_set_verify_depth(context, 5)
        unsafe latchkey_tls_limit_client_chain(context, clientChainSizeMaximum)
    }
}

// MARK: Call-backs of OpenSSL

private func serverNameCallback(
    _ session: OpaquePointer?, _ alert: UnsafeMutablePointer<Int32>?, _ argument: UnsafeMutableRawPointer?
) -> Int32 {
    guard let session = unsafe session, let argument = unsafe argument,
        let name = unsafe SSL_get_servername(session, TLSEXT_NAMETYPE_host_name)
    else { return SSL_TLSEXT_ERR_NOACK }
    // The session's owner keeps the TLSContext; the name is a terminated string.
    let context = unsafe Unmanaged<TLSContext>.fromOpaque(argument).takeUnretainedValue()
    unsafe context.choose(String(cString: name), for: session)
    return SSL_TLSEXT_ERR_OK
}

/// Protocol names as ALPN has them: each behind its length.
private let bothProtocols = [2] + Array("h2".utf8) + [8] + Array("http/1.1".utf8)

private func chooseEither(
    _ session: OpaquePointer?, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ size: UnsafeMutablePointer<UInt8>?, _ offer: UnsafePointer<UInt8>?, _ offerSize: UInt32,
    _ argument: UnsafeMutableRawPointer?
) -> Int32 {
    unsafe choose(bothProtocols[...], chosen, size, offer, offerSize)
}

private func chooseVersion1(
    _ session: OpaquePointer?, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ size: UnsafeMutablePointer<UInt8>?, _ offer: UnsafePointer<UInt8>?, _ offerSize: UInt32,
    _ argument: UnsafeMutableRawPointer?
) -> Int32 {
    unsafe choose(bothProtocols[3...], chosen, size, offer, offerSize)
}

/// Points `chosen` into the client's offer, which outlives the call-back, at the first of ours that it has.
///
/// Without one the handshake fails, as RFC 7301 section 3.2 demands.
private func choose(
    _ ours: ArraySlice<UInt8>, _ chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    _ size: UnsafeMutablePointer<UInt8>?, _ offer: UnsafePointer<UInt8>?, _ offerSize: UInt32
) -> Int32 {
    let offer = unsafe UnsafeBufferPointer(start: offer, count: Int(offerSize))
    var position = ours.startIndex
    while position < ours.endIndex {
        let wanted = ours[position...(position + Int(ours[position]))]
        if let start = unsafe find(wanted, in: offer) {
            unsafe chosen?.pointee = offer.baseAddress?.advanced(by: start + 1)
            unsafe size?.pointee = wanted[wanted.startIndex]
            return SSL_TLSEXT_ERR_OK
        }
        position = wanted.endIndex
    }
    return SSL_TLSEXT_ERR_ALERT_FATAL
}

/// Where a name with its length stands in a list of such; OpenSSL has checked that the list is well-formed.
private func find(_ wanted: ArraySlice<UInt8>, in offer: UnsafeBufferPointer<UInt8>) -> Int? {
    var position = 0
    while position < offer.count {
        let end = unsafe position + 1 + Int(offer[position])
        guard end <= offer.count else { return nil }
        if unsafe offer[position..<end].elementsEqual(wanted) { return position }
        position = end
    }
    return nil
}

/// Which versions and ciphers of TLS a listener offers.
package struct TLSProtocolOptions: Equatable, Sendable {
    /// The oldest version.
    package var minimumVersion = TLSFacts.Version.version12
    /// The ciphers of TLS 1.2, as OpenSSL writes a list. By default elliptic-curve exchange and authenticated
    /// encryption alone.
    package var cipherList = "ECDHE+AESGCM:ECDHE+CHACHA20"
    /// The ciphers of TLS 1.3 by their names, with colons between.
    package var cipherSuites = "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256"

    /// The defaults.
    package init() {}
}

/// The owner of one reference to an `SSL_CTX`.
@safe
final class SSLContextHandle: @unchecked Sendable {
    // Safe to share: it is set up by one thread and only used for sessions afterwards, and OpenSSL counts references
    // atomically.
    let pointer: OpaquePointer

    /// An empty context for servers; `nil` when there is no memory.
    init?() {
        guard let pointer = unsafe SSL_CTX_new(TLS_server_method()) else { return nil }
        unsafe self.pointer = pointer
    }

    deinit {
        unsafe SSL_CTX_free(pointer)
    }
}
