/// What a library has written to its error output, without what could be a secret.
///
/// A library may write whole requests there, with content keys (SDK 26, section 1). Here remain words without digits,
/// names of source files with their lines, and single small numbers.
enum LibraryWords {
    private static let lineMaximum = 12
    private static let wordMaximum = 24
    /// A line with more words left out than this is data, so nothing of it remains.
    private static let omissionMaximum = 3
    private static let omission = "…"

    /// Returns the lines that remain; nil if nothing was written.
    static func lines(in output: [UInt8]) -> [String]? {
        let lines = output.split { $0 == UInt8(ascii: "\n") }
        let kept = lines.prefix(lineMaximum).map { line in
            Self.line(String(decoding: line.prefix(4096), as: UTF8.self))
        }
        let shown = kept.filter { !$0.isEmpty }
        guard !shown.isEmpty else { return nil }
        return lines.count > lineMaximum ? shown + [omission] : shown
    }

    private static func line(_ text: String) -> String {
        var words: [String] = []
        var omissions = 0
        var followsNumber = false
        for word in text.split(whereSeparator: { $0.isWhitespace }) {
            let isNumber = isNumber(word)
            if isNumber ? !followsNumber : isHarmless(word) {
                words.append(String(word))
            } else {
                omissions += 1
                if words.last != omission { words.append(omission) }
            }
            followsNumber = isNumber
        }
        return omissions > omissionMaximum ? omission : words.joined(separator: " ")
    }

    /// Whether a word is a number as statuses are: `-42605`, `3`, `(1)`.
    private static func isNumber(_ word: Substring) -> Bool {
        let digits = word.drop { "(-".contains($0) }.prefix { $0.isASCII && $0.isNumber }
        return (1...5).contains(digits.count) && word.filter(\.isLetter).isEmpty && word.count <= digits.count + 3
    }

    private static func isHarmless(_ word: Substring) -> Bool {
        let isPrintable = word.allSatisfy { $0.isASCII && !$0.isNewline && ("!"..."~").contains($0) }
        guard isPrintable else { return false }
        if word.contains(where: \.isNumber) { return isSourceLine(word) }
        return word.count <= wordMaximum && !word.hasSuffix("=")
    }

    /// Whether a word is the name of a source file and a line, such as `src/lib.rs:12:5:`.
    private static func isSourceLine(_ word: Substring) -> Bool {
        let parts = word.split(separator: ":")
        guard (2...3).contains(parts.count), let file = parts.first, file.count <= 2 * wordMaximum,
            [".rs", ".swift", ".c"].contains(where: file.hasSuffix)
        else { return false }
        return file.allSatisfy { $0.isLetter || "/._-".contains($0) }
            && parts.dropFirst().allSatisfy { $0.count <= 5 && $0.allSatisfy(\.isNumber) }
    }
}
