private import COpenSSL
import KeyCrypto

/// The TLS settings of a listener, for TLS 1.2 and 1.3: certificates by host name, trusted authorities, and offered
/// protocols.
///
/// It is immutable: a reload makes another one. A connection keeps the context with which it began.
package final class TLSContext: Sendable {
    private let contexts: [SSLContextHandle]
    private let names: TLSServerNames<Int>
    private let tickets: TLSTicketKeys
    /// When the certificates expire, in seconds since 1970, in the order of the identities.
    package let certificateEnds: [Int64]
    /// Whether clients must have a certificate.
    package let requiresClientCertificate: Bool

    /// Makes a context.
    ///
    /// - Parameters:
    ///   - identities: at least one. The first is for clients that name no host, or a host that no certificate has. If
    ///     two identities with different algorithms have the same name, OpenSSL chooses one that the client supports.
    ///   - clientAuthorities: certificates in PEM. Only clients with a certificate of these authorities may connect;
    ///     with `nil`, all clients may.
    ///   - tickets: the keys that seal session tickets.
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
            let context = try Self.makeContext(
                clientAuthorities: clientAuthorities, tickets: tickets, offersHTTP2: offersHTTP2, options: options)
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

    /// Makes a session with the default context. The caller frees it with `SSL_free`, and keeps this object until then.
    func makeSession() -> OpaquePointer? {
        unsafe SSL_new(contexts[0].pointer)
    }

    /// Gives a session the certificates for the host that the client names.
    fileprivate func choose(_ host: String, for session: OpaquePointer) {
        guard let index = names.value(for: host) else { return }
        _ = unsafe SSL_set_SSL_CTX(session, contexts[index].pointer)
    }
}

// MARK: Settings of OpenSSL

extension TLSContext {
    private static let groups = "X25519:P-256:P-384"
    /// The most bytes of a client's certificate chain. A larger chain is refused by its length, before it is parsed.
    ///
    /// Parsing takes the loop's time, and the client is not known yet. Three RSA certificates have about 5 KB.
    private static let clientChainSizeMaximum = 16 * 1024

    private static func makeContext(
        clientAuthorities: [UInt8]?, tickets: TLSTicketKeys, offersHTTP2: Bool, options: TLSProtocolOptions
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

    /// Sets the authorities whose clients may connect.
    ///
    /// The ID of the session context is a hash of the authorities. So a session ticket is not accepted by a listener
    /// with other authorities.
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
    // Safe: the session's owner keeps the TLSContext, and the name is a terminated string.
    let context = unsafe Unmanaged<TLSContext>.fromOpaque(argument).takeUnretainedValue()
    unsafe context.choose(String(cString: name), for: session)
    return SSL_TLSEXT_ERR_OK
}

/// Protocol names in the format of ALPN: each name with its length before it.
private let bothProtocols = [2] + Array("h2".utf8) + [8] + Array("http/1.1".utf8)

private func chooseEither(
    _: OpaquePointer?, chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, size: UnsafeMutablePointer<UInt8>?,
    offer: UnsafePointer<UInt8>?, offerSize: UInt32, argument _: UnsafeMutableRawPointer?
) -> Int32 {
    unsafe choose(
        bothProtocols[...], chosen: chosen, size: size,
        offer: UnsafeBufferPointer(start: offer, count: Int(offerSize)))
}

private func chooseVersion1(
    _: OpaquePointer?, chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?, size: UnsafeMutablePointer<UInt8>?,
    offer: UnsafePointer<UInt8>?, offerSize: UInt32, argument _: UnsafeMutableRawPointer?
) -> Int32 {
    unsafe choose(
        bothProtocols[3...], chosen: chosen, size: size,
        offer: UnsafeBufferPointer(start: offer, count: Int(offerSize)))
}

/// Chooses the first protocol of `ours` that the client offers. `chosen` then points into the client's offer, which
/// outlives the callback.
///
/// If the client offers none of them, the handshake fails (RFC 7301 section 3.2).
private func choose(
    _ ours: ArraySlice<UInt8>, chosen: UnsafeMutablePointer<UnsafePointer<UInt8>?>?,
    size: UnsafeMutablePointer<UInt8>?, offer: UnsafeBufferPointer<UInt8>
) -> Int32 {
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

/// Returns the position of a name with its length in a list of names. OpenSSL has checked that the list is well-formed.
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

/// The versions and ciphers of TLS that a listener offers.
package struct TLSProtocolOptions: Equatable, Sendable {
    /// The oldest version.
    package var minimumVersion = TLSFacts.Version.version12
    /// The ciphers of TLS 1.2 in OpenSSL's format. The default allows only elliptic-curve key exchange and
    /// authenticated encryption.
    package var cipherList = "ECDHE+AESGCM:ECDHE+CHACHA20"
    /// The names of the ciphers of TLS 1.3, separated by colons.
    package var cipherSuites = "TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256:TLS_AES_128_GCM_SHA256"

    /// Makes the default options.
    package init() {}
}

/// The owner of one reference to an `SSL_CTX`.
@safe
final class SSLContextHandle: @unchecked Sendable {
    // Safe to share: one thread sets it up, and afterwards it is only used to make sessions. OpenSSL counts references
    // atomically.
    let pointer: OpaquePointer

    /// Makes an empty context for servers; `nil` if there is no memory.
    init?() {
        guard let pointer = unsafe SSL_CTX_new(TLS_server_method()) else { return nil }
        unsafe self.pointer = pointer
    }

    deinit {
        unsafe SSL_CTX_free(pointer)
    }
}
