package import ByteCoding
import COpenSSL

/// Key material with one owner. It is wiped in `deinit`, and never printed.
///
/// The bytes are in OpenSSL's secure heap, which is locked in memory, left out of core files, and between guard pages.
/// If that heap is full, they are in the ordinary heap, and are wiped too. Small secrets share the pages of
/// `SecretSlots`.
@safe
package struct SecretBytes: ~Copyable, @unchecked Sendable {
    // Safe to send: the memory belongs only to this value, and `~Copyable` means one owner at a time.
    private let storage: UnsafeMutableRawBufferPointer

    /// Makes a secret of `count` zero bytes, at least one.
    package init(count: Int) {
        precondition(count > 0, "a secret has at least one byte")
        // Safe: the memory has `count` zero bytes, and `deinit` frees it.
        unsafe storage = SecretMemory.allocate(count)
    }

    /// Copies bytes from a file or a message. The caller must wipe its own copy if it is secret.
    package init(copying bytes: RawSpan) {
        self.init(count: bytes.byteCount)
        // Safe: `storage` has exactly `byteCount` bytes.
        unsafe bytes.withUnsafeBytes { source in unsafe storage.copyMemory(from: source) }
    }

    /// Copies an array from a file or a message. The array itself is not wiped.
    package init(copying bytes: [UInt8]) {
        unsafe self.init(copying: bytes.span.bytes)
    }

    /// Makes a secret that is followed by 16 bytes, which need not be secret. It makes no copy that is not wiped.
    package init(joining secret: borrowing SecretBytes, _ block: Bytes16) {
        let size = secret.count
        self.init(count: size + 16)
        secret.withBytes { bytes in
            // Safe: `storage` has room for both parts.
            unsafe bytes.withUnsafeBytes { source in unsafe storage.copyMemory(from: source) }
        }
        unsafe storage.storeBytes(of: block.high.bigEndian, toByteOffset: size, as: UInt64.self)
        unsafe storage.storeBytes(of: block.low.bigEndian, toByteOffset: size + 8, as: UInt64.self)
    }

    /// Makes a random secret of `count` bytes with OpenSSL's generator, which the system seeds.
    ///
    /// Throws `randomnessUnavailable` if the generator fails.
    package static func random(count: Int) throws(CryptoError) -> SecretBytes {
        let secret = SecretBytes(count: count)
        try secret.fillWithRandomBytes()
        return secret
    }

    /// Replaces all bytes by random bytes. Throws `randomnessUnavailable`.
    borrowing func fillWithRandomBytes() throws(CryptoError) {
        // Safe: the buffer has `count` bytes and exists as long as `self`.
        guard unsafe RAND_priv_bytes(storage.baseAddress, Int32(count)) == 1 else { throw .randomnessUnavailable }
    }

    /// Moves a part to a new secret, and replaces it by zeros here.
    borrowing func take(_ range: Range<Int>) -> SecretBytes {
        let part = copy(range)
        unsafe withUnsafeMemory { memory in
            // Safe: `copy` has checked the range.
            unsafe OPENSSL_cleanse(memory + range.lowerBound, range.count)
        }
        return part
    }

    /// Replaces all bytes by zeros.
    borrowing func wipe() {
        // Safe: the buffer has `count` bytes and exists as long as `self`.
        unsafe OPENSSL_cleanse(storage.baseAddress, count)
    }

    package var count: Int { unsafe storage.count }

    /// Lends the bytes for reading.
    package borrowing func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // Safe: the span ends with the call, before `storage` can be freed.
        try unsafe body(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(storage)))
    }

    /// Returns a copy with its own owner.
    package borrowing func copy() -> SecretBytes {
        copy(0..<count)
    }

    /// Returns a copy of a part. `range` must be within the secret.
    package borrowing func copy(_ range: Range<Int>) -> SecretBytes {
        withBytes { bytes in SecretBytes(copying: bytes.extracting(range)) }
    }

    /// Returns the bytes as an array that is not wiped, for data that leaves the process on purpose, and for tests.
    package borrowing func revealed() -> [UInt8] {
        withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) } }
    }

    /// Returns the 16 bytes from `offset` on, as a value that is not wiped.
    package borrowing func revealedBytes16(at offset: Int = 0) -> Bytes16 {
        // Safe: both loads are within `part`, and `extracting` checks the bounds.
        withBytes { bytes in
            let part = bytes.extracting(offset..<offset + 16)
            return unsafe Bytes16(
                high: UInt64(bigEndian: part.unsafeLoadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: part.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }

    /// Whether both have the same bytes. The time of the comparison depends only on the size.
    package borrowing func isEqual(to other: borrowing SecretBytes) -> Bool {
        // Safe: both buffers have `count` bytes.
        unsafe count == other.count && CRYPTO_memcmp(storage.baseAddress, other.storage.baseAddress, count) == 0
    }

    /// Lends the memory to this module's calls into OpenSSL.
    borrowing func withUnsafeMemory<Result, Failure: Error>(
        _ body: (UnsafeMutablePointer<UInt8>) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        guard let base = unsafe storage.bindMemory(to: UInt8.self).baseAddress else {
            preconditionFailure("a secret has at least one byte")
        }
        return try unsafe body(base)
    }

    deinit {
        unsafe SecretMemory.free(storage)
    }
}

/// A secret with several owners, such as a key that the whole process uses.
package final class SharedSecret: Sendable {
    package let bytes: SecretBytes

    package init(_ bytes: consuming SecretBytes) {
        self.bytes = bytes
    }
}
