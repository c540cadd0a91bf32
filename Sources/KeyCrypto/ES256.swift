import COpenSSL

/// An ECDSA P-256 public key, for JWT signatures of the kind ES256 (RFC 7518, section 3.4).
package final class ES256PublicKey: Sendable {
    /// The size of a signature: r and s of 32 bytes each.
    package static let signatureSize = 64

    let key: OpenSSLKey

    init(_ key: OpenSSLKey) {
        self.key = key
    }

    /// SubjectPublicKeyInfo in PEM or DER. Throws `notAKey`.
    package convenience init(parsing bytes: [UInt8]) throws(CryptoError) {
        guard let key = OpenSSLKey.publicKey(from: bytes), key.isP256 else {
            throw .notAKey("a P-256 public key in PEM or DER")
        }
        self.init(key)
    }

    /// The coordinates of the point, 32 bytes each (RFC 7518, section 6.2.1). Throws `wrongSize`, and `notAKey` for one off the curve.
    package convenience init(x: [UInt8], y: [UInt8]) throws(CryptoError) {
        for coordinate in [x, y] where coordinate.count != 32 {
            throw .wrongSize(expected: 32, actual: coordinate.count)
        }
        try self.init(parsing: PublicKeyEncoding.p256(x: x, y: y))
    }

    /// Whether `signature` (r ‖ s, 64 bytes) over the SHA-256 of `message` was made by the private key.
    package func isValidSignature(_ signature: ArraySlice<UInt8>, for message: ArraySlice<UInt8>) -> Bool {
        guard signature.count == Self.signatureSize, let encoded = ECDSASignature.encode(signature),
            let context = unsafe EVP_MD_CTX_new()
        else { return false }
        defer {
            unsafe EVP_MD_CTX_free(context)
            ERR_clear_error()
        }
        return unsafe message.withUnsafeBufferPointer { bytes in
            unsafe EVP_DigestVerifyInit_ex(context, nil, "SHA256", nil, nil, key.pointer, nil) == 1
                && EVP_DigestVerify(context, encoded, encoded.count, bytes.baseAddress, bytes.count) == 1
        }
    }

    package func publicPEM() throws(CryptoError) -> [UInt8] {
        try key.publicPEM()
    }
}

/// An ECDSA P-256 private key, for minting tokens.
package final class ES256PrivateKey: Sendable {
    let key: OpenSSLKey

    private init(_ key: OpenSSLKey) {
        self.key = key
    }

    /// PEM or DER, not encrypted. Throws `notAKey` or `passphraseMissing`.
    package convenience init(parsing bytes: [UInt8]) throws(CryptoError) {
        guard let reading = try PrivateKeyReader.read(bytes, passphrase: nil), reading.key.isP256 else {
            throw .notAKey("a P-256 private key in PEM or DER")
        }
        self.init(reading.key)
    }

    package static func generate() throws(CryptoError) -> ES256PrivateKey {
        guard let key = unsafe OpenSSLKey(owning: latchkey_p256_generate()) else {
            throw .operationFailed("generate a P-256 key")
        }
        return ES256PrivateKey(key)
    }

    package var publicKey: ES256PublicKey { ES256PublicKey(key) }

    package func privatePEM() throws(CryptoError) -> SecretBytes {
        try key.privatePEM()
    }

    /// The signature over the SHA-256 of `message`: r ‖ s, 64 bytes.
    package func signature(for message: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard let context = unsafe EVP_MD_CTX_new() else { throw .operationFailed("sign") }
        defer { unsafe EVP_MD_CTX_free(context) }
        // A DER signature of P-256 has at most 72 bytes.
        var encoded = [UInt8](repeating: 0, count: 80)
        var size = encoded.count
        let signed =
            unsafe EVP_DigestSignInit_ex(context, nil, "SHA256", nil, nil, key.pointer, nil) == 1
            && EVP_DigestSign(context, &encoded, &size, message, message.count) == 1
        guard signed, let raw = ECDSASignature.decode(encoded.prefix(size)) else { throw .operationFailed("sign") }
        return raw
    }
}

extension OpenSSLKey {
    fileprivate var isP256: Bool {
        var name = [CChar](repeating: 0, count: 32)
        var length = 0
        guard isKind("EC"), unsafe EVP_PKEY_get_group_name(pointer, &name, name.count, &length) == 1 else {
            return false
        }
        return name.prefix(length).map { UInt8(bitPattern: $0) } == Array("prime256v1".utf8)
    }
}

/// Between the raw form of JWTs (r ‖ s) and the DER form of OpenSSL.
private enum ECDSASignature {
    static func encode(_ raw: ArraySlice<UInt8>) -> [UInt8]? {
        guard let signature = unsafe ECDSA_SIG_new() else { return nil }
        defer { unsafe ECDSA_SIG_free(signature) }
        let adopted = unsafe raw.withUnsafeBufferPointer { bytes in
            // The caller has shown 64 bytes. The numbers are the signature's once `ECDSA_SIG_set0` took them, and ours until then.
            guard let base = bytes.baseAddress else { return false }
            let r = unsafe BN_bin2bn(base, 32, nil)
            let s = unsafe BN_bin2bn(base + 32, 32, nil)
            if unsafe ECDSA_SIG_set0(signature, r, s) == 1 { return true }
            unsafe BN_free(r)
            unsafe BN_free(s)
            return false
        }
        guard adopted else { return nil }
        let size = unsafe i2d_ECDSA_SIG(signature, nil)
        guard size > 0 else { return nil }
        var encoded = [UInt8](repeating: 0, count: Int(size))
        let written = unsafe encoded.withUnsafeMutableBufferPointer { buffer in
            var cursor = buffer.baseAddress
            return unsafe i2d_ECDSA_SIG(signature, &cursor)
        }
        return written == size ? encoded : nil
    }

    static func decode(_ encoded: ArraySlice<UInt8>) -> [UInt8]? {
        let parsed = unsafe encoded.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return unsafe d2i_ECDSA_SIG(nil, &cursor, bytes.count)
        }
        guard let signature = unsafe parsed else { return nil }
        defer { unsafe ECDSA_SIG_free(signature) }
        var raw = [UInt8](repeating: 0, count: 64)
        let padded = unsafe raw.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return false }
            return unsafe BN_bn2binpad(ECDSA_SIG_get0_r(signature), base, 32) == 32
                && BN_bn2binpad(ECDSA_SIG_get0_s(signature), base + 32, 32) == 32
        }
        return padded ? raw : nil
    }
}
