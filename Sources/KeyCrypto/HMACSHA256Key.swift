package import ByteCoding
import COpenSSL
import Synchronization

/// A shared secret for HMAC-SHA-256 (RFC 2104), for HS256 tokens and pseudonyms.
@safe
package final class HMACSHA256Key: @unchecked Sendable {
    /// A copy of the prepared context, for one message at a time.
    // Safe to send: a call takes it out of the spare ones, and then has it alone.
    @safe
    private final class Run: @unchecked Sendable {
        let context: OpaquePointer

        init?(like prepared: OpaquePointer) {
            guard let copy = unsafe EVP_MAC_CTX_dup(prepared) else { return nil }
            unsafe context = copy
        }

        deinit {
            unsafe EVP_MAC_CTX_free(context)
        }
    }

    // Safe to share: the prepared context is only duplicated, never used itself.
    private let prepared: OpaquePointer
    /// Making a copy takes longer than the code of a short message, so copies are kept and used again.
    private let spares = Mutex<[Run]>([])
    private static let spareMaximum = 8

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
        try value(for: message).bytes
    }

    /// The code as a value without an array on the heap.
    package func value(for message: ArraySlice<UInt8>) throws(CryptoError) -> Bytes32 {
        guard let run = unsafe spares.withLock({ $0.popLast() }) ?? Run(like: prepared) else {
            throw .operationFailed("run HMAC")
        }
        defer { spares.withLock { if $0.count < Self.spareMaximum { $0.append(run) } } }
        // Safe: a code has 32 bytes, and OpenSSL is told so.
        return try unsafe Bytes32 { (output) throws(CryptoError) in
            var size = 0
            let done = unsafe message.withUnsafeBufferPointer { bytes in
                // Without a key, the context begins again with the key that it has (EVP_MAC(3)).
                unsafe EVP_MAC_init(run.context, nil, 0, nil) == 1
                    && EVP_MAC_update(run.context, bytes.baseAddress, bytes.count) == 1
                    && EVP_MAC_final(run.context, output, &size, Self.codeSize) == 1
            }
            guard done, size == Self.codeSize else { throw .operationFailed("run HMAC") }
        }
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
