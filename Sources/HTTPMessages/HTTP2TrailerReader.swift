/// Checks the trailer section of an HTTP/2 request (RFC 9113 section 8.1). Its contents are ignored.
package struct HTTP2TrailerReader: Sendable {
    private let limits: HTTPLimits
    private var size = 0
    private var count = 0
    private var blockSize = HTTP2BlockSize()
    /// The first problem of the fields so far.
    package private(set) var problem: HTTPProblem?

    /// Makes a reader for one trailer section.
    package init(limits: HTTPLimits) {
        self.limits = limits
    }

    /// Takes the next field. Returns whether the rest of its block is needed.
    @discardableResult
    package mutating func append(name: Span<UInt8>, value: Span<UInt8>) -> HTTP2FieldVerdict {
        let isBounded = blockSize.add(
            name.count + value.count, sizeMaximum: limits.trailerSizeMaximum, countMaximum: limits.fieldCountMaximum)
        guard isBounded else { return .stop(.headTooLarge) }
        guard problem == nil else { return .goOn }
        do throws(HTTPProblem) {
            try take(name, value)
        } catch {
            problem = error
            if case .malformed = error { return .stop(error) }
        }
        return .goOn
    }

    private mutating func take(_ name: Span<UInt8>, _ value: Span<UInt8>) throws(HTTPProblem) {
        size += name.count + value.count + HTTP2FieldRules.overhead
        count += 1
        guard size <= limits.trailerSizeMaximum, count <= limits.fieldCountMaximum else { throw .headTooLarge }
        if name.count > 0 && name[0] == UInt8(ascii: ":") { throw .malformed(.pseudoField) }
        try HTTP2FieldRules.checkName(name)
        try HTTP2FieldRules.checkValue(value)
    }
}
