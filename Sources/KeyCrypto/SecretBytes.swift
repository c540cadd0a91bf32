package import ByteCoding
import COpenSSL

/// Key material: one owner, wiped when it ends, never printed.
///
/// The bytes sit in OpenSSL's secure heap: locked in memory, left out of core files, between guard pages. When that
/// heap is full they come from the ordinary heap, and are wiped all the same. Small secrets share pages of
/// `SecretSlots`.
@safe
package struct SecretBytes: ~Copyable, @unchecked Sendable {
    // Safe to send: the memory belongs to this value alone, and `~Copyable` means one owner at a time.
    private let storage: UnsafeMutableRawBufferPointer

    /// `count` zero bytes; at least one.
    package init(count: Int) {
        precondition(count > 0, "a secret has at least one byte")
        // Zeroed memory of `count` bytes, which the one owner gives back in `deinit`.
        unsafe storage = SecretMemory.allocate(count)
    }

    /// A copy of bytes that came from a file or a message; the caller wipes or drops its own copy.
    package init(copying bytes: RawSpan) {
        self.init(count: bytes.byteCount)
        // `storage` has exactly `byteCount` bytes.
        unsafe bytes.withUnsafeBytes { source in unsafe storage.copyMemory(from: source) }
    }

    /// A copy of an array that came from a file or a message. The array itself is not wiped.
    package init(copying bytes: [UInt8]) {
        unsafe self.init(copying: bytes.span.bytes)
    }

    /// A secret followed by 16 bytes that need not be secret, without a copy that is not wiped.
    package init(joining secret: borrowing SecretBytes, _ block: Bytes16) {
        let size = secret.count
        self.init(count: size + 16)
        secret.withBytes { bytes in
            // `storage` has room for both parts.
            unsafe bytes.withUnsafeBytes { source in unsafe storage.copyMemory(from: source) }
        }
        unsafe storage.storeBytes(of: block.high.bigEndian, toByteOffset: size, as: UInt64.self)
        unsafe storage.storeBytes(of: block.low.bigEndian, toByteOffset: size + 8, as: UInt64.self)
    }

    /// `count` bytes from the system's random generator, by way of OpenSSL.
    ///
    /// Throws `randomnessUnavailable` when it has none.
    package static func random(count: Int) throws(CryptoError) -> SecretBytes {
        let secret = SecretBytes(count: count)
        try secret.fillWithRandomBytes()
        return secret
    }

    /// Replaces all bytes. Throws `randomnessUnavailable`.
    borrowing func fillWithRandomBytes() throws(CryptoError) {
        // The buffer has `count` bytes and lives as long as `self`.
        guard unsafe RAND_priv_bytes(storage.baseAddress, Int32(count)) == 1 else { throw .randomnessUnavailable }
    }

    /// Moves a part into a secret of its own and leaves zeros behind.
    borrowing func take(_ range: Range<Int>) -> SecretBytes {
        let part = copy(range)
        unsafe withUnsafeMemory { memory in
            // `copy` has shown that the range lies within.
            unsafe OPENSSL_cleanse(memory + range.lowerBound, range.count)
        }
        return part
    }

    package var count: Int { unsafe storage.count }

    /// Lends the bytes for reading.
    package borrowing func withBytes<Result: ~Copyable, Failure: Error>(
        _ body: (RawSpan) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        // The span ends with the call, before `storage` can be freed.
        try unsafe body(RawSpan(_unsafeBytes: UnsafeRawBufferPointer(storage)))
    }

    /// A second owner of the same bytes.
    package borrowing func copy() -> SecretBytes {
        copy(0..<count)
    }

    /// An owner of a part; `range` must lie within.
    package borrowing func copy(_ range: Range<Int>) -> SecretBytes {
        withBytes { bytes in SecretBytes(copying: bytes.extracting(range)) }
    }

    /// The bytes as an array that is not wiped: for what leaves the process on purpose, and for tests.
    package borrowing func revealed() -> [UInt8] {
        withBytes { bytes in unsafe bytes.withUnsafeBytes { unsafe [UInt8]($0) } }
    }

    /// The 16 bytes from `offset`, as a value that is not wiped.
    package borrowing func revealedBytes16(at offset: Int = 0) -> Bytes16 {
        // Both loads lie within `storage`: `extracting` checks the bounds.
        withBytes { bytes in
            let part = bytes.extracting(offset..<offset + 16)
            return unsafe Bytes16(
                high: UInt64(bigEndian: part.unsafeLoadUnaligned(as: UInt64.self)),
                low: UInt64(bigEndian: part.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt64.self)))
        }
    }

    /// Whether both hold the same bytes, in a time that depends on the size alone.
    package borrowing func isEqual(to other: borrowing SecretBytes) -> Bool {
        // Both buffers have `count` bytes.
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

/// A secret that several owners hold, such as a key that a whole process uses.
package final class SharedSecret: Sendable {
    package let bytes: SecretBytes

    package init(_ bytes: consuming SecretBytes) {
        self.bytes = bytes
    }
}
