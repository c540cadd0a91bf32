import COpenSSL

/// SHA-256 (FIPS 180-4) over bytes that come in parts, such as those of a large file.
///
/// One thread uses it, once: bytes in, then the digest.
@safe
package final class SHA256Digest {
    private let context: OpaquePointer

    /// The size of a digest in bytes.
    package static let size = 32

    /// Throws `operationFailed` if OpenSSL has no memory.
    package init() throws(CryptoError) {
        guard let context = unsafe EVP_MD_CTX_new() else { throw .operationFailed("begin a digest") }
        unsafe self.context = context
        guard unsafe EVP_DigestInit_ex2(context, EVP_sha256(), nil) == 1 else {
            throw .operationFailed("begin a digest")
        }
    }

    deinit {
        unsafe EVP_MD_CTX_free(context)
    }

    package func update(_ bytes: ArraySlice<UInt8>) throws(CryptoError) {
        let isTaken = unsafe bytes.withUnsafeBytes { buffer in
            unsafe EVP_DigestUpdate(context, buffer.baseAddress, buffer.count) == 1
        }
        guard isTaken else { throw .operationFailed("digest") }
    }

    /// The digest of all bytes.
    package func finish() throws(CryptoError) -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Self.size)
        // OpenSSL writes the 32 bytes of this algorithm.
        guard unsafe EVP_DigestFinal_ex(context, &digest, nil) == 1 else { throw .operationFailed("digest") }
        return digest
    }

    /// The digest of bytes that are in memory.
    package static func of(_ bytes: [UInt8]) throws(CryptoError) -> [UInt8] {
        let digest = try SHA256Digest()
        try digest.update(bytes[...])
        return try digest.finish()
    }
}
