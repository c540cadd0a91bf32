/// Thirty-two bytes as two halves: a digest or a message code, without an array on the heap. Not for secrets.
public struct Bytes32: Hashable, Sendable {
    /// The first 16 bytes.
    public let first: Bytes16
    public let second: Bytes16

    public init(_ first: Bytes16, _ second: Bytes16) {
        self.first = first
        self.second = second
    }

    /// Nil unless there are exactly 32 bytes.
    public init?(_ bytes: [UInt8]) {
        guard bytes.count == 32 else { return nil }
        self.init(Bytes16(bytes, at: 0), Bytes16(bytes, at: 16))
    }

    /// Makes the bytes that `body` writes to a buffer of 32 bytes. What it leaves out is zero.
    @unsafe
    public init<Failure: Error>(
        filledBy body: (UnsafeMutablePointer<UInt8>) throws(Failure) -> Void
    ) throws(Failure) {
        var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
        try unsafe withUnsafeMutableBytes(of: &words) { (memory) throws(Failure) in
            // The four words are 32 bytes, so there is an address.
            if let start = unsafe memory.bindMemory(to: UInt8.self).baseAddress { try unsafe body(start) }
        }
        self.init(
            Bytes16(high: UInt64(bigEndian: words.0), low: UInt64(bigEndian: words.1)),
            Bytes16(high: UInt64(bigEndian: words.2), low: UInt64(bigEndian: words.3)))
    }

    public var bytes: [UInt8] {
        var writer = ByteWriter(capacity: 32)
        writer.write(first)
        writer.write(second)
        return writer.bytes
    }
}
