/// Why bytes from outside could not be read.
public enum ByteReaderError: Error, Equatable, Sendable {
    /// The named field wants more bytes than remain.
    case truncated(field: String, needed: Int, available: Int)
    /// Bytes remain after the last field.
    case trailingBytes(count: Int)
}

extension ByteReaderError: CustomStringConvertible {
    /// Words for the log.
    public var description: String {
        switch self {
        case .truncated(let field, let needed, let available):
            "it ends too early: \(field) needs \(needed) bytes, and there are \(available)"
        case .trailingBytes(let count): "\(count) bytes follow its end"
        }
    }
}

/// A cursor over bytes from outside; each read is compared with what remains before anything else happens.
///
/// Integers are big-endian. Reads name their field, so that an error says which one was missing. End with `finish()`,
/// which refuses trailing bytes. The reader copies nothing but what it returns; variable-size fields come as ranges
/// into `bytes`.
public struct ByteReader: Sendable {
    public let bytes: [UInt8]
    @usableFromInline let end: Int
    @usableFromInline var cursor: Int

    /// Where the next read begins, counted in `bytes`.
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
        // `advance` has shown that 4 bytes are there.
        return UInt32(bigEndian: unsafe bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt32.self))
    }

    @inlinable
    public mutating func readUInt64(_ field: StaticString) throws(ByteReaderError) -> UInt64 {
        let start = try advance(by: 8, field)
        // `advance` has shown that 8 bytes are there.
        return UInt64(bigEndian: unsafe bytes.span.bytes.unsafeLoadUnaligned(fromByteOffset: start, as: UInt64.self))
    }

    @inlinable
    public mutating func readBytes16(_ field: StaticString) throws(ByteReaderError) -> Bytes16 {
        let high = try readUInt64(field)
        let low = try readUInt64(field)
        return Bytes16(high: high, low: low)
    }

    /// The next `count` bytes as a range into `bytes`. A negative count is a caller's bug.
    @inlinable
    public mutating func readRange(count: Int, _ field: StaticString) throws(ByteReaderError) -> Range<Int> {
        let start = try advance(by: count, field)
        return start..<start + count
    }

    /// Refuses bytes after the last field.
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
