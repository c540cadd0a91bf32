import COpenSSL

/// A key that seals secrets with AES-256-GCM (NIST SP 800-38D): a key-encryption key or a token-sealing key.
///
/// A sealed secret is `nonce (12) ‖ ciphertext ‖ tag (16)`. Each sealing has a new random nonce.
package final class AES256GCMKey: Sendable {
    package static let keySize = 32
    private static let nonceSize = 12
    private static let tagSize = 16

    private let key: SecretBytes
    private let cipher: GCMCipher

    /// Throws `wrongSize` unless the key has 32 bytes.
    package init(_ key: consuming SecretBytes) throws(CryptoError) {
        let count = key.count
        guard count == Self.keySize else { throw .wrongSize(expected: Self.keySize, actual: count) }
        self.key = key
        self.cipher = try GCMCipher()
    }

    /// Seals a secret. The tag covers `associatedData`, which the result does not contain.
    package func seal(_ secret: borrowing SecretBytes, associatedData: [UInt8]) throws(CryptoError) -> [UInt8] {
        let nonce = try RandomBytes.generate(count: Self.nonceSize)
        return nonce + (try encrypt(secret, nonce: nonce, associatedData: associatedData))
    }

    /// Seals a secret as a message: `header ‖ nonce (12) ‖ ciphertext ‖ tag (16)`. The header and the nonce are the
    /// associated data.
    package func sealMessage(
        _ secret: borrowing SecretBytes, header: [UInt8]
    ) throws(CryptoError) -> [UInt8] {
        let beginning = header + (try RandomBytes.generate(count: Self.nonceSize))
        let nonce = Array(beginning.suffix(Self.nonceSize))
        return beginning + (try encrypt(secret, nonce: nonce, associatedData: beginning))
    }

    /// Opens a message that `sealMessage` made with a header of this size. Throws `authenticationFailed`.
    package func openMessage(_ message: [UInt8], headerSize: Int) throws(CryptoError) -> SecretBytes {
        guard message.count > headerSize + Self.nonceSize + Self.tagSize else { throw .authenticationFailed }
        return try open(
            Array(message.dropFirst(headerSize)), associatedData: Array(message.prefix(headerSize + Self.nonceSize)))
    }

    /// Returns `ciphertext ‖ tag (16)`.
    private func encrypt(
        _ secret: borrowing SecretBytes, nonce: [UInt8], associatedData: [UInt8]
    ) throws(CryptoError) -> [UInt8] {
        var body = [UInt8](repeating: 0, count: secret.count + Self.tagSize)
        guard let context = unsafe EVP_CIPHER_CTX_new() else { throw .operationFailed("seal") }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        var written: Int32 = 0
        let sealed = unsafe key.withUnsafeMemory { keyBytes in
            unsafe secret.withUnsafeMemory { plain in
                unsafe body.withUnsafeMutableBufferPointer { output in
                    // Safe: the output has room for the secret and the tag after it.
                    guard let base = output.baseAddress else { return false }
                    return unsafe EVP_EncryptInit_ex2(context, cipher.pointer, keyBytes, nonce, nil) == 1
                        && EVP_EncryptUpdate(context, nil, &written, associatedData, Int32(associatedData.count)) == 1
                        && EVP_EncryptUpdate(context, base, &written, plain, Int32(secret.count)) == 1
                        && EVP_EncryptFinal_ex(context, base + secret.count, &written) == 1
                        && EVP_CIPHER_CTX_ctrl(
                            context, EVP_CTRL_AEAD_GET_TAG, Int32(Self.tagSize), base + secret.count) == 1
                }
            }
        }
        guard sealed else { throw .operationFailed("seal") }
        return body
    }

    /// Opens a secret that `seal` made. Throws `authenticationFailed` for another key, other associated data, or
    /// changed bytes.
    package func open(_ sealed: [UInt8], associatedData: [UInt8]) throws(CryptoError) -> SecretBytes {
        let count = sealed.count - Self.nonceSize - Self.tagSize
        guard count > 0 else { throw .authenticationFailed }
        guard let context = unsafe EVP_CIPHER_CTX_new() else { throw .operationFailed("open") }
        defer { unsafe EVP_CIPHER_CTX_free(context) }
        let secret = SecretBytes(count: count)
        var tag = Array(sealed.suffix(Self.tagSize))
        var written: Int32 = 0
        let opened = unsafe key.withUnsafeMemory { keyBytes in
            unsafe secret.withUnsafeMemory { plain in
                unsafe sealed.withUnsafeBufferPointer { input in
                    // Safe: there are `count` bytes between the nonce and the tag, as the guard has checked.
                    guard let base = input.baseAddress else { return false }
                    return unsafe EVP_DecryptInit_ex2(context, cipher.pointer, keyBytes, base, nil) == 1
                        && EVP_DecryptUpdate(context, nil, &written, associatedData, Int32(associatedData.count)) == 1
                        && EVP_DecryptUpdate(context, plain, &written, base + Self.nonceSize, Int32(count)) == 1
                        && EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, Int32(Self.tagSize), &tag) == 1
                        && EVP_DecryptFinal_ex(context, plain + count, &written) == 1
                }
            }
        }
        guard opened else {
            ERR_clear_error()
            throw .authenticationFailed
        }
        return secret
    }
}

/// The owner of the fetched cipher.
@safe
private final class GCMCipher: @unchecked Sendable {
    // Safe to share: a fetched cipher is immutable, and its references are counted atomically.
    let pointer: OpaquePointer

    init() throws(CryptoError) {
        guard let pointer = unsafe EVP_CIPHER_fetch(nil, "AES-256-GCM", nil) else {
            throw .operationFailed("fetch AES")
        }
        unsafe self.pointer = pointer
    }

    deinit {
        unsafe EVP_CIPHER_free(pointer)
    }
}
