/// Which grammar a text follows.
package enum JSONDialect: Sendable {
    /// RFC 8259 and nothing else, for everything that comes from outside.
    case strict

    /// The part of JSON5 (spec.json5.org) that people need in a configuration file: comments, trailing commas, unquoted
    /// ASCII names, single quotes, hexadecimal numbers, a leading "+" or ".", a trailing ".".
    ///
    /// Left out, because a typing error must not pass: `Infinity` and `NaN`, strings over several lines, escapes that
    /// stand for themselves, raw control characters.
    case json5
}

/// What a text may cost.
package struct JSONLimits: Sendable {
    /// The most bytes that a text may have; memory stays below about 60 times as many.
    package var sizeMaximum: Int

    /// The most arrays and objects that may lie within one another, at most 128.
    package var depthMaximum: Int

    /// 64 KiB and 16 levels, which is plenty for claims and bodies, unless told otherwise.
    package init(sizeMaximum: Int = 65_536, depthMaximum: Int = 16) {
        self.sizeMaximum = sizeMaximum
        self.depthMaximum = depthMaximum
    }
}

/// The one reader of JSON: every text has one meaning or none.
package enum JSONReader {
    /// Reads a text that is one value, of any kind, with white space around it.
    ///
    /// Refused beyond the grammar: repeated member names, bytes that are not UTF-8, escapes of half a surrogate pair,
    /// numbers of more than 128 bytes, and everything that exceeds the limits. A byte order mark is refused in strict
    /// texts.
    package static func parse(
        _ bytes: [UInt8], dialect: JSONDialect = .strict, limits: JSONLimits = JSONLimits()
    ) throws(JSONError) -> JSONNode {
        precondition((0...128).contains(limits.depthMaximum), "the reader recurses once for each level")
        guard bytes.count <= limits.sizeMaximum else {
            throw .tooLarge(size: bytes.count, maximum: limits.sizeMaximum)
        }
        try requireUTF8(bytes)
        var parser = JSONParser(bytes: bytes, dialect: dialect, depthMaximum: limits.depthMaximum)
        return try parser.parseDocument()
    }

    /// Checks the whole text at once, so that the parser may take strings out of it as they are.
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
    /// The text has more bytes than the limits allow; nothing of it was read.
    case tooLarge(size: Int, maximum: Int)

    /// The bytes from here on are not UTF-8.
    case invalidUTF8(at: TextPosition)

    /// The text ends within a value; the position is its end, or where a comment that never ends begins.
    case unexpectedEnd(at: TextPosition)

    /// The grammar has no place for this character.
    case unexpectedCharacter(at: TextPosition)

    /// The value is complete, and something other than white space follows.
    case trailingContent(at: TextPosition)

    /// This array or object is nested deeper than the limits allow.
    case tooDeep(at: TextPosition)

    /// The object has a member of this name already; the position is the second name.
    case duplicateMember(at: TextPosition)

    /// The text here begins like a number but is not one, or it is longer than a number may be.
    case invalidNumber(at: TextPosition)

    /// A string has a control character that is not escaped, or does not end on its line.
    case controlCharacter(at: TextPosition)

    /// There is no such escape sequence, or it names half a surrogate pair.
    case invalidEscape(at: TextPosition)
}

extension JSONError: CustomStringConvertible {
    /// One line for people, with line and column and no part of the text.
    package var description: String {
        switch self {
        case .tooLarge(let size, let maximum): "\(size) bytes are more than the \(maximum) that are allowed"
        case .invalidUTF8(let position): "\(position): not UTF-8"
        case .unexpectedEnd(let position): "\(position): the text ends too early"
        case .unexpectedCharacter(let position): "\(position): unexpected character"
        case .trailingContent(let position): "\(position): something follows the value"
        case .tooDeep(let position): "\(position): nested too deep"
        case .duplicateMember(let position): "\(position): this member is there already"
        case .invalidNumber(let position): "\(position): not a number"
        case .controlCharacter(let position): "\(position): control character in a string"
        case .invalidEscape(let position): "\(position): invalid escape sequence"
        }
    }
}
