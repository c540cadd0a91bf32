import COpenSSL

/// The owner of an `EVP_PKEY`, which is freed together with this object.
@safe
final class OpenSSLKey: @unchecked Sendable {
    // Safe to share: OpenSSL counts references to the key atomically, and its operations on the key are thread safe.
    let pointer: OpaquePointer

    /// Takes over the caller's reference.
    init?(owning pointer: OpaquePointer?) {
        guard let pointer = unsafe pointer else { return nil }
        unsafe self.pointer = pointer
    }

    deinit {
        unsafe EVP_PKEY_free(pointer)
    }

    /// Whether the key has this type, by OpenSSL's names, for example "RSA" or "EC".
    func isKind(_ name: String) -> Bool {
        unsafe EVP_PKEY_is_a(pointer, name) == 1
    }

    /// The size of a modulus or signature in bytes.
    var size: Int {
        unsafe Int(EVP_PKEY_get_size(pointer))
    }

    /// The modulus of an RSA key, big-endian with `size` bytes; empty for another kind of key.
    var modulus: [UInt8] {
        var number: OpaquePointer?
        guard unsafe EVP_PKEY_get_bn_param(pointer, OSSL_PKEY_PARAM_RSA_N, &number) == 1 else { return [] }
        defer { unsafe BN_free(number) }
        var bytes = [UInt8](repeating: 0, count: size)
        return unsafe BN_bn2binpad(number, &bytes, Int32(bytes.count)) == Int32(bytes.count) ? bytes : []
    }

    /// Whether the other key has the same public part.
    func hasSamePublicPart(as other: OpenSSLKey) -> Bool {
        let same = unsafe EVP_PKEY_eq(pointer, other.pointer) == 1
        ERR_clear_error()
        return same
    }

    /// Reads a public key (SubjectPublicKeyInfo) in PEM or DER; nil if the bytes are not one.
    static func publicKey(from bytes: [UInt8]) -> OpenSSLKey? {
        defer { ERR_clear_error() }
        return unsafe MemoryInput.read(bytes) { bio in
            MemoryInput.isPEM(bytes)
                ? unsafe OpenSSLKey(owning: PEM_read_bio_PUBKEY(bio, nil, nil, nil))
                : unsafe OpenSSLKey(owning: d2i_PUBKEY_bio(bio, nil))
        }
    }

    /// Returns the key as unencrypted PKCS#8 PEM, for a file that only its owner can read.
    func privatePEM() throws(CryptoError) -> SecretBytes {
        try unsafe MemoryOutput.collect { bio in
            unsafe PEM_write_bio_PKCS8PrivateKey(bio, pointer, nil, nil, 0, nil, nil) == 1
        }
    }

    /// Returns the public key as SubjectPublicKeyInfo in PEM.
    func publicPEM() throws(CryptoError) -> [UInt8] {
        try unsafe MemoryOutput.collect { bio in unsafe PEM_write_bio_PUBKEY(bio, pointer) == 1 }.revealed()
    }
}
