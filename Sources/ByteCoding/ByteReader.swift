/// Why bytes from outside could not be read.
public enum ByteReaderError: Error, Equatable, Sendable {
    /// The named field needs more bytes than remain.
    case truncated(field: String, needed: Int, available: Int)
    /// Bytes remain after the last field.
    case trailingBytes(count: Int)
}

/// A cursor over bytes from outside. Each read first checks that enough bytes remain.
///
/// Integers are big-endian. Each read names its field, so that an error says which field was cut off. Call `finish()`
/// at the end: it refuses trailing bytes. The reader copies only what it returns; fields of variable size are returned
/// as ranges into `bytes`.
public struct ByteReader: Sendable {
    public let bytes: [UInt8]
    @usableFromInline let end: Int
    @usableFromInline var cursor: Int

    /// The index in `bytes` at which the next read begins.
    @inlinable
    public var offset: Int { cursor }

    @inlinable
    public init(_ bytes: [UInt8]) {
        self.init(bytes, in: 0..<bytes.count)
    }

    /// A reader over a part of `bytes`; `range` must lie within it.
    @inlinable
    public init(_ bytes: [UInt8], in range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count, "a reader's range lies within its bytes")
        self.bytes = bytes
        self.end = range.upperBound
        self.cursor = range.lowerBound
    }

    @inlinable
    public var remaining: Int { end - cursor }

    @inlinable
    public mutating func readUInt32(_ field: StaticString) throws(ByteReaderError) -> UInt32 {
        let start = try advance(by: 4, field)
        // Safe: `advance` has checked that 4 bytes remain.
        return UInt32(bigEndian: unsafe bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt32.self))
    }

    @inlinable
    public mutating func readUInt64(_ field: StaticString) throws(ByteReaderError) -> UInt64 {
        let start = try advance(by: 8, field)
        // Safe: `advance` has checked that 8 bytes remain.
        return UInt64(bigEndian: unsafe bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self))
    }

    @inlinable
    public mutating func readBytes16(_ field: StaticString) throws(ByteReaderError) -> Bytes16 {
        let high = try readUInt64(field)
        let low = try readUInt64(field)
        return Bytes16(high: high, low: low)
    }

    /// The next `count` bytes as a range into `bytes`. A negative count is a bug in the caller and ends the process.
    @inlinable
    public mutating func readRange(count: Int, _ field: StaticString) throws(ByteReaderError) -> Range<Int> {
        let start = try advance(by: count, field)
        return start..<start + count
    }

    /// Throws `trailingBytes` if bytes remain after the last field.
    @inlinable
    public func finish() throws(ByteReaderError) {
        guard cursor == end else { throw .trailingBytes(count: end - cursor) }
    }

    @inlinable
    mutating func advance(by count: Int, _ field: StaticString) throws(ByteReaderError) -> Int {
        precondition(count >= 0, "a count is never negative")
        guard end - cursor >= count else {
            throw .truncated(field: field.description, needed: count, available: end - cursor)
        }
        let start = cursor
        cursor += count
        return start
    }
}
