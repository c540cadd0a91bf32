package import ByteCoding
import COpenSSL

/// AES-256 in CBC mode with PKCS #7 padding, which XML Encryption uses for keys that are sent to packagers (packagers,
/// section 1.5).
///
/// The cipher is fetched at each call. This costs little, because packagers ask rarely, and each of their requests
/// needs RSA operations too.
package enum AES256CBC {
    package static let keySize = 32

    /// Encrypts a secret. The ciphertext has the size of the secret and 1 to 16 bytes of padding, in whole blocks.
    ///
    /// Throws `wrongSize` unless the key has 32 bytes.
    package static func encrypt(
        _ secret: borrowing SecretBytes, key: borrowing SecretBytes, iv: Bytes16
    ) throws(CryptoError) -> [UInt8] {
        let keyCount = key.count
        guard keyCount == keySize else { throw .wrongSize(expected: keySize, actual: keyCount) }
        guard let cipher = unsafe EVP_CIPHER_fetch(nil, "AES-256-CBC", nil) else {
            throw .operationFailed("fetch AES-256")
        }
        defer { unsafe EVP_CIPHER_free(cipher) }
        guard let context = unsafe EVP_CIPHER_CTX_new() else { throw .operationFailed("start AES-256") }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        let count = secret.count
        var output = [UInt8](repeating: 0, count: (count / 16 + 1) * 16)
        let vector = iv.bytes
        var written: Int32 = 0
        var last: Int32 = 0
        let encrypted = unsafe key.withUnsafeMemory { keyBytes in
            unsafe secret.withUnsafeMemory { plain in
                unsafe output.withUnsafeMutableBufferPointer { buffer in
                    // Safe: the key has 32 bytes, the vector has 16, and the output has room for the padded secret.
                    guard let base = buffer.baseAddress else { return false }
                    return unsafe EVP_EncryptInit_ex2(context, cipher, keyBytes, vector, nil) == 1
                        && EVP_EncryptUpdate(context, base, &written, plain, Int32(count)) == 1
                        && EVP_EncryptFinal_ex(context, base + Int(written), &last) == 1
                }
            }
        }
        guard encrypted, Int(written) + Int(last) == output.count else { throw .operationFailed("run AES-256") }
        return output
    }
}
