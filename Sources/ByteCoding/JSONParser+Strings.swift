/// Strings and their escapes (RFC 8259 section 7).
extension JSONParser {
    /// Reads the string that begins with the quote here; the same quote ends it.
    mutating func parseString() throws(JSONError) -> String {
        guard let quote = cursor.byte else { throw .unexpectedEnd(at: cursor.position) }
        cursor.advance()
        var start = cursor.offset
        cursor.advanceOverPlainText(upTo: quote)
        // Most strings have no escapes: they end here, and are copied only once.
        if cursor.byte == quote {
            let text = String(decoding: cursor.bytes(since: start), as: UTF8.self)
            cursor.advance()
            return text
        }
        var text: [UInt8] = []
        while let byte = cursor.byte {
            text.append(contentsOf: cursor.bytes(since: start))
            if byte == quote {
                cursor.advance()
                return String(decoding: text, as: UTF8.self)
            }
            guard byte == UInt8(ascii: "\\") else { throw .controlCharacter(at: cursor.position) }
            text.append(contentsOf: Character(try parseEscape()).utf8)
            start = cursor.offset
            cursor.advanceOverPlainText(upTo: quote)
        }
        throw .unexpectedEnd(at: cursor.position)
    }

    private mutating func parseEscape() throws(JSONError) -> Unicode.Scalar {
        let position = cursor.position
        cursor.advance()
        guard let selector = cursor.byte else { throw .unexpectedEnd(at: cursor.position) }
        cursor.advance()
        switch selector {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(selector)
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"): return try parseScalar(position)
        default: return try parseJSON5Escape(selector, position)
        }
    }

    private mutating func parseJSON5Escape(
        _ selector: UInt8, _ position: TextPosition
    ) throws(JSONError) -> Unicode.Scalar {
        guard isJSON5 else { throw .invalidEscape(at: position) }
        switch selector {
        case UInt8(ascii: "'"): return "'"
        case UInt8(ascii: "v"): return "\u{B}"
        case UInt8(ascii: "x"):
            guard let scalar = Unicode.Scalar(try parseHexadecimal(digitCount: 2, position)) else {
                throw .invalidEscape(at: position)
            }
            return scalar
        default: throw .invalidEscape(at: position)
        }
    }

    /// Reads what follows "\u": one unit of UTF-16, or two that together make one scalar.
    private mutating func parseScalar(_ position: TextPosition) throws(JSONError) -> Unicode.Scalar {
        let unit = try parseHexadecimal(digitCount: 4, position)
        if let scalar = Unicode.Scalar(unit) { return scalar }
        guard unit < 0xDC00 else { throw .invalidEscape(at: position) }
        for expected in [UInt8(ascii: "\\"), UInt8(ascii: "u")] {
            guard let byte = cursor.byte else { throw .unexpectedEnd(at: cursor.position) }
            guard byte == expected else { throw .invalidEscape(at: position) }
            cursor.advance()
        }
        let second = try parseHexadecimal(digitCount: 4, position)
        guard (0xDC00...0xDFFF).contains(second),
            let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (second - 0xDC00))
        else { throw .invalidEscape(at: position) }
        return scalar
    }

    private mutating func parseHexadecimal(digitCount: Int, _ position: TextPosition) throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<digitCount {
            guard let byte = cursor.byte else { throw .unexpectedEnd(at: cursor.position) }
            guard let digit = Hexadecimal.value(ofDigit: byte) else { throw .invalidEscape(at: position) }
            value = value << 4 | UInt32(digit)
            cursor.advance()
        }
        return value
    }
}
