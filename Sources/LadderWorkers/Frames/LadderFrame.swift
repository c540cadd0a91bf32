package import ByteCoding
import FairPlay
import KeyCrypto

/// The kinds of messages between the daemon and a worker process.
enum LadderFrameKind: UInt8, CaseIterable, Sendable {
    /// The daemon sends it first, and only once: the confinement and the module of the worker.
    case start = 1
    /// The worker reports that the module is open.
    case ready = 2
    /// The worker reports why the module cannot be opened, and then ends.
    case startFailure = 3
    /// The daemon sends one call.
    case call = 4
    /// The worker sends the answer to a call.
    case answer = 5
    /// The worker reports why a call has no answer.
    case callFailure = 6
    /// The daemon sends it in place of `start` to the worker of a library.
    case libraryStart = 7
    /// The daemon sends one order to a library.
    case order = 8
    /// The worker sends the answer to an order.
    case written = 9

    /// Whether the message belongs to a call, and has its number.
    var isOfCall: Bool {
        switch self {
        case .start, .libraryStart, .ready, .startFailure: false
        case .call, .order, .answer, .written, .callFailure: true
        }
    }

    /// The allowed sizes of the body in bytes.
    var bodySizes: ClosedRange<Int> {
        switch self {
        case .start: LadderStart.encodedSizes
        case .ready: 0...0
        case .startFailure: LadderModuleFault.encodedSizes
        case .call: LadderCall.encodedSizes
        case .answer: LadderAnswer.encodedSizes
        case .callFailure: LadderCallFailure.encodedSizes
        case .libraryStart: LibraryStart.encodedSizes
        case .order: LibraryOrder.encodedSizes
        case .written: LibraryAnswer.encodedSizes
        }
    }
}

/// The head of a message. Integers are big-endian.
///
///     offset  size  field
///          0     1  version of the framing, 1
///          1     1  kind
///          2     2  0
///          4     4  size n of the body
///          8     8  number of the call; 0 if the message belongs to no call
///         16     n  body
///
/// The daemon does not trust the messages of a worker, because a module may have overwritten them.
struct LadderFrameHead: Equatable, Sendable {
    static let version: UInt8 = 1
    static let size = 16

    let kind: LadderFrameKind
    let number: UInt64
    let bodySize: Int

    init(_ kind: LadderFrameKind, number: UInt64, bodySize: Int) {
        self.kind = kind
        self.number = number
        self.bodySize = bodySize
    }

    /// Reads the 16 bytes from `offset` on, which must exist. Throws if the kind is not one of `kinds`, or if the size
    /// of the body is not allowed.
    init(
        parsing bytes: [UInt8], at offset: Int, accepting kinds: [LadderFrameKind]
    ) throws(LadderFrameError) {
        var reader = LadderFrameReader(bytes, in: offset..<offset + Self.size)
        let word = try reader.word("version, kind")
        let size = try reader.word("body size")
        number = try reader.longWord("call number")
        try reader.finish()
        guard word >> 24 == Self.version, word & 0xFFFF == 0 else { throw .unsupportedVersion(word) }
        let kindNumber = UInt8(truncatingIfNeeded: word >> 16)
        guard let kind = LadderFrameKind(rawValue: kindNumber), kinds.contains(kind) else {
            throw .unexpectedKind(kindNumber)
        }
        guard size <= UInt32(kind.bodySizes.upperBound), kind.bodySizes.contains(Int(size)) else {
            throw .wrongBodySize(kind.rawValue, size)
        }
        guard kind.isOfCall || number == 0 else { throw .illegalValue("call number") }
        self.kind = kind
        bodySize = Int(size)
    }

    /// Returns a whole message without a body.
    func message() -> LadderMessage {
        var writer = ByteWriter(capacity: Self.size)
        write(to: &writer)
        return LadderMessage(writer.bytes)
    }

    func write(to writer: inout ByteWriter) {
        writer.write(UInt32(Self.version) << 24 | UInt32(kind.rawValue) << 16)
        writer.write(UInt32(bodySize))
        writer.write(number)
    }
}

/// Why bytes are not a message, or not an expected one.
package enum LadderFrameError: Error, Equatable, Sendable {
    case unsupportedVersion(UInt32)
    case unexpectedKind(UInt8)
    case wrongBodySize(UInt8, UInt32)
    case malformed(ByteReaderError)
    /// A field has a value that it must not have.
    case illegalValue(String)
    /// The message answers a call that is not the first one at the worker.
    case unexpectedNumber
    /// The worker process closed its stream, but did not end.
    case streamClosed
    /// A value does not fit into a message. The fault is in this process.
    case notExpressible(String)
}

/// Reads the body of a message. It is a `ByteReader` that throws `LadderFrameError`.
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

    /// Reads a size or a count, which must be in `sizes`.
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
        // Safe: the span ends before the borrowed bytes.
        return unsafe SharedSecret(SecretBytes(copying: reader.bytes.span.bytes.extracting(range)))
    }

    /// The number of bytes that are not read yet.
    var remaining: Int { reader.remaining }

    func finish() throws(LadderFrameError) {
        try wrap(LadderFrameError.malformed, try reader.finish())
    }
}
