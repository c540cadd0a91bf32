/// A place in a UTF-8 text that moves byte by byte and knows its line and column.
struct TextCursor {
    private let bytes: [UInt8]
    private(set) var offset = 0
    private var line = 1
    private var lineStart = 0
    /// How many bytes on this line are continuation bytes of UTF-8. With it, a column in scalars is known without
    /// reading the line again.
    private var continuationCount = 0

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    var position: TextPosition {
        TextPosition(line: line, column: offset - lineStart - continuationCount + 1, byteOffset: offset)
    }

    /// The byte here, or nil at the end.
    var byte: UInt8? { offset < bytes.count ? bytes[offset] : nil }

    /// The byte at this distance after the cursor, or nil beyond the end.
    func byte(ahead distance: Int) -> UInt8? {
        distance < bytes.count - offset ? bytes[offset + distance] : nil
    }

    /// The bytes from an earlier offset up to the cursor.
    func bytes(since start: Int) -> ArraySlice<UInt8> { bytes[start..<offset] }

    /// Moves past one byte; at the end it does nothing.
    mutating func advance() {
        guard let passed = byte else { return }
        offset += 1
        if passed & 0xC0 == 0x80 {
            continuationCount += 1
        } else if passed == UInt8(ascii: "\n") || passed == UInt8(ascii: "\r") && byte != UInt8(ascii: "\n") {
            line += 1
            lineStart = offset
            continuationCount = 0
        }
    }

    /// Moves past the plain text of a string, up to the quote, a backslash or a control character.
    mutating func advanceOverPlainText(upTo quote: UInt8) {
        let bytes = bytes
        let text = bytes.span
        var end = offset
        while end < text.count {
            if let word = text.word(at: end), word.isPlainText(upTo: quote) {
                end += 8
                continue
            }
            let byte = text[end]
            guard byte != quote, byte != UInt8(ascii: "\\"), byte >= 0x20 else { break }
            if byte & 0xC0 == 0x80 { continuationCount += 1 }
            end += 1
        }
        offset = end
    }

    mutating func advance(by count: Int) {
        for _ in 0..<count { advance() }
    }
}

/// A place in a text, for messages that name line and column.
package struct TextPosition: Hashable, Sendable, CustomStringConvertible {
    /// The start of a text.
    package static let start = TextPosition(line: 1, column: 1, byteOffset: 0)

    // Each value of a text has a position, so positions are small. No text has 4 GiB.
    private let lineNumber: UInt32
    private let columnNumber: UInt32
    private let offset: UInt32

    /// The line, counted from 1; a line ends with LF, CR or CR LF.
    package var line: Int { Int(lineNumber) }

    /// The column, counted from 1 in Unicode scalars.
    package var column: Int { Int(columnNumber) }

    /// The number of bytes before this place.
    package var byteOffset: Int { Int(offset) }

    /// The place with these coordinates. It is not checked that they belong together.
    package init(line: Int, column: Int, byteOffset: Int) {
        lineNumber = UInt32(clamping: line)
        columnNumber = UInt32(clamping: column)
        offset = UInt32(clamping: byteOffset)
    }

    /// "line 3, column 14".
    package var description: String { "line \(line), column \(column)" }
}
