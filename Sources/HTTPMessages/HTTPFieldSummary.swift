/// Collects the facts about framing and connection from the fields of a head while they are read.
struct HTTPFieldSummary: Sendable {
    private var host: Range<Int>?
    private var contentLength: Int?
    private var hasTransferEncoding = false
    private var transferCoding = TransferCoding.chunked
    private var asksToClose = false
    private var asksToKeepAlive = false
    private var expectation: Expectation?
    private var hasContentCoding = false

    private enum TransferCoding { case chunked, unknown }
    private enum Expectation { case continue100, other }

    /// Notes one field. The length of the name is compared first, which is fast.
    mutating func note(_ bytes: Span<UInt8>, _ name: Range<Int>, _ value: Range<Int>) throws(HTTPProblem) {
        switch name.count {
        case 4 where bytes.matchesIgnoringCase("host".utf8, in: name): try noteHost(bytes, value)
        case 6 where bytes.matchesIgnoringCase("expect".utf8, in: name): noteExpect(bytes, value)
        case 10 where bytes.matchesIgnoringCase("connection".utf8, in: name): noteConnection(bytes, value)
        case 14 where bytes.matchesIgnoringCase("content-length".utf8, in: name): try noteLength(bytes, value)
        case 16 where bytes.matchesIgnoringCase("content-encoding".utf8, in: name):
            if !Self.isNoCoding(bytes, value) { hasContentCoding = true }
        case 17 where bytes.matchesIgnoringCase("transfer-encoding".utf8, in: name): try noteCoding(bytes, value)
        default: break
        }
    }

    /// Checks all fields together at the end of the head, and makes the head.
    func makeHead(
        _ line: HTTPRequestLine, _ bytes: Span<UInt8>, size: Int, _ entries: [HTTPFields.Entry]
    ) throws(HTTPProblem) -> HTTPRequestHead {
        try checkHost(line, bytes)
        let framing = try judgeFraming(line.version)
        let transfer = HTTPTransfer(
            framing: framing, keepsAlive: !asksToClose && (line.version == .http11 || asksToKeepAlive),
            // The expectation is ignored in HTTP/1.0 and without a body (RFC 9110 section 10.1.1).
            expectsContinue: expectation == .continue100 && line.version == .http11 && framing != .none)
        return HTTPRequestHead(
            method: line.method, target: line.target, version: line.version,
            fields: HTTPFields(storage: bytes.copy(0..<size), entries: entries), transfer: transfer, problem: refusal)
    }

    // MARK: Host

    private mutating func noteHost(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(HTTPProblem) {
        guard host == nil else { throw .malformed(.hostRepeated) }
        guard value.isEmpty || Self.isHost(bytes, value) else { throw .malformed(.hostInvalid) }
        host = value
    }

    /// Checks `Host` (RFC 9112 section 3.2).
    ///
    /// HTTP/1.1 requires the field; it is empty if the client knows no authority. If the target is in absolute form,
    /// its authority must be equal to `Host`.
    private func checkHost(_ line: HTTPRequestLine, _ bytes: Span<UInt8>) throws(HTTPProblem) {
        if host == nil && line.version == .http11 { throw .malformed(.hostMissing) }
        guard let authority = line.authority else { return }
        guard Self.isHost(bytes, authority.range) else { throw .malformed(.target) }
        if let host, !authority.isEqual(to: host, in: bytes) { throw .malformed(.hostDiffersFromTarget) }
    }

    static func equalIgnoringCase(_ bytes: Span<UInt8>, _ left: Range<Int>, _ right: Range<Int>) -> Bool {
        guard left.count == right.count else { return false }
        for offset in 0..<left.count
        where bytes[left.lowerBound + offset].lowercased != bytes[right.lowerBound + offset].lowercased {
            return false
        }
        return true
    }

    /// Whether a range is `uri-host [ ":" port ]` (RFC 9110 section 7.2), not empty (section 4.2.1) and without user
    /// information.
    static func isHost(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Bool {
        guard !range.isEmpty else { return false }
        var position = range.lowerBound
        if bytes[position] == UInt8(ascii: "[") {
            guard let end = bytes.firstPosition(of: UInt8(ascii: "]"), in: range) else { return false }
            let literal = position + 1..<end
            guard !literal.isEmpty else { return false }
            for position in literal where bytes[position].hexValue == nil && !bytes[position].isColonOrDot {
                return false
            }
            position = end + 1
        } else {
            guard let end = registeredNameEnd(bytes, range) else { return false }
            position = end
        }
        guard position < range.upperBound else { return true }
        guard bytes[position] == UInt8(ascii: ":") else { return false }
        let port = position + 1..<range.upperBound
        for position in port where !bytes[position].isDigit { return false }
        return port.count <= 5
    }

    /// Returns the end of a host name; nil if the name is empty, or has a `%` without two hexadecimal digits (RFC 3986
    /// section 2.1).
    private static func registeredNameEnd(_ bytes: Span<UInt8>, _ range: Range<Int>) -> Int? {
        var position = range.lowerBound
        while position < range.upperBound, bytes[position].isRegisteredNameCharacter {
            if bytes[position] == UInt8(ascii: "%") {
                guard position + 2 < range.upperBound, bytes[position + 1].hexValue != nil,
                    bytes[position + 2].hexValue != nil
                else { return nil }
                position += 2
            }
            position += 1
        }
        return position > range.lowerBound ? position : nil
    }

    // MARK: Framing

    /// Notes a length, which must be `1*DIGIT`. A sign, a list and a second field are refused, even an equal one (RFC
    /// 9112 section 6.3 allows this).
    private mutating func noteLength(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(HTTPProblem) {
        guard contentLength == nil else { throw .malformed(.contentLengthRepeated) }
        contentLength = try Self.readLength(bytes, value)
    }

    static func readLength(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(HTTPProblem) -> Int {
        guard (1...18).contains(value.count) else { throw .malformed(.contentLengthInvalid) }
        var length = 0
        for position in value {
            guard bytes[position].isDigit else { throw .malformed(.contentLengthInvalid) }
            // This cannot overflow, because 18 digits stay below 2^63.
            length = length * 10 + Int(bytes[position] - 0x30)
        }
        return length
    }

    /// Notes a transfer coding, which must be `chunked` in one field (RFC 9112 section 6.1).
    ///
    /// Other codings are not implemented. If `chunked` occurs twice or is not the last coding, the head is malformed.
    private mutating func noteCoding(_ bytes: Span<UInt8>, _ value: Range<Int>) throws(HTTPProblem) {
        guard !hasTransferEncoding else { throw .malformed(.transferEncodingRepeated) }
        hasTransferEncoding = true
        if bytes.matchesIgnoringCase("chunked".utf8, in: value) { return }

        let codings = bytes.listElements(value)
        for coding in codings where coding.isEmpty { throw .malformed(.transferEncodingInvalid) }
        for coding in codings.dropLast() where bytes.matchesIgnoringCase("chunked".utf8, in: coding) {
            throw .malformed(.transferEncodingInvalid)
        }
        transferCoding = .unknown
    }

    /// The framing of a request with an unknown coding does not matter: it is refused.
    private func judgeFraming(_ version: HTTPVersion) throws(HTTPProblem) -> HTTPBodyFraming {
        guard hasTransferEncoding else {
            guard let contentLength, contentLength > 0 else { return .none }
            return .length(contentLength)
        }
        guard contentLength == nil else { throw .malformed(.contentLengthWithTransferEncoding) }
        guard version == .http11 else { throw .malformed(.transferEncodingInVersion10) }
        return transferCoding == .chunked ? .chunked : .none
    }

    /// Whether a value of `Content-Encoding` names no coding. `identity` is none, and some clients send it (RFC 9110
    /// section 8.4.1).
    ///
    /// No route decodes a body: a small compressed one could expand to a very large one.
    static func isNoCoding(_ bytes: Span<UInt8>, _ value: Range<Int>) -> Bool {
        value.isEmpty || bytes.matchesIgnoringCase("identity".utf8, in: value)
    }

    // MARK: Connection and Expect

    private mutating func noteConnection(_ bytes: Span<UInt8>, _ value: Range<Int>) {
        // This value is the most frequent one, so it is compared first, without splitting it.
        if bytes.matchesIgnoringCase("keep-alive".utf8, in: value) {
            asksToKeepAlive = true
            return
        }
        for option in bytes.listElements(value) {
            if bytes.matchesIgnoringCase("close".utf8, in: option) { asksToClose = true }
            if bytes.matchesIgnoringCase("keep-alive".utf8, in: option) { asksToKeepAlive = true }
        }
    }

    private mutating func noteExpect(_ bytes: Span<UInt8>, _ value: Range<Int>) {
        let isContinue = bytes.matchesIgnoringCase("100-continue".utf8, in: value)
        expectation = isContinue && expectation != .other ? .continue100 : .other
    }

    /// Why a request whose head is well formed is refused.
    private var refusal: HTTPProblem? {
        if hasContentCoding { return .contentCodingNotSupported }
        if hasTransferEncoding && transferCoding == .unknown { return .transferCodingNotImplemented }
        return expectation == .other ? .expectationFailed : nil
    }
}

extension Span<UInt8> {
    /// Returns the elements of a comma-separated list without the white space around them. Empty elements are kept.
    fileprivate func listElements(_ range: Range<Int>) -> [Range<Int>] {
        var elements: [Range<Int>] = []
        var start = range.lowerBound
        while let comma = firstPosition(of: UInt8(ascii: ","), in: start..<range.upperBound) {
            elements.append(trimmingWhitespace(start..<comma))
            start = comma + 1
        }
        elements.append(trimmingWhitespace(start..<range.upperBound))
        return elements
    }
}

extension UInt8 {
    fileprivate var isColonOrDot: Bool { self == UInt8(ascii: ":") || self == UInt8(ascii: ".") }

    /// Whether the byte may be in a host name: `unreserved / pct-encoded / sub-delims` of RFC 3986 section 3.2.2. `,`
    /// and `;` are left out, because intermediaries can misread them.
    fileprivate var isRegisteredNameCharacter: Bool {
        switch self {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a: true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "%"): true
        case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "("): true
        case UInt8(ascii: ")"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "="): true
        default: false
        }
    }
}
