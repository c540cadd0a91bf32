import COpenSSL

/// An X.509 certificate as a FairPlay credential uses it: a public key, and bytes whose hash names it.
@safe
package final class Certificate: @unchecked Sendable {
    // Safe to share: the certificate is read only after `init`, and OpenSSL counts references atomically.
    private let pointer: OpaquePointer
    /// The DER encoding: what devices hash.
    package let der: [UInt8]
    package let publicKey: RSAPublicKey

    /// The organization of certificates that `latchkey init` makes; the daemon knows development material by it.
    package static let developmentOrganization = "Latchkey development, not issued by Apple"

    /// DER or PEM with an RSA key. Throws `notACertificate`, or `notAKey` for another kind of key.
    package init(parsing bytes: [UInt8]) throws(CryptoError) {
        guard let pointer = unsafe Self.read(bytes) else { throw .notACertificate }
        guard let der = unsafe Self.encode(pointer) else {
            unsafe X509_free(pointer)
            throw .notACertificate
        }
        guard let key = unsafe OpenSSLKey(owning: X509_get_pubkey(pointer)), key.isKind("RSA") else {
            unsafe X509_free(pointer)
            ERR_clear_error()
            throw .notAKey("a certificate of an RSA key")
        }
        unsafe self.pointer = pointer
        self.der = der
        publicKey = RSAPublicKey(key)
    }

    deinit {
        unsafe X509_free(pointer)
    }

    /// The size of the modulus in bits.
    package var keyBits: Int { publicKey.modulusSize * 8 }

    /// The end of its validity in seconds since 1970, or nil where the certificate has none that can be read.
    package var notAfter: Int64? {
        var days: Int32 = 0
        var seconds: Int32 = 0
        // 1970-01-01 as OpenSSL counts; the difference to it is the Unix time.
        guard let epoch = unsafe ASN1_TIME_set(nil, 0) else { return nil }
        defer { unsafe ASN1_STRING_free(epoch) }
        guard unsafe ASN1_TIME_diff(&days, &seconds, epoch, X509_get0_notAfter(pointer)) == 1 else { return nil }
        return Int64(days) * 86_400 + Int64(seconds)
    }

    /// Whether `latchkey init` made it.
    package var isDevelopmentMaterial: Bool {
        guard let name = unsafe X509_get_subject_name(pointer) else { return false }
        var text = [CChar](repeating: 0, count: 128)
        // OpenSSL writes at most the given size, terminator included.
        let length = unsafe X509_NAME_get_text_by_NID(name, NID_organizationName, &text, Int32(text.count))
        guard length > 0 else { return false }
        return String(decoding: text.prefix(Int(length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
            == Self.developmentOrganization
    }

    private static func read(_ bytes: [UInt8]) -> OpaquePointer? {
        defer { ERR_clear_error() }
        if MemoryInput.isPEM(bytes) {
            return unsafe MemoryInput.read(bytes) { bio in unsafe PEM_read_bio_X509(bio, nil, nil, nil) }
        }
        return unsafe bytes.withUnsafeBufferPointer { buffer in
            // The reader stops at the end of the certificate; bytes after it make it another thing.
            var cursor = buffer.baseAddress
            let certificate = unsafe d2i_X509(nil, &cursor, buffer.count)
            guard let certificate = unsafe certificate else { return nil }
            guard unsafe cursor == buffer.baseAddress?.advanced(by: buffer.count) else {
                unsafe X509_free(certificate)
                return nil
            }
            return unsafe certificate
        }
    }

    private static func encode(_ certificate: OpaquePointer) -> [UInt8]? {
        let size = unsafe i2d_X509(certificate, nil)
        guard size > 0 else { return nil }
        var bytes = [UInt8](repeating: 0, count: Int(size))
        let written = unsafe bytes.withUnsafeMutableBufferPointer { buffer in
            // `size` bytes are there, as the first call said.
            var cursor = buffer.baseAddress
            return unsafe i2d_X509(certificate, &cursor)
        }
        return written == size ? bytes : nil
    }
}
