private import COpenSSL
package import KeyCrypto

/// The identity of a server: a chain of certificates and the private key of the first certificate.
package final class TLSIdentity: Sendable {
    private let chain: [CertificateHandle]
    private let key: PrivateKeyHandle

    /// The DNS names in the first certificate. A name that begins with `*.` is a wildcard.
    package let names: [String]
    package let algorithm: Algorithm
    /// When the first certificate becomes valid, in seconds since 1970.
    package let notBefore: Int64
    /// When the first certificate expires, in seconds since 1970.
    package let notAfter: Int64

    /// The algorithm of the private key.
    package enum Algorithm: Sendable {
        case rsa
        case ecdsa
    }

    /// Reads a chain of certificates in PEM, the server's own first, and its private key in PEM without encryption.
    ///
    /// Throws `notACertificateChain`, `notAPrivateKey`, `unsupportedKey` or `keyMismatch`.
    package init(chain pem: [UInt8], privateKey: borrowing SecretBytes) throws(TLSError) {
        chain = PEMReading.certificates(pem)
        guard let first = chain.first else { throw .notACertificateChain }
        guard let key = PEMReading.privateKey(privateKey) else { throw .notAPrivateKey }
        let isRSA = key.isKind("RSA")
        guard isRSA || key.isKind("EC") else { throw .unsupportedKey }
        self.key = key
        algorithm = isRSA ? .rsa : .ecdsa
        names = unsafe Self.dnsNames(of: first.pointer)
        notBefore = unsafe Self.seconds(X509_get0_notBefore(first.pointer))
        notAfter = unsafe Self.seconds(X509_get0_notAfter(first.pointer))
        defer { ERR_clear_error() }
        guard unsafe X509_check_private_key(first.pointer, key.pointer) == 1 else { throw .keyMismatch }
    }

    /// Installs the identity in a context, which keeps its own references. Throws `tooWeak`.
    func install(in context: SSLContextHandle) throws(TLSError) {
        defer { ERR_clear_error() }
        var isInstalled = unsafe SSL_CTX_use_certificate(context.pointer, chain[0].pointer) == 1
        for issuer in chain.dropFirst() {
            let isAdded = unsafe latchkey_tls_add_chain_certificate(context.pointer, issuer.pointer) == 1
            isInstalled = isInstalled && isAdded
        }
        // The files are valid and belong together, so only the security level can be the reason.
        guard unsafe isInstalled && SSL_CTX_use_PrivateKey(context.pointer, key.pointer) == 1 else { throw .tooWeak }
    }

    private static func dnsNames(of certificate: OpaquePointer) -> [String] {
        guard let list = unsafe latchkey_alternative_names(certificate) else { return [] }
        defer { unsafe GENERAL_NAMES_free(list) }
        return unsafe (0..<latchkey_alternative_name_count(list)).compactMap { position in
            var count: Int32 = 0
            // Safe: the name has `count` bytes, which exist as long as the list.
            guard let start = unsafe latchkey_dns_name(list, position, &count), count > 0 else { return nil }
            return unsafe String(decoding: UnsafeBufferPointer(start: start, count: Int(count)), as: UTF8.self)
        }
    }

    private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64 {
        var days: Int32 = 0
        var seconds: Int32 = 0
        // The Unix time is the difference from 1970-01-01 as OpenSSL counts it. If it cannot be computed, the time is
        // the distant past.
        guard let epoch = unsafe ASN1_TIME_set(nil, 0) else { return .min }
        defer { unsafe ASN1_STRING_free(epoch) }
        let isTime = unsafe ASN1_TIME_diff(&days, &seconds, epoch, time) == 1
        return isTime ? Int64(days) * 86_400 + Int64(seconds) : .min
    }
}

/// The owner of one reference to an `X509`.
@safe
final class CertificateHandle: @unchecked Sendable {
    // Safe to share: the certificate is only read, and OpenSSL counts references atomically.
    let pointer: OpaquePointer

    /// Takes over the caller's reference.
    init(owning pointer: OpaquePointer) {
        unsafe self.pointer = pointer
    }

    deinit {
        unsafe X509_free(pointer)
    }
}

/// The owner of one reference to an `EVP_PKEY`.
@safe
final class PrivateKeyHandle: @unchecked Sendable {
    // Safe to share: OpenSSL's operations on a key are thread safe, and it counts references atomically.
    let pointer: OpaquePointer

    /// Takes over the caller's reference; `nil` if the caller has none.
    init?(owning pointer: OpaquePointer?) {
        guard let pointer = unsafe pointer else { return nil }
        unsafe self.pointer = pointer
    }

    deinit {
        unsafe EVP_PKEY_free(pointer)
    }

    /// Whether the key has this type, for example "RSA" or "EC".
    func isKind(_ name: String) -> Bool {
        unsafe EVP_PKEY_is_a(pointer, name) == 1
    }
}

/// Reads certificates and keys from PEM.
enum PEMReading {
    /// Returns all certificates in a text, in their order. If one of them is malformed, returns none.
    static func certificates(_ pem: [UInt8]) -> [CertificateHandle] {
        defer { ERR_clear_error() }
        var found: [CertificateHandle] = []
        unsafe withReader(pem.span.bytes) { bio in
            while let certificate = unsafe PEM_read_bio_X509(bio, nil, nil, nil) {
                unsafe found.append(CertificateHandle(owning: certificate))
            }
        }
        // At the end of the text, the reader fails with "no start line". Any other error means a malformed block.
        return ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE ? found : []
    }

    /// Returns the private key in a text; `nil` if the text has no private key, or if the key has a passphrase.
    static func privateKey(_ pem: borrowing SecretBytes) -> PrivateKeyHandle? {
        defer { ERR_clear_error() }
        return pem.withBytes { bytes in
            unsafe withReader(bytes) { bio in
                unsafe PrivateKeyHandle(owning: PEM_read_bio_PrivateKey(bio, nil, refusePassphrase, nil))
            }
        }
    }

    /// Calls `body` with a reader for the bytes. The reader is freed before the bytes.
    private static func withReader<Result>(_ bytes: RawSpan, _ body: (OpaquePointer?) -> Result) -> Result {
        unsafe bytes.withUnsafeBytes { buffer in
            let bio = unsafe BIO_new_mem_buf(buffer.baseAddress, Int32(buffer.count))
            defer { unsafe BIO_free(bio) }
            return unsafe body(bio)
        }
    }
}

/// OpenSSL's password callback. It gives no password, so that OpenSSL does not ask at a terminal.
private func refusePassphrase(
    _: UnsafeMutablePointer<CChar>?, size: Int32, isWriting: Int32, userData: UnsafeMutableRawPointer?
) -> Int32 {
    -1
}
