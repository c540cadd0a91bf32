/// Why certificates and keys cannot be used for TLS. It contains no key material and no text of OpenSSL.
package enum TLSError: Error, Equatable, Sendable {
    /// The file is not a chain of X.509 certificates in PEM.
    case notACertificateChain
    /// The file is not an unencrypted private key in PEM.
    case notAPrivateKey
    /// The key is not RSA and not ECDSA.
    case unsupportedKey
    /// The private key does not belong to the first certificate.
    case keyMismatch
    /// A key or a signature is too weak: RSA under 2048 bits, curves under 224, SHA-1.
    case tooWeak
    /// The file has no certificates of authorities in PEM.
    case notAuthorities
    /// The list of TLS 1.2 ciphers has no cipher that OpenSSL supports.
    case noCipherList
    /// The list of TLS 1.3 ciphers has a name that OpenSSL does not know.
    case noCipherSuites
    /// OpenSSL failed, because there is no memory, or because the installation is broken. The text names the operation.
    case operationFailed(String)
}

extension TLSError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .notACertificateChain: "the file is not a chain of certificates in PEM, the server's own certificate first"
        case .notAPrivateKey: "the file is not an unencrypted private key in PEM"
        case .unsupportedKey: "the key is not RSA and not ECDSA"
        case .keyMismatch: "the private key does not belong to the first certificate of the chain"
        case .tooWeak: "the key or a signature of the chain is too weak; use P-256, or RSA with at least 2048 bits"
        case .notAuthorities: "the file holds no certificates of authorities in PEM"
        case .noCipherList: "the list names no cipher of TLS 1.2 that OpenSSL has"
        case .noCipherSuites: "the list has a name that is no cipher of TLS 1.3"
        case .operationFailed(let operation): "OpenSSL could not \(operation)"
        }
    }
}

/// Why a handshake failed.
package enum TLSHandshakeFailure: String, CaseIterable, Equatable, Sendable {
    /// The handshake was not complete before its deadline.
    case timeout
    /// The client closed the connection.
    case closed
    /// The input was not TLS, but usually plain HTTP.
    case notTLS = "not_tls"
    /// The client does not support TLS 1.2 or 1.3.
    case version
    /// Client and server have no cipher, group or signature algorithm in common.
    case parameters
    /// The client offers other application protocols than HTTP/2 and HTTP/1.1.
    case applicationProtocol = "application_protocol"
    /// The client has no certificate of a configured authority.
    case clientCertificate = "client_certificate"
    /// The client's certificate chain is larger than 16 KB or has more than 6 certificates, and was not parsed.
    case clientChainTooLarge = "client_chain_too_large"
    /// The client ended the handshake, usually because it does not trust the server's certificate.
    case refused
    /// The handshake failed for another reason.
    case other
}
