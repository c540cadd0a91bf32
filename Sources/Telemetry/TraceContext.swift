/// The place of a request in a distributed trace, as its sender tells it (W3C Trace Context, levels 1 and 2).
///
/// Any client can write the fields, so nothing is decided by them. What is kept has only the characters of hexadecimal
/// digits and of list members, so that it cannot forge a log line or a header field.
///
/// It is a class, so that a request without a trace carries nothing but nil.
package final class TraceContext: Equatable, Sendable {
    /// The most bytes of all fields `tracestate` together. Longer ones are not passed on.
    static let stateSizeMaximum = 512
    /// The most members of the list in `tracestate`.
    static let stateMembersMaximum = 32

    /// The flags that level 2 defines: `sampled` and `random-trace-id`. Others must be zero in what is sent.
    private static let knownFlags: UInt8 = 0x03

    /// 32 lower-case hexadecimal digits.
    package let traceID: String
    /// The sender's span: 16 lower-case hexadecimal digits.
    package let parentSpanID: String
    /// This server's span: 16 lower-case hexadecimal digits.
    package let spanID: String
    private let flags: UInt8
    /// The members of `tracestate`, unless the list is empty, malformed or too long.
    private let state: String?

    /// Reads the value of the only field `traceparent`, and the values of all fields `tracestate` in their order.
    /// `spanID` is this server's span. Returns nil if `traceparent` is invalid, which ends the sender's trace.
    ///
    ///     offset  size  part
    ///          0     2  version, not "ff"
    ///          3    32  trace id, not zero
    ///         36    16  parent id, not zero
    ///         53     2  flags
    ///         55        only in versions after "00": "-" and what this version does not know
    package init?(
        traceparent: ArraySlice<UInt8>, tracestate: @autoclosure () -> [ArraySlice<UInt8>] = [], spanID: String
    ) {
        var rest = traceparent
        guard let version = rest.takeDigits(2), version != "ff", rest.takeHyphen(),
            let traceID = rest.takeDigits(32), !traceID.isZero, rest.takeHyphen(),
            let parentSpanID = rest.takeDigits(16), !parentSpanID.isZero, rest.takeHyphen(),
            let flags = rest.takeDigits(2).flatMap({ UInt8($0, radix: 16) }),
            rest.isEmpty || version != "00" && rest.takeHyphen()
        else { return nil }
        self.traceID = traceID
        self.parentSpanID = parentSpanID
        self.spanID = spanID
        self.flags = flags & Self.knownFlags
        state = Self.state(of: tracestate())
    }

    package static func == (one: TraceContext, other: TraceContext) -> Bool {
        one === other
            || one.traceID == other.traceID && one.parentSpanID == other.parentSpanID && one.spanID == other.spanID
                && one.flags == other.flags && one.state == other.state
    }

    /// The header fields of a request that this server sends on behalf of the traced one. Its parent is this server's
    /// span.
    package var forwardedFields: [(name: String, value: String)] {
        let parent = ("traceparent", "00-\(traceID)-\(spanID)-0\(flags)")
        return [parent] + (state.map { [("tracestate", $0)] } ?? [])
    }

    /// What a log line about the request has of its trace.
    package var logFields: [LogField] {
        [.string("trace_id", traceID), .string("parent_span_id", parentSpanID), .string("span_id", spanID)]
    }

    // MARK: tracestate

    private static func state(of fields: [ArraySlice<UInt8>]) -> String? {
        // Several fields are one list, with a comma between two fields.
        let size = fields.reduce(-1) { $0 + $1.count + 1 }
        guard size > 0, size <= stateSizeMaximum else { return nil }
        let members = fields.joined(separator: [UInt8(ascii: ",")])
            .split(separator: UInt8(ascii: ",")).map { Array($0).trimmed }.filter { !$0.isEmpty }
        guard !members.isEmpty, members.count <= stateMembersMaximum, members.allSatisfy(isMember) else { return nil }
        return String(decoding: Array(members.joined(separator: [UInt8(ascii: ",")])), as: UTF8.self)
    }

    /// Whether the bytes are `key=value`. A value may have "=" only if the key ended before.
    private static func isMember(_ bytes: ArraySlice<UInt8>) -> Bool {
        let parts = bytes.split(separator: UInt8(ascii: "="), omittingEmptySubsequences: false)
        guard parts.count == 2, let first = parts[0].first, first.isLowerCaseOrDigit, parts[0].count <= 256,
            let last = parts[1].last, last != UInt8(ascii: " "), parts[1].count <= 256
        else { return false }
        return parts[0].allSatisfy { $0.isLowerCaseOrDigit || "_-*/@".utf8.contains($0) }
            // All that is printable. Commas and "=" have separated members and parts before.
            && parts[1].allSatisfy { (0x20...0x7E).contains($0) }
    }
}

extension ArraySlice<UInt8> {
    /// Takes this many lower-case hexadecimal digits; nil if the bytes do not begin with so many.
    fileprivate mutating func takeDigits(_ count: Int) -> String? {
        let digits = prefix(count)
        guard digits.count == count, digits.allSatisfy(\.isLowerCaseHexadecimal) else { return nil }
        removeFirst(count)
        return String(decoding: digits, as: UTF8.self)
    }

    fileprivate mutating func takeHyphen() -> Bool {
        guard first == UInt8(ascii: "-") else { return false }
        removeFirst()
        return true
    }
}

extension [UInt8] {
    /// Without the spaces and tabs around it.
    fileprivate var trimmed: ArraySlice<UInt8> {
        func isSpace(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var rest = drop(while: isSpace)
        while let last = rest.last, isSpace(last) { rest.removeLast() }
        return rest
    }
}

extension String {
    fileprivate var isZero: Bool { utf8.allSatisfy { $0 == UInt8(ascii: "0") } }
}

extension UInt8 {
    private var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
    fileprivate var isLowerCaseHexadecimal: Bool { isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self) }
    fileprivate var isLowerCaseOrDigit: Bool { isDigit || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) }
}
