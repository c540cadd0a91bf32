import ByteCoding

/// Formats values for explanations, which operators read.
///
/// The texts are bounded, and have no hidden characters, so that they cannot control a terminal.
package enum ExplainedText {
    private static let sizeMaximum = 160

    static func shown(_ text: String) -> String {
        let start = String(String.UnicodeScalarView(text.unicodeScalars.prefix(sizeMaximum)))
        let isCut = text.unicodeScalars.count > sizeMaximum
        return VisibleText.shown(start) + (isCut ? "…" : "")
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

    package static func list(_ values: [String]) -> String {
        let shownValues = values.prefix(16).map { shown($0) }.joined(separator: ", ")
        return values.isEmpty ? "none" : shownValues + (values.count > 16 ? ", …" : "")
    }

    /// Formats a time as RFC 3339.
    static func time(_ seconds: Int64) -> String {
        UnixTime(seconds: seconds, nanoseconds: 0).map { RFC3339.format($0, precision: .seconds) } ?? "\(seconds)"
    }
}
