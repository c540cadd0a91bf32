/// Sixteen bytes as two big-endian words: an AES block, an initialization vector, a seed. Nothing secret.
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

    /// The 16 bytes from `offset`, which must all be there.
    @inlinable
    public init(_ bytes: [UInt8], at offset: Int) {
        let part = unsafe bytes.span.bytes.extracting(offset..<offset + 16)
        // `extracting` has shown that 16 bytes are there.
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
