/// What a reader of HTTP/2 fields says after each one.
package enum HTTP2FieldVerdict: Equatable, Sendable {
    /// The next field may come. Of a block that is somewhat too large the rest is read and not kept, so that it can be
    /// answered.
    case goOn
    /// The rest of the block is not wanted: it is malformed, or it has more than `HTTP2BlockSize.excessFactor` times
    /// what is allowed.
    case stop(HTTPProblem)
}

/// What one header block has decoded to so far, whether it is kept or not.
struct HTTP2BlockSize: Sendable {
    /// A block within so many times the limits is read to its end and answered 431. A larger one is stopped.
    static let excessFactor = 2

    private var size = 0
    private var count = 0

    /// Adds a field of this size in bytes; returns whether the block stays within `excessFactor` times the limits.
    mutating func add(_ fieldSize: Int, sizeMaximum: Int, countMaximum: Int) -> Bool {
        size += fieldSize + HTTP2FieldRules.overhead
        count += 1
        return size <= Self.excessFactor * sizeMaximum && count <= Self.excessFactor * countMaximum
    }
}
