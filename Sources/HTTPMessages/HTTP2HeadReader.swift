/// Collects the decompressed fields of an HTTP/2 request, and makes the same head as from an HTTP/1.1 request (RFC 9113
/// sections 8.2 and 8.3).
///
/// The reader is strict. Pseudo fields come first, are known, and occur once. Names are in lower case, and fields of a
/// connection are refused. `Host` and `:authority` must be equal, and the head always has exactly one `host` field.
/// After the first problem, no further fields are kept. A small block that expands to a large one is stopped at twice
/// the limits.
package struct HTTP2HeadReader: Sendable {
    private let limits: HTTPLimits
    private var storage: [UInt8] = []
    private var entries: [HTTPFields.Entry] = []
    private var size = 0
    private var blockSize = HTTP2BlockSize()
    /// Why the fields are not read further.
    private var problem: HTTPProblem?

    /// Whether the method is HEAD. It is also set if the request is refused.
    package private(set) var isHeadRequest = false

    private var method: Range<Int>?
    private var scheme: Range<Int>?
    private var authority: Range<Int>?
    private var path: Range<Int>?
    private var host: Range<Int>?
    private var contentLength: Int?
    private var cookies: [Range<Int>] = []
    private var expectation: Expectation?
    private var hasContentCoding = false

    private enum Expectation { case continue100, other }

    /// Makes a reader for one request.
    package init(limits: HTTPLimits) {
        self.limits = limits
    }

    /// Takes the next field. Returns whether the rest of its block is needed.
    @discardableResult
    package mutating func append(name: Span<UInt8>, value: Span<UInt8>) -> HTTP2FieldVerdict {
        let isBounded = blockSize.add(
            name.count + value.count, sizeMaximum: limits.headSizeMaximum, countMaximum: limits.fieldCountMaximum)
        guard isBounded else { return .stop(.headTooLarge) }
        guard problem == nil else { return .goOn }
        do throws(HTTPProblem) {
            try take(name, value)
        } catch {
            problem = error
            storage = []
            entries = []
            if case .malformed = error { return .stop(error) }
        }
        return .goOn
    }

    /// Checks all fields at the end of their block, and makes the head. `endsStream` is true if no body follows.
    package func finish(endsStream: Bool) throws(HTTPProblem) -> HTTPRequestHead {
        if let problem { throw problem }
        let bytes = storage.span
        guard let method else { throw .malformed(.pseudoField) }
        let knownMethod = try HTTPRequestLine.readMethod(bytes, method)
        guard scheme != nil, let path else { throw .malformed(.pseudoField) }
        guard let target = try HTTPRequestLine.readPath(bytes, path, isOptions: knownMethod == .options) else {
            throw .malformed(.target)
        }
        let framing = try judgeFraming(endsStream)
        let fields = try makeFields(bytes)
        return HTTPRequestHead(
            method: knownMethod, target: target, version: .http2, fields: fields,
            transfer: HTTPTransfer(framing: framing, expectsContinue: expectation == .continue100 && framing != .none),
            problem: refusal)
    }

    // MARK: Fields

    private mutating func take(_ name: Span<UInt8>, _ value: Span<UInt8>) throws(HTTPProblem) {
        try checkSize(name, value)
        try HTTP2FieldRules.checkValue(value)
        let nameStart = storage.count
        name.append(0..<name.count, to: &storage)
        let valueStart = storage.count
        value.append(0..<value.count, to: &storage)
        let range = valueStart..<storage.count
        if name.count > 0 && name[0] == UInt8(ascii: ":") { return try takePseudoField(name, range) }

        try HTTP2FieldRules.checkName(name)
        guard entries.count < limits.fieldCountMaximum else { throw .headTooLarge }
        if entries.isEmpty {
            entries.reserveCapacity(8)
            // Pseudo fields must come before all others. It is enough to check that the method has come.
            guard method != nil else { throw .malformed(.pseudoField) }
        }
        try note(name, range)
        entries.append(HTTPFields.Entry(name: nameStart..<valueStart, value: range))
    }

    private mutating func checkSize(_ name: Span<UInt8>, _ value: Span<UInt8>) throws(HTTPProblem) {
        if name.matches(":path".utf8, in: 0..<name.count) && value.count > limits.targetSizeMaximum {
            throw .targetTooLong
        }
        size += name.count + value.count + HTTP2FieldRules.overhead
        guard size <= limits.headSizeMaximum else { throw .headTooLarge }
    }

    private mutating func takePseudoField(_ name: Span<UInt8>, _ value: Range<Int>) throws(HTTPProblem) {
        guard entries.isEmpty, !value.isEmpty else { throw .malformed(.pseudoField) }
        let whole = 0..<name.count
        if name.matches(":method".utf8, in: whole) {
            try Self.set(&method, value)
            isHeadRequest = storage.span.matches("HEAD".utf8, in: value)
        } else if name.matches(":path".utf8, in: whole) {
            try Self.set(&path, value)
        } else if name.matches(":scheme".utf8, in: whole) {
            let isHTTP =
                storage.span.matchesIgnoringCase("https".utf8, in: value)
                || storage.span.matchesIgnoringCase("http".utf8, in: value)
            guard isHTTP else { throw .malformed(.pseudoField) }
            try Self.set(&scheme, value)
        } else if name.matches(":authority".utf8, in: whole) {
            guard HTTPFieldSummary.isHost(storage.span, value) else { throw .malformed(.hostInvalid) }
            try Self.set(&authority, value)
        } else {
            throw .malformed(.pseudoField)
        }
    }

    private static func set(_ field: inout Range<Int>?, _ value: Range<Int>) throws(HTTPProblem) {
        guard field == nil else { throw .malformed(.pseudoField) }
        field = value
    }

    /// Notes the fields with a meaning for the connection. The length of a name is compared first, which is fast.
    private mutating func note(_ name: Span<UInt8>, _ value: Range<Int>) throws(HTTPProblem) {
        let whole = 0..<name.count
        switch name.count {
        case 2 where name.matches("te".utf8, in: whole):
            guard storage.span.matchesIgnoringCase("trailers".utf8, in: value) else {
                throw .malformed(.connectionField)
            }
        case 4 where name.matches("host".utf8, in: whole):
            guard host == nil else { throw .malformed(.hostRepeated) }
            guard HTTPFieldSummary.isHost(storage.span, value) else { throw .malformed(.hostInvalid) }
            host = value
        case 6 where name.matches("cookie".utf8, in: whole):
            cookies.append(value)
        case 6 where name.matches("expect".utf8, in: whole):
            let isContinue = storage.span.matchesIgnoringCase("100-continue".utf8, in: value)
            expectation = isContinue && expectation != .other ? .continue100 : .other
        case 14 where name.matches("content-length".utf8, in: whole):
            guard contentLength == nil else { throw .malformed(.contentLengthRepeated) }
            contentLength = try HTTPFieldSummary.readLength(storage.span, value)
        case 16 where name.matches("content-encoding".utf8, in: whole):
            if !HTTPFieldSummary.isNoCoding(storage.span, value) { hasContentCoding = true }
        case 7 where name.matches("upgrade".utf8, in: whole),
            10 where name.matches("connection".utf8, in: whole) || name.matches("keep-alive".utf8, in: whole),
            16 where name.matches("proxy-connection".utf8, in: whole),
            17 where name.matches("transfer-encoding".utf8, in: whole):
            throw .malformed(.connectionField)
        default: break
        }
    }

    // MARK: The head

    /// Returns the framing. A declared length of more than 0 is malformed if the stream ends here (RFC 9113 section
    /// 8.1.1).
    private func judgeFraming(_ endsStream: Bool) throws(HTTPProblem) -> HTTPBodyFraming {
        let length = contentLength ?? 0
        if endsStream {
            guard length == 0 else { throw .malformed(.contentLengthInvalid) }
            return .none
        }
        if contentLength == nil { return .stream }
        return length > 0 ? .length(length) : .none
    }

    /// Why a request whose head is well formed is refused.
    private var refusal: HTTPProblem? {
        hasContentCoding ? .contentCodingNotSupported : expectation == .other ? .expectationFailed : nil
    }

    /// Makes the fields without the pseudo fields, with one `host` and at most one `cookie` (RFC 9113 sections 8.2.3
    /// and 8.3.1).
    private func makeFields(_ bytes: Span<UInt8>) throws(HTTPProblem) -> HTTPFields {
        if let authority, let host, !stated(authority, bytes).isEqual(to: host, in: bytes) {
            throw .malformed(.hostDiffersFromTarget)
        }
        guard let host = host ?? authority else { throw .malformed(.hostMissing) }
        guard self.host == nil || cookies.count > 1 else { return HTTPFields(storage: storage, entries: entries) }

        var (storage, entries) = (storage, entries)
        if self.host == nil { entries.append(Self.entry(named: "host", value: host, in: &storage)) }
        if cookies.count > 1 {
            entries.removeAll { storage.span.matches("cookie".utf8, in: $0.name) }
            let start = storage.count
            for cookie in cookies {
                if storage.count > start { storage.append(contentsOf: "; ".utf8) }
                storage.append(contentsOf: self.storage[cookie])
            }
            let value = start..<storage.count
            entries.append(Self.entry(named: "cookie", value: value, in: &storage))
        }
        return HTTPFields(storage: storage, entries: entries)
    }

    private func stated(_ authority: Range<Int>, _ bytes: Span<UInt8>) -> HTTPAuthority {
        let isSecure = scheme.map { bytes.matchesIgnoringCase("https".utf8, in: $0) } ?? false
        return HTTPAuthority(range: authority, isSecure: isSecure)
    }

    private static func entry(named name: String, value: Range<Int>, in storage: inout [UInt8]) -> HTTPFields.Entry {
        let start = storage.count
        storage.append(contentsOf: name.utf8)
        return HTTPFields.Entry(name: start..<storage.count, value: value)
    }
}

extension HTTPFields.Entry {
    fileprivate init(name: Range<Int>, value: Range<Int>) {
        self.init(
            nameStart: Int32(name.lowerBound), nameEnd: Int32(name.upperBound), valueStart: Int32(value.lowerBound),
            valueEnd: Int32(value.upperBound))
    }
}

/// The verdict of a reader of HTTP/2 fields after each field.
package enum HTTP2FieldVerdict: Equatable, Sendable {
    /// The next field may follow. If a block is somewhat too large, its rest is read but not kept, so that the request
    /// can be answered.
    case goOn
    /// The rest of the block is not needed: it is malformed, or exceeds `HTTP2BlockSize.excessFactor` times the limits.
    case stop(HTTPProblem)
}

/// The decoded size of one header block so far, including fields that are not kept.
struct HTTP2BlockSize: Sendable {
    /// A block within this multiple of the limits is read to its end and answered with 431. A larger one is stopped.
    static let excessFactor = 2

    private var size = 0
    private var count = 0

    /// Adds a field of this size in bytes. Returns whether the block stays within `excessFactor` times the limits.
    mutating func add(_ fieldSize: Int, sizeMaximum: Int, countMaximum: Int) -> Bool {
        size += fieldSize + HTTP2FieldRules.overhead
        count += 1
        return size <= Self.excessFactor * sizeMaximum && count <= Self.excessFactor * countMaximum
    }
}

/// The rules for every field of HTTP/2 (RFC 9113 section 8.2.1).
enum HTTP2FieldRules {
    /// The number of bytes that a field counts in addition to its name and value (RFC 9113 section 6.5.2).
    static let overhead = 32

    /// Checks that a name is a token without upper-case letters.
    static func checkName(_ name: Span<UInt8>) throws(HTTPProblem) {
        guard name.count > 0 else { throw .malformed(.fieldName) }
        for position in 0..<name.count where !name[position].isTokenCharacter || name[position].isUpperCase {
            throw .malformed(.fieldName)
        }
    }

    /// Checks that a value has no control characters, and no white space at its ends.
    static func checkValue(_ value: Span<UInt8>) throws(HTTPProblem) {
        guard value.count > 0 else { return }
        for position in 0..<value.count where value[position].isForbiddenInFieldValue {
            throw .malformed(.controlCharacter)
        }
        if value[0].isWhitespace || value[value.count - 1].isWhitespace { throw .malformed(.foldedField) }
    }
}

extension UInt8 {
    fileprivate var isUpperCase: Bool { (0x41...0x5a).contains(self) }
}
