import ByteCoding
import KeyCrypto

/// Reads the body of a message: a `ByteReader` whose errors are those of messages.
struct LadderFrameReader {
    private var reader: ByteReader

    init(_ bytes: [UInt8], in body: Range<Int>) {
        reader = ByteReader(bytes, in: body)
    }

    mutating func word(_ field: StaticString) throws(LadderFrameError) -> UInt32 {
        try wrap(LadderFrameError.malformed, try reader.readUInt32(field))
    }

    mutating func longWord(_ field: StaticString) throws(LadderFrameError) -> UInt64 {
        try wrap(LadderFrameError.malformed, try reader.readUInt64(field))
    }

    mutating func bytes16(_ field: StaticString) throws(LadderFrameError) -> Bytes16 {
        try wrap(LadderFrameError.malformed, try reader.readBytes16(field))
    }

    /// A word that is the size or the count of something, and must lie in `sizes`.
    mutating func size(_ field: StaticString, in sizes: ClosedRange<Int>) throws(LadderFrameError) -> Int {
        let size = try word(field)
        guard size <= UInt32(Int32.max), sizes.contains(Int(size)) else { throw .illegalValue("\(field)") }
        return Int(size)
    }

    mutating func bytes(count: Int, _ field: StaticString) throws(LadderFrameError) -> [UInt8] {
        let range = try wrap(LadderFrameError.malformed, try reader.readRange(count: count, field))
        return Array(reader.bytes[range])
    }

    mutating func secret(count: Int, _ field: StaticString) throws(LadderFrameError) -> SharedSecret {
        let range = try wrap(LadderFrameError.malformed, try reader.readRange(count: count, field))
        // Safe: the span ends before the bytes that it borrows.
        return unsafe SharedSecret(SecretBytes(copying: reader.bytes.span.bytes.extracting(range)))
    }

    /// What is left.
    var remaining: Int { reader.remaining }

    func finish() throws(LadderFrameError) {
        try wrap(LadderFrameError.malformed, try reader.finish())
    }
}
