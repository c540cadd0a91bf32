package import ByteCoding
import COpenSSL

/// A shared secret for HMAC-SHA-256 (RFC 2104), for HS256 tokens, the ledger, sessions and pseudonyms.
///
/// OpenSSL's own HMAC keeps a copy of the key in ordinary memory. Here the key is kept as the two states of SHA-256
/// that have read the inner and the outer block of the key. They and the state of each message are secret memory.
package final class HMACSHA256Key: Sendable {
    private let inner: SecretBytes
    private let outer: SecretBytes

    /// The size of a code in bytes.
    package static let codeSize = 32
    private static let blockSize = 64

    package init(_ secret: borrowing SecretBytes) throws(CryptoError) {
        let key = SecretBytes(count: Self.blockSize)
        try Self.fill(key, with: secret)
        inner = try Self.state(of: key, pad: 0x36)
        outer = try Self.state(of: key, pad: 0x5C)
    }

    package func code(for message: ArraySlice<UInt8>) throws(CryptoError) -> [UInt8] {
        try value(for: message).bytes
    }

    /// The code as a value without an array on the heap.
    package func value(for message: ArraySlice<UInt8>) throws(CryptoError) -> Bytes32 {
        let state = SecretBytes(count: latchkey_sha256_state_size)
        // Safe: each state has the size of one, and a code has 32 bytes.
        return try unsafe Bytes32 { (output) throws(CryptoError) in
            let done = unsafe state.withUnsafeMemory { state in
                unsafe inner.withUnsafeMemory { inner in
                    unsafe outer.withUnsafeMemory { outer in
                        unsafe message.withUnsafeBufferPointer { bytes in
                            unsafe latchkey_hmac_sha256(
                                state, inner, outer, bytes.baseAddress, bytes.count, output) == 1
                        }
                    }
                }
            }
            guard done else { throw .operationFailed("run HMAC") }
        }
    }

    /// Whether `code` belongs to `message`, compared in constant time.
    package func isValid(_ code: ArraySlice<UInt8>, for message: ArraySlice<UInt8>) -> Bool {
        guard code.count == Self.codeSize, let expected = try? self.code(for: message) else { return false }
        return ConstantTime.areEqual(expected[...], code)
    }

    /// Writes the key of one block: the secret, or its digest if it is longer than a block.
    private static func fill(
        _ key: borrowing SecretBytes, with secret: borrowing SecretBytes
    ) throws(CryptoError) {
        let state = SecretBytes(count: latchkey_sha256_state_size)
        let done = unsafe key.withUnsafeMemory { key in
            unsafe secret.withUnsafeMemory { bytes in
                unsafe state.withUnsafeMemory { state in
                    // Safe: the key has room for a block, and the state has the size of one.
                    unsafe latchkey_hmac_key(key, state, bytes, secret.count) == 1
                }
            }
        }
        guard done else { throw .operationFailed("prepare HMAC") }
    }

    /// The state of SHA-256 after the key, each byte of which is changed by `pad`.
    private static func state(of key: borrowing SecretBytes, pad: UInt8) throws(CryptoError) -> SecretBytes {
        let state = SecretBytes(count: latchkey_sha256_state_size)
        let block = SecretBytes(count: blockSize)
        let done = unsafe state.withUnsafeMemory { state in
            unsafe block.withUnsafeMemory { block in
                unsafe key.withUnsafeMemory { key in
                    // Safe: key and block have the size of a block.
                    for index in 0..<blockSize { unsafe block[index] = key[index] ^ pad }
                    return unsafe latchkey_sha256_begin(state, block, blockSize) == 1
                }
            }
        }
        guard done else { throw .operationFailed("prepare HMAC") }
        return state
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
