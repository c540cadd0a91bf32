import COpenSSL

/// AES Key Wrap (RFC 3394) with its default initial value.
package enum AESKeyWrap {
    /// The allowed sizes of a key-encryption key, in bytes.
    package static let keySizes: Set<Int> = [16, 24, 32]
    /// The difference in bytes between the sizes of a wrapped key and the key.
    package static let overhead = 8

    /// Unwraps a key. It has at least 16 bytes, and its size is a multiple of 8.
    ///
    /// Throws `wrongSize` if the key-encryption key or the wrapped key has an invalid size. Throws
    /// `authenticationFailed` if they do not belong together.
    package static func unwrap(
        _ wrapped: [UInt8], with key: borrowing SecretBytes
    ) throws(CryptoError) -> SecretBytes {
        let keySize = key.count
        guard keySizes.contains(keySize) else { throw .wrongSize(expected: 32, actual: keySize) }
        guard wrapped.count >= 24, wrapped.count <= 4096, wrapped.count.isMultiple(of: 8) else {
            throw .wrongSize(expected: 24, actual: wrapped.count)
        }
        guard let cipher = unsafe EVP_CIPHER_fetch(nil, "AES-\(keySize * 8)-WRAP", nil) else {
            throw .operationFailed("fetch AES key wrap")
        }
        defer { unsafe EVP_CIPHER_free(cipher) }
        guard let context = unsafe EVP_CIPHER_CTX_new() else { throw .operationFailed("unwrap a key") }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        // The output is as large as the input, which is more than OpenSSL writes.
        let output = SecretBytes(count: wrapped.count)
        var written: Int32 = 0
        let unwrapped = unsafe key.withUnsafeMemory { keyBytes in
            unsafe output.withUnsafeMemory { plain in
                unsafe EVP_CIPHER_CTX_set_flags(context, Int32(EVP_CIPHER_CTX_FLAG_WRAP_ALLOW))
                return unsafe EVP_DecryptInit_ex2(context, cipher, keyBytes, nil, nil) == 1
                    && EVP_DecryptUpdate(context, plain, &written, wrapped, Int32(wrapped.count)) == 1
            }
        }
        guard unwrapped, Int(written) == wrapped.count - overhead else {
            ERR_clear_error()
            throw .authenticationFailed
        }
        return output.copy(0..<Int(written))
    }
}
