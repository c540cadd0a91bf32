private import COpenSSL

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

    /// Takes over the caller's reference; `nil` for none.
    init?(owning pointer: OpaquePointer?) {
        guard let pointer = unsafe pointer else { return nil }
        unsafe self.pointer = pointer
    }

    deinit {
        unsafe EVP_PKEY_free(pointer)
    }

    /// Whether it is of this kind: "RSA", "EC".
    func isKind(_ name: String) -> Bool {
        unsafe EVP_PKEY_is_a(pointer, name) == 1
    }
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
