/// Sixteen bytes as two big-endian words: an AES block, an initialization vector or a seed. Not for secrets.
public struct Bytes16: Hashable, Sendable {
    public var high: UInt64
    public var low: UInt64

    @inlinable
    public init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Nil unless there are exactly 16 bytes.
    @inlinable
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == 16 else { return nil }
        self.init(bytes, at: 0)
    }

    /// The 16 bytes from `offset`; the process ends if there are fewer.
    @inlinable
    public init(_ bytes: [UInt8], at offset: Int) {
        let part = unsafe bytes.span.bytes.extracting(offset..<offset + 16)
        // Safe: `extracting` has checked that there are 16 bytes.
        self.init(
            high: UInt64(bigEndian: unsafe part.unsafeLoadUnaligned(as: UInt64.self)),
            low: UInt64(bigEndian: unsafe part.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt64.self)))
    }

    @inlinable
    public var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 16)
        writer.write(self)
        return writer.bytes
    }

    public static let zero = Bytes16(high: 0, low: 0)
}
