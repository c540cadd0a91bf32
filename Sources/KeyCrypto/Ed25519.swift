import COpenSSL

/// An Ed25519 public key (RFC 8032), for JWT signatures of the kind EdDSA (RFC 8037, section 3.1).
package final class Ed25519PublicKey: Sendable {
    /// The size of a key in bytes.
    package static let size = 32
    /// The size of a signature in bytes.
    package static let signatureSize = 64

    private let key: OpenSSLKey

    fileprivate init(_ key: OpenSSLKey) {
        self.key = key
    }

    /// Reads a SubjectPublicKeyInfo in PEM or DER. Throws `notAKey`.
    package convenience init(parsing bytes: [UInt8]) throws(CryptoError) {
        guard let key = OpenSSLKey.publicKey(from: bytes), key.isKind("ED25519") else {
            throw .notAKey("an Ed25519 public key in PEM or DER")
        }
        self.init(key)
    }

    /// Makes a key from its 32 bytes (RFC 8037, section 2). Throws `wrongSize` and `notAKey`.
    package convenience init(point: [UInt8]) throws(CryptoError) {
        guard point.count == Self.size else { throw .wrongSize(expected: Self.size, actual: point.count) }
        try self.init(parsing: PublicKeyEncoding.ed25519(point))
    }

    /// Whether `signature` (64 bytes) over `message` was made by the private key.
    package func isValidSignature(_ signature: ArraySlice<UInt8>, for message: ArraySlice<UInt8>) -> Bool {
        guard signature.count == Self.signatureSize, let context = unsafe EVP_MD_CTX_new() else { return false }
        defer {
            unsafe EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        return unsafe signature.withUnsafeBufferPointer { code in
            // Safe: both buffers exist during the calls that read them.
            unsafe message.withUnsafeBufferPointer { bytes in
                unsafe EVP_DigestVerifyInit_ex(context, nil, nil, nil, nil, key.pointer, nil) == 1
                    && EVP_DigestVerify(context, code.baseAddress, code.count, bytes.baseAddress, bytes.count) == 1
            }
        }
    }

    package func publicPEM() throws(CryptoError) -> [UInt8] {
        try key.publicPEM()
    }
}

/// An Ed25519 private key, for minting tokens.
package final class Ed25519PrivateKey: Sendable {
    private let key: OpenSSLKey

    private init(_ key: OpenSSLKey) {
        self.key = key
    }

    /// Reads an unencrypted key in PEM or DER. Throws `notAKey` or `passphraseMissing`.
    package convenience init(parsing bytes: [UInt8]) throws(CryptoError) {
        guard let reading = try PrivateKeyReader.read(bytes, passphrase: nil), reading.key.isKind("ED25519") else {
            throw .notAKey("an Ed25519 private key in PEM or DER")
        }
        self.init(reading.key)
    }

    package static func generate() throws(CryptoError) -> Ed25519PrivateKey {
        guard let key = unsafe OpenSSLKey(owning: latchkey_ed25519_generate()) else {
            throw .operationFailed("generate an Ed25519 key")
        }
        return Ed25519PrivateKey(key)
    }

    package var publicKey: Ed25519PublicKey { Ed25519PublicKey(key) }

    package func privatePEM() throws(CryptoError) -> SecretBytes {
        try key.privatePEM()
    }

    /// Returns the signature over `message`: 64 bytes.
    package func signature(for message: [UInt8]) throws(CryptoError) -> [UInt8] {
        try key.signature(for: message, digest: nil, sizeMaximum: Ed25519PublicKey.signatureSize)
    }
}
