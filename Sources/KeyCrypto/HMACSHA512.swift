import COpenSSL

/// HMAC with SHA-512 (RFC 2104), which CPIX uses for encrypted keys (packagers, section 1.5).
package enum HMACSHA512 {
    /// The size of a code in bytes.
    package static let codeSize = 64

    package static func code(for message: [UInt8], key: borrowing SecretBytes) throws(CryptoError) -> [UInt8] {
        var output = [UInt8](repeating: 0, count: codeSize)
        var size = 0
        let count = key.count
        let done = unsafe key.withUnsafeMemory { bytes in
            // Safe: OpenSSL reads the key and the message during the call, and the output has room for a code.
            unsafe EVP_Q_mac(
                nil, "HMAC", nil, "SHA512", nil, bytes, count, message, message.count, &output, codeSize, &size) != nil
        }
        guard done, size == codeSize else { throw .operationFailed("run HMAC") }
        return output
    }
}
