/// The grammar that a text follows.
package enum JSONDialect: Sendable {
    /// RFC 8259 and nothing else, for everything that comes from outside.
    case strict

    /// The part of JSON5 (spec.json5.org) that people need in a configuration file: comments, trailing commas, unquoted
    /// ASCII names, single quotes, hexadecimal numbers, a leading "+" or ".", a trailing ".".
    ///
    /// Left out, so that typing errors are found: `Infinity` and `NaN`, strings over several lines, a backslash before
    /// a character that needs no escape, and raw control characters.
    case json5
}

/// Limits on the size, the depth and the number of values of a text.
package struct JSONLimits: Sendable {
    /// The most bytes that a text may have. Parsing needs at most about 60 times as much memory.
    package var sizeMaximum: Int

    /// The most arrays and objects that may be nested in one another; at most 128.
    package var depthMaximum: Int

    /// The most values, each array and object and each of their values counted. A short text can have very many, and
    /// each costs far more time and memory than its bytes.
    package var valueCountMaximum: Int

    /// Without arguments 64 KiB and 16 levels, which is plenty for claims and request bodies, and any number of values.
    package init(sizeMaximum: Int = 65_536, depthMaximum: Int = 16, valueCountMaximum: Int = .max) {
        self.sizeMaximum = sizeMaximum
        self.depthMaximum = depthMaximum
        self.valueCountMaximum = valueCountMaximum
    }
}

/// The only reader of JSON in the project. It refuses texts that other readers could understand differently.
package enum JSONReader {
    /// Reads a text that is one value, of any kind, with white space around it.
    ///
    /// It is stricter than the grammar: it also refuses repeated member names, bytes that are not UTF-8, escapes of
    /// half a surrogate pair, numbers of more than 128 bytes, and everything that exceeds the limits. In strict texts
    /// it refuses a byte order mark.
    package static func parse(
        _ bytes: [UInt8], dialect: JSONDialect = .strict, limits: JSONLimits = JSONLimits()
    ) throws(JSONError) -> JSONNode {
        precondition((0...128).contains(limits.depthMaximum), "the reader recurses once for each level")
        guard bytes.count <= limits.sizeMaximum else {
            throw .tooLarge(size: bytes.count, maximum: limits.sizeMaximum)
        }
        try requireUTF8(bytes)
        var parser = JSONParser(bytes: bytes, dialect: dialect, limits: limits)
        return try parser.parseDocument()
    }

    /// Checks the whole text first, so that the parser can copy strings without checking them.
    private static func requireUTF8(_ bytes: [UInt8]) throws(JSONError) {
        do throws(UTF8.ValidationError) {
            _ = try UTF8Span(validating: bytes.span)
        } catch {
            var cursor = TextCursor(bytes: bytes)
            while cursor.offset < error.byteOffsets.lowerBound { cursor.advance() }
            throw .invalidUTF8(at: cursor.position)
        }
    }
}

/// Why a text is not acceptable JSON, and where.
///
/// No case carries any part of the text, because the text may hold secrets.
package enum JSONError: Error, Equatable, Sendable {
    /// The text has more bytes than the limits allow. It was not parsed.
    case tooLarge(size: Int, maximum: Int)

    /// The bytes from here on are not UTF-8.
    case invalidUTF8(at: TextPosition)

    /// The text ends within a value or a comment. The position is the end of the text, or the beginning of the comment.
    case unexpectedEnd(at: TextPosition)

    /// The grammar does not allow this character here.
    case unexpectedCharacter(at: TextPosition)

    /// Another member or element, or the end of the container, needs a comma or a bracket here.
    case commaMissing(at: TextPosition)

    /// A colon is needed here, between a member's name and its value.
    case colonMissing(at: TextPosition)

    /// Something other than white space follows the complete value.
    case trailingContent(at: TextPosition)

    /// This array or object is nested deeper than the limits allow.
    case tooDeep(at: TextPosition)

    /// The text has more values than the limits allow. The position is where the first one too many begins.
    case tooManyValues(at: TextPosition)

    /// The object already has a member of this name. The positions are where the second and the first name begin.
    case duplicateMember(at: TextPosition, first: TextPosition)

    /// The text begins like a number here, but is not a valid one, or is too long.
    case invalidNumber(at: TextPosition)

    /// A string has a control character that is not escaped, or does not end on its line.
    case controlCharacter(at: TextPosition)

    /// The escape sequence does not exist, or stands for half a surrogate pair.
    case invalidEscape(at: TextPosition)
}

extension JSONError: CustomStringConvertible {
    /// One line for people, with line and column and no part of the text.
    package var description: String {
        switch self {
        case .tooLarge(let size, let maximum): "\(size) bytes, but at most \(maximum) are allowed"
        case .invalidUTF8(let position): "\(position): not UTF-8"
        case .unexpectedEnd(let position):
            "\(position): the text ends before its last bracket, quote or comment is closed"
        case .unexpectedCharacter(let position):
            "\(position): unexpected character; no name or value begins with it (a text stands in straight quotes)"
        case .commaMissing(let position):
            "\(position): expected a comma or a closing bracket before this; add the comma after the value before it"
        case .colonMissing(let position):
            "\(position): expected a colon here, between a name and its value, as in name: \"value\""
        case .trailingContent(let position): "\(position): something follows the value"
        case .tooDeep(let position): "\(position): nested too deep"
        case .tooManyValues(let position): "\(position): too many values"
        case .duplicateMember(let position, let first):
            "\(position): the object already has a member of this name, at \(first)"
        case .invalidNumber(let position): "\(position): not a number"
        case .controlCharacter(let position):
            "\(position): a line end or control character in a string; close the string with the quote that began it"
        case .invalidEscape(let position): "\(position): invalid escape sequence"
        }
    }
}
