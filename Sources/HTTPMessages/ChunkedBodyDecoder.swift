/// Decodes a chunked body (RFC 9112 section 7.1), as its bytes arrive.
///
/// The decoder is strict. A size has 1 to 16 hexadecimal digits without spaces around them, and lines end with CRLF
/// only. Extensions must be well-formed, without white space. Extensions and the trailer section have size limits, and
/// their contents are ignored. The fields of the trailer section obey the same rules as fields of a head.
package struct ChunkedBodyDecoder: Sendable {
    private enum State: Sendable {
        case size(digits: Int, value: UInt64)
        case sizeLineFeed(UInt64)
        case `extension`(UInt64, ExtensionPart)
        case data(remaining: Int)
        case dataCarriageReturn
        case dataLineFeed
        case trailerLine
        case trailerLineFeed
        case finished
    }

    /// `";" token [ "=" ( token / quoted-string ) ]` (RFC 9112 section 7.1.1).
    private enum ExtensionPart: Sendable {
        case name(isEmpty: Bool)
        case value(isEmpty: Bool)
        case quotedText
        /// The character after a backslash.
        case quotedPair
        /// The end after the closing quotation mark.
        case end
    }

    private let limits: HTTPLimits
    private let bodySizeMaximum: Int
    private var state = State.size(digits: 0, value: 0)
    private var extensionsSize = 0
    private var trailerSize = 0
    private var trailerCount = 0
    private var trailerLine: [UInt8] = []
    /// How many bytes of the body have been decoded.
    private(set) var bodySize = 0

    /// Makes a decoder for a body that is sent to this path.
    package init(limits: HTTPLimits, path: String) {
        self.limits = limits
        bodySizeMaximum = limits.bodySizeMaximum(at: path)
    }

    /// Decodes bytes from `position` on, and moves `position` to the end of the decoded bytes. Returns whether the body
    /// and its trailer are complete.
    ///
    /// The data is appended to `body`; its total size stays within the limit. Bytes after the end of the body are not
    /// read.
    package mutating func decode(
        _ bytes: Span<UInt8>, from position: inout Int, into body: inout [UInt8]
    ) throws(HTTPProblem) -> Bool {
        while position < bytes.count {
            if case .data(let remaining) = state {
                let taken = min(remaining, bytes.count - position)
                bytes.append(position..<position + taken, to: &body)
                bodySize += taken
                position += taken
                state = taken == remaining ? .dataCarriageReturn : .data(remaining: remaining - taken)
                continue
            }
            state = try advance(bytes[position])
            position += 1
            if case .finished = state { return true }
        }
        return false
    }

    private mutating func advance(_ byte: UInt8) throws(HTTPProblem) -> State {
        switch state {
        case .size(let digits, let value):
            return try advanceSize(byte, digits, value)
        case .sizeLineFeed(let size):
            guard byte == 0x0a else { throw .malformed(.bareCarriageReturn) }
            guard size <= UInt64(max(0, bodySizeMaximum - bodySize)) else { throw .bodyTooLarge }
            return size == 0 ? .trailerLine : .data(remaining: Int(size))
        case .extension(let size, let part):
            return try advanceExtension(byte, size, part)
        case .dataCarriageReturn:
            guard byte == 0x0d else { throw .malformed(.chunkEnd) }
            return .dataLineFeed
        case .dataLineFeed:
            guard byte == 0x0a else { throw .malformed(.chunkEnd) }
            return .size(digits: 0, value: 0)
        case .trailerLine:
            return try advanceTrailer(byte)
        case .trailerLineFeed:
            guard byte == 0x0a else { throw .malformed(.bareCarriageReturn) }
            return try endTrailerLine()
        case .data, .finished:
            preconditionFailure("the caller takes data, and stops at the end")
        }
    }

    private func advanceSize(_ byte: UInt8, _ digits: Int, _ value: UInt64) throws(HTTPProblem) -> State {
        if let digit = byte.hexValue {
            guard digits < 16 else { throw .malformed(.chunkSize) }
            return .size(digits: digits + 1, value: value << 4 | UInt64(digit))
        }
        guard digits > 0 else { throw .malformed(.chunkSize) }
        switch byte {
        case 0x0d: return .sizeLineFeed(value)
        case UInt8(ascii: ";"): return .extension(value, .name(isEmpty: true))
        case 0x0a: throw .malformed(.bareLineFeed)
        default: throw .malformed(.chunkSize)
        }
    }

    private mutating func advanceExtension(
        _ byte: UInt8, _ size: UInt64, _ part: ExtensionPart
    ) throws(HTTPProblem) -> State {
        if byte == 0x0a { throw .malformed(.bareLineFeed) }
        if byte == 0x0d {
            guard Self.mayEnd(part) else { throw .malformed(.chunkExtension) }
            return .sizeLineFeed(size)
        }
        extensionsSize += 1
        guard extensionsSize <= limits.chunkExtensionsSizeMaximum, let next = Self.part(after: part, byte) else {
            throw .malformed(.chunkExtension)
        }
        return .extension(size, next)
    }

    private static func mayEnd(_ part: ExtensionPart) -> Bool {
        switch part {
        case .name(let isEmpty), .value(let isEmpty): !isEmpty
        case .end: true
        case .quotedText, .quotedPair: false
        }
    }

    /// Returns the part after this byte; nil if the byte is not allowed.
    private static func part(after part: ExtensionPart, _ byte: UInt8) -> ExtensionPart? {
        if byte == UInt8(ascii: ";"), mayEnd(part) { return .name(isEmpty: true) }
        switch part {
        case .name(let isEmpty):
            if byte == UInt8(ascii: "="), !isEmpty { return .value(isEmpty: true) }
            return byte.isTokenCharacter ? .name(isEmpty: false) : nil
        case .value(let isEmpty):
            if byte == UInt8(ascii: "\""), isEmpty { return .quotedText }
            return byte.isTokenCharacter ? .value(isEmpty: false) : nil
        case .quotedText:
            if byte == UInt8(ascii: "\"") { return .end }
            if byte == UInt8(ascii: "\\") { return .quotedPair }
            return byte.isForbiddenInFieldValue ? nil : .quotedText
        case .quotedPair: return byte.isForbiddenInFieldValue ? nil : .quotedText
        case .end: return nil
        }
    }

    private mutating func advanceTrailer(_ byte: UInt8) throws(HTTPProblem) -> State {
        trailerSize += 1
        guard trailerSize <= limits.trailerSizeMaximum else { throw .headTooLarge }
        switch byte {
        case 0x0d: return .trailerLineFeed
        case 0x0a: throw .malformed(.bareLineFeed)
        default:
            guard !byte.isForbiddenInFieldValue else { throw .malformed(.controlCharacter) }
            trailerLine.append(byte)
            return .trailerLine
        }
    }

    private mutating func endTrailerLine() throws(HTTPProblem) -> State {
        guard !trailerLine.isEmpty else { return .finished }
        trailerCount += 1
        guard trailerCount <= limits.fieldCountMaximum else { throw .headTooLarge }
        _ = try HTTPHeadParser.splitField(trailerLine.span, 0..<trailerLine.count)
        trailerLine.removeAll(keepingCapacity: true)
        return .trailerLine
    }
}

extension Span<UInt8> {
    /// Appends a range to an array.
    func append(_ range: Range<Int>, to array: inout [UInt8]) {
        // Safe: the pointer is valid during the call, and `extracting` has checked the range.
        unsafe extracting(range).withUnsafeBufferPointer { unsafe array.append(contentsOf: $0) }
    }
}
