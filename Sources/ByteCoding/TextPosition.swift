/// A place in a text, for messages that name line and column.
package struct TextPosition: Hashable, Sendable, CustomStringConvertible {
    /// The start of a text.
    package static let start = TextPosition(line: 1, column: 1, byteOffset: 0)

    /// The line, counted from 1; a line ends with LF, CR or CR LF.
    package let line: Int

    /// The column, counted from 1 in Unicode scalars.
    package let column: Int

    /// The number of bytes before this place.
    package let byteOffset: Int

    /// The place with these coordinates; they are not checked against one another.
    package init(line: Int, column: Int, byteOffset: Int) {
        self.line = line
        self.column = column
        self.byteOffset = byteOffset
    }

    /// "line 3, column 14".
    package var description: String { "line \(line), column \(column)" }
}
