import COpenSSL

/// A shared secret for HMAC-SHA-256 (RFC 2104), for HS256 tokens and pseudonyms.
@safe
package final class HMACSHA256Key: @unchecked Sendable {
    // Safe to share: the prepared context is only duplicated, never used itself.
    private let prepared: OpaquePointer

    /// The size of a code in bytes.
    package static let codeSize = 32

    package init(_ secret: borrowing SecretBytes) throws(CryptoError) {
        guard let algorithm = unsafe EVP_MAC_fetch(nil, "HMAC", nil) else { throw .operationFailed("fetch HMAC") }
        defer { unsafe EVP_MAC_free(algorithm) }
        guard let context = unsafe EVP_MAC_CTX_new(algorithm) else { throw .operationFailed("fetch HMAC") }
        unsafe prepared = context
        guard unsafe Self.initialize(context, secret) else { throw .operationFailed("prepare HMAC") }
    }

    deinit {
        unsafe EVP_MAC_CTX_free(prepared)
    }

    package func code(for message: ArraySlice<UInt8>) throws(CryptoError) -> [UInt8] {
        guard let context = unsafe EVP_MAC_CTX_dup(prepared) else { throw .operationFailed("run HMAC") }
        defer { unsafe EVP_MAC_CTX_free(context) }
        var output = [UInt8](repeating: 0, count: Self.codeSize)
        var size = 0
        let done = unsafe message.withUnsafeBufferPointer { bytes in
            unsafe EVP_MAC_update(context, bytes.baseAddress, bytes.count) == 1
                && EVP_MAC_final(context, &output, &size, Self.codeSize) == 1
        }
        guard done, size == Self.codeSize else { throw .operationFailed("run HMAC") }
        return output
    }

    /// Whether `code` belongs to `message`, compared in constant time.
    package func isValid(_ code: ArraySlice<UInt8>, for message: ArraySlice<UInt8>) -> Bool {
        guard code.count == Self.codeSize, let expected = try? self.code(for: message) else { return false }
        return ConstantTime.areEqual(expected[...], code)
    }

    private static func initialize(_ context: OpaquePointer, _ secret: borrowing SecretBytes) -> Bool {
        // Safe: OpenSSL copies the key during the call.
        unsafe secret.withUnsafeMemory { bytes in
            unsafe latchkey_hmac_sha256_init(context, bytes, secret.count) == 1
        }
    }
}

/// Comparisons whose time depends only on the sizes.
package enum ConstantTime {
    package static func areEqual(_ one: ArraySlice<UInt8>, _ other: ArraySlice<UInt8>) -> Bool {
        guard one.count == other.count else { return false }
        return unsafe one.withUnsafeBytes { first in
            // Safe: both have the same size.
            unsafe other.withUnsafeBytes { second in
                unsafe CRYPTO_memcmp(first.baseAddress, second.baseAddress, first.count) == 0
            }
        }
    }
}
