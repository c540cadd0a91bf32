package import ByteCoding
import COpenSSL

/// Random bytes that need not be secret: initialization vectors, nonces, padding, identifiers.
package enum RandomBytes {
    /// Returns `count` bytes from OpenSSL's generator, which the system seeds. Throws `randomnessUnavailable` if the
    /// generator fails.
    package static func generate(count: Int) throws(CryptoError) -> [UInt8] {
        var isFilled = count == 0
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
            // Safe: the buffer has room for `count` bytes. If the generator fails, no byte counts as written.
            unsafe isFilled = isFilled || RAND_bytes(buffer.baseAddress, Int32(count)) == 1
            initializedCount = isFilled ? count : 0
        }
        guard isFilled else { throw .randomnessUnavailable }
        return bytes
    }

    package static func generate16() throws(CryptoError) -> Bytes16 {
        Bytes16(try generate(count: 16), at: 0)
    }

    package static func generateUInt64() throws(CryptoError) -> UInt64 {
        Bytes16(try generate(count: 16), at: 0).low
    }
}
