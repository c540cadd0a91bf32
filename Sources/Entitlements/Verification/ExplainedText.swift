import ByteCoding

/// What explanations show of values: for the operator's eyes, bounded, and without control characters that a terminal
/// would obey.
enum ExplainedText {
    private static let sizeMaximum = 160

    static func shown(_ text: String) -> String {
        let scalars = text.unicodeScalars.prefix(sizeMaximum).map { scalar -> Unicode.Scalar in
            scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) ? "?" : scalar
        }
        let isCut = text.unicodeScalars.count > sizeMaximum
        return String(String.UnicodeScalarView(scalars)) + (isCut ? "…" : "")
    }

    static func shown(_ node: JSONNode) -> String {
        if let text = node.string { return "\"\(shown(text))\"" }
        if let number = node.number { return shown(number.text) }
        if let bool = node.bool { return "\(bool)" }
        if let array = node.array {
            return shown("[" + array.prefix(8).map { shown($0) }.joined(separator: ", ") + "]")
        }
        return node.isNull ? "null" : "an object"
    }

    static func list(_ values: [String]) -> String {
        let shownValues = values.prefix(16).map { shown($0) }.joined(separator: ", ")
        return values.isEmpty ? "none" : shownValues + (values.count > 16 ? ", …" : "")
    }

    /// A time as RFC 3339 writes it.
    static func time(_ seconds: Int64) -> String {
        UnixTime(seconds: seconds, nanoseconds: 0).map { RFC3339.format($0, precision: .seconds) } ?? "\(seconds)"
    }
}

/// What a check has looked at and what it wants, in words for the operator.
package struct CheckedValues: Equatable, Sendable {
    package let found: String?
    package let expected: String?

    package init(found: String? = nil, expected: String? = nil) {
        self.found = found
        self.expected = expected
    }
}
