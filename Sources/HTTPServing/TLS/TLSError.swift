/// Why certificates and keys cannot be used for TLS; never holds key material or OpenSSL's own text.
package enum TLSError: Error, Equatable, Sendable {
    /// The file is not a chain of X.509 certificates in PEM, the server's own first.
    case notACertificateChain
    /// The file is not an unencrypted private key in PEM.
    case notAPrivateKey
    /// The key is not RSA and not ECDSA.
    case unsupportedKey
    /// The private key does not belong to the first certificate.
    case keyMismatch
    /// A key or a signature is too weak: RSA under 2048 bits, curves under 224, SHA-1.
    case tooWeak
    /// The file holds no certificates of authorities in PEM.
    case notAuthorities
    /// The list of TLS 1.2 ciphers names none that OpenSSL has.
    case noCipherList
    /// The list of TLS 1.3 ciphers has a name that OpenSSL does not know.
    case noCipherSuites
    /// OpenSSL refused what should not fail: out of memory, or a broken installation.
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

/// Why a handshake did not succeed.
package enum TLSHandshakeFailure: String, CaseIterable, Equatable, Sendable {
    /// It was not complete in time.
    case timeout
    /// The client closed the connection.
    case closed
    /// What came was not TLS: as a rule plain HTTP.
    case notTLS
    /// The client does not speak TLS 1.2 or 1.3.
    case version
    /// No cipher, group or signature algorithm in common.
    case parameters
    /// The client does not speak HTTP/2 or HTTP/1.1.
    case applicationProtocol
    /// The client has no certificate of a configured authority.
    case clientCertificate
    /// The client refused, as a rule because it does not trust our certificate.
    case refused
    /// Anything else.
    case other
}
