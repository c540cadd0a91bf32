/// Makes texts that others have chosen safe to read for operators.
package enum VisibleText {
    /// Whether a scalar is shown as nothing, but can change what is shown: control characters, which a terminal obeys,
    /// format characters, some of which reverse the direction of the text around them, and separators of lines and
    /// paragraphs.
    package static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        if scalar.isASCII { return scalar.value < 0x20 || scalar.value == 0x7F }
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator: return true
        default: return false  // Letters, marks, numbers, signs, spaces, and scalars without a meaning.
        }
    }

    /// Returns the text with a question mark in place of each hidden scalar.
    package static func shown(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isHidden) else { return text }
        return String(String.UnicodeScalarView(text.unicodeScalars.map { isHidden($0) ? "?" : $0 }))
    }
}
