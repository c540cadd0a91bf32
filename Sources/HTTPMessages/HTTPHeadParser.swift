/// Parses a request head (RFC 9112 sections 2 to 7), line by line as its bytes arrive.
///
/// The parser is strict. Lines end with CRLF only. Folded fields, white space before a colon and control characters are
/// refused. A malformed line is refused when it is complete, a control character immediately.
///
/// The caller keeps all bytes since the beginning of the head in one piece. While the head is incomplete, the caller
/// passes them again with more bytes after them. No byte is searched twice for line ends.
package struct HTTPHeadParser: Sendable {
    private let limits: HTTPLimits
    private var lineStart = 0
    private var scanned = 0
    private var hasSkippedEmptyLine = false
    private var requestLine: HTTPRequestLine?
    private var entries: [HTTPFields.Entry] = []
    private var summary = HTTPFieldSummary()

    /// Makes a parser for one head. With `isAfterEmptyLine`, an empty line has come before the head, which is not
    /// passed to the parser.
    package init(limits: HTTPLimits, isAfterEmptyLine: Bool = false) {
        self.limits = limits
        hasSkippedEmptyLine = isAfterEmptyLine
    }

    /// Whether a byte of the request line has arrived. An empty line before it does not count.
    var hasBegun: Bool { requestLine != nil || scanned > lineStart }

    /// The size in bytes of the empty line before the request line; 0 if there is no empty line.
    var emptyLineSize: Int { requestLine == nil ? lineStart : 0 }

    /// The memory in bytes that the parser occupies, without the bytes that the caller keeps.
    var memorySize: Int { entries.capacity * MemoryLayout<HTTPFields.Entry>.stride }

    /// Continues to parse. Returns the head and its size in bytes; `nil` if the head is not complete.
    package mutating func parse(_ bytes: Span<UInt8>) throws(HTTPProblem) -> (head: HTTPRequestHead, size: Int)? {
        while true {
            guard let lineEnd = try findLineEnd(bytes) else {
                try checkSizeOfIncompleteHead(bytes)
                return nil
            }
            let line = lineStart..<lineEnd
            let next = lineEnd + 2
            guard next <= limits.headSizeMaximum else { throw sizeProblem(bytes, line) }
            (lineStart, scanned) = (next, next)
            guard let requestLine else {
                try readRequestLine(bytes, line)
                continue
            }
            if line.isEmpty {
                return (try summary.makeHead(requestLine, bytes, size: next, entries), next)
            }
            try readField(bytes, line)
        }
    }

    // MARK: Lines

    private mutating func findLineEnd(_ bytes: Span<UInt8>) throws(HTTPProblem) -> Int? {
        var position = scanned
        defer { scanned = position }
        let end = min(bytes.count, limits.headSizeMaximum)
        while position < end {
            if end - position >= 8, bytes.areEightVisible(at: position) {
                position += 8
                continue
            }
            let byte = bytes[position]
            if byte >= 0x20 && byte != 0x7f || byte == 0x09 && requestLine != nil {
                position += 1
                continue
            }
            switch byte {
            case 0x0d:
                guard position + 1 < bytes.count else { return nil }
                guard bytes[position + 1] == 0x0a else { throw .malformed(.bareCarriageReturn) }
                return position
            case 0x0a: throw .malformed(.bareLineFeed)
            // The first byte of a TLS handshake. The major version behind it decides, which may arrive later.
            case 0x16 where position == 0 && !hasSkippedEmptyLine:
                guard bytes.count > 1 else { return nil }
                throw .malformed(bytes[1] == 0x03 ? .tlsOnPlainPort : .controlCharacter)
            default: throw .malformed(.controlCharacter)
            }
        }
        return nil
    }

    private func checkSizeOfIncompleteHead(_ bytes: Span<UInt8>) throws(HTTPProblem) {
        let line = lineStart..<scanned
        if requestLine == nil && line.count > limits.targetSizeMaximum { try checkTargetSize(bytes, line) }
        if bytes.count >= limits.headSizeMaximum { throw sizeProblem(bytes, line) }
    }

    /// Returns the problem of a head that is too large: 414 if its target is too long, otherwise 431.
    private func sizeProblem(_ bytes: Span<UInt8>, _ line: Range<Int>) -> HTTPProblem {
        guard requestLine == nil else { return .headTooLarge }
        do throws(HTTPProblem) {
            try checkTargetSize(bytes, line)
            return .headTooLarge
        } catch {
            return error
        }
    }

    private func checkTargetSize(_ bytes: Span<UInt8>, _ line: Range<Int>) throws(HTTPProblem) {
        guard let space = bytes.firstPosition(of: 0x20, in: line) else { return }
        let rest = space + 1..<line.upperBound
        let end = bytes.firstPosition(of: 0x20, in: rest) ?? rest.upperBound
        if end - rest.lowerBound > limits.targetSizeMaximum { throw .targetTooLong }
    }

    private mutating func readRequestLine(_ bytes: Span<UInt8>, _ line: Range<Int>) throws(HTTPProblem) {
        if line.isEmpty {
            // One empty line before the request line is ignored (RFC 9112 section 2.2). Some clients send one after a
            // body.
            guard !hasSkippedEmptyLine else { throw .malformed(.emptyLineBeforeRequest) }
            hasSkippedEmptyLine = true
        } else {
            requestLine = try HTTPRequestLine(parsing: bytes, line, targetSizeMaximum: limits.targetSizeMaximum)
        }
    }

    private mutating func readField(_ bytes: Span<UInt8>, _ line: Range<Int>) throws(HTTPProblem) {
        guard entries.count < limits.fieldCountMaximum else { throw .headTooLarge }
        if entries.isEmpty { entries.reserveCapacity(8) }
        let (name, value) = try Self.splitField(bytes, line)
        entries.append(
            HTTPFields.Entry(
                nameStart: Int32(name.lowerBound), nameEnd: Int32(name.upperBound), valueStart: Int32(value.lowerBound),
                valueEnd: Int32(value.upperBound)))
        try summary.note(bytes, name, value)
    }

    /// Splits `field-line = field-name ":" OWS field-value OWS` (RFC 9112 section 5). Control characters were refused
    /// before.
    static func splitField(
        _ bytes: Span<UInt8>, _ line: Range<Int>
    ) throws(HTTPProblem) -> (name: Range<Int>, value: Range<Int>) {
        guard !bytes[line.lowerBound].isWhitespace else { throw .malformed(.foldedField) }
        var colon = line.lowerBound
        while colon < line.upperBound, bytes[colon].isTokenCharacter { colon += 1 }
        guard colon > line.lowerBound, colon < line.upperBound, bytes[colon] == UInt8(ascii: ":") else {
            throw .malformed(.fieldName)
        }
        return (line.lowerBound..<colon, bytes.trimmingWhitespace(colon + 1..<line.upperBound))
    }
}
