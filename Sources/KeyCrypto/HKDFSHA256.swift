import COpenSSL

/// HKDF with SHA-256 (RFC 5869), without a salt.
package enum HKDFSHA256 {
    /// Derives `count` bytes from a secret, at least 1 and at most 255 * 32. `info` names the purpose of the bytes.
    package static func derive(
        from secret: borrowing SecretBytes, info: [UInt8], count: Int
    ) throws(CryptoError) -> SecretBytes {
        let output = SecretBytes(count: count)
        let derived = unsafe secret.withUnsafeMemory { input in
            unsafe output.withUnsafeMemory { bytes in
                // Safe: each pointer is passed with the size of its memory.
                unsafe latchkey_hkdf_sha256(input, secret.count, info, info.count, bytes, count) == 1
            }
        }
        guard derived else {
            ERR_clear_error()
            throw .operationFailed("derive a key")
        }
        return output
    }
}
