import COpenSSL

/// An RSA public key, for JWT signatures of the kind RS256 (RFC 7518, section 3.3): PKCS #1 v1.5 with SHA-256.
///
/// Its modulus has 2048 to 8192 bits, and its exponent is at least 3. Shorter keys are weak, and much longer keys make
/// every request expensive.
package final class RS256PublicKey: Sendable {
    /// The allowed sizes of a modulus, in bits.
    package static let modulusBits = 2048...8192

    private let key: OpenSSLKey

    init(checking key: OpenSSLKey) throws(CryptoError) {
        guard key.isKind("RSA"), Self.modulusBits.contains(key.bits), key.hasUsableExponent else {
            throw .notAKey("an RSA public key of 2048 to 8192 bits with an exponent of at least 3")
        }
        self.key = key
    }

    /// Reads a SubjectPublicKeyInfo in PEM or DER. Throws `notAKey`, also for a key of another size.
    package convenience init(parsing bytes: [UInt8]) throws(CryptoError) {
        guard let key = OpenSSLKey.publicKey(from: bytes) else { throw .notAKey("an RSA public key in PEM or DER") }
        try self.init(checking: key)
    }

    /// Makes a key from big-endian numbers (RFC 7518, section 6.3.1). Throws `notAKey`, also for a key of another size.
    package convenience init(modulus: [UInt8], exponent: [UInt8]) throws(CryptoError) {
        guard (1...Self.modulusBits.upperBound / 8).contains(modulus.count), (1...8).contains(exponent.count) else {
            throw .notAKey("an RSA public key of 2048 to 8192 bits with an exponent of at least 3")
        }
        try self.init(parsing: PublicKeyEncoding.rsa(modulus: modulus, exponent: exponent))
    }

    /// Whether `signature`, as long as the modulus, over the SHA-256 of `message` was made by the private key.
    package func isValidSignature(_ signature: ArraySlice<UInt8>, for message: ArraySlice<UInt8>) -> Bool {
        guard signature.count == key.size, let context = unsafe EVP_MD_CTX_new() else { return false }
        defer {
            unsafe EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        return unsafe signature.withUnsafeBufferPointer { code in
            // Safe: both buffers exist during the calls that read them. OpenSSL's default padding is PKCS #1 v1.5.
            unsafe message.withUnsafeBufferPointer { bytes in
                unsafe EVP_DigestVerifyInit_ex(context, nil, "SHA256", nil, nil, key.pointer, nil) == 1
                    && EVP_DigestVerify(context, code.baseAddress, code.count, bytes.baseAddress, bytes.count) == 1
            }
        }
    }

    /// The size of a signature in bytes: that of the modulus.
    package var signatureSize: Int { key.size }

    package func publicPEM() throws(CryptoError) -> [UInt8] {
        try key.publicPEM()
    }
}

extension RSAPrivateKey {
    /// Returns the public key for RS256. Throws `notAKey` if the key is too small for it.
    package func rs256PublicKey() throws(CryptoError) -> RS256PublicKey {
        try RS256PublicKey(checking: key)
    }

    /// Returns the RS256 signature over the SHA-256 of `message`. It is as long as the modulus.
    package func rs256Signature(for message: [UInt8]) throws(CryptoError) -> [UInt8] {
        try key.signature(for: message, digest: "SHA256", sizeMaximum: modulusSize)
    }
}

extension OpenSSLKey {
    /// The size of a modulus, or of the numbers of a curve, in bits.
    var bits: Int {
        unsafe Int(EVP_PKEY_get_bits(pointer))
    }

    /// Whether the public exponent of an RSA key is odd and at least 3.
    fileprivate var hasUsableExponent: Bool {
        var number: OpaquePointer?
        guard unsafe EVP_PKEY_get_bn_param(pointer, OSSL_PKEY_PARAM_RSA_E, &number) == 1 else { return false }
        defer { unsafe BN_free(number) }
        return unsafe BN_is_odd(number) == 1 && BN_is_one(number) == 0
    }

    /// Returns a signature of this private key. Throws `operationFailed`.
    func signature(for message: [UInt8], digest: String?, sizeMaximum: Int) throws(CryptoError) -> [UInt8] {
        guard let context = unsafe EVP_MD_CTX_new() else { throw .operationFailed("sign") }
        defer {
            unsafe EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        var code = [UInt8](repeating: 0, count: sizeMaximum)
        var size = code.count
        let signed =
            unsafe EVP_DigestSignInit_ex(context, nil, digest, nil, nil, pointer, nil) == 1
            && EVP_DigestSign(context, &code, &size, message, message.count) == 1
        guard signed else { throw .operationFailed("sign") }
        return Array(code.prefix(size))
    }
}
