/// White space and comments.
extension JSONParser {
    /// Steps over what has no meaning between two tokens.
    mutating func skipTrivia() throws(JSONError) {
        if isJSON5, cursor.offset == 0, startsWithByteOrderMark { cursor.advance(by: 3) }
        while let byte = cursor.byte {
            switch byte {
            case UInt8(ascii: " "), UInt8(ascii: "\t"), UInt8(ascii: "\n"), UInt8(ascii: "\r"): cursor.advance()
            case 0x0B where isJSON5, 0x0C where isJSON5: cursor.advance()
            case 0xC2 where isJSON5 && cursor.byte(ahead: 1) == 0xA0: cursor.advance(by: 2)
            case UInt8(ascii: "/") where isJSON5: try skipComment()
            default: return
            }
        }
    }

    private var startsWithByteOrderMark: Bool {
        cursor.byte == 0xEF && cursor.byte(ahead: 1) == 0xBB && cursor.byte(ahead: 2) == 0xBF
    }

    private mutating func skipComment() throws(JSONError) {
        switch cursor.byte(ahead: 1) {
        case UInt8(ascii: "/"):
            while let byte = cursor.byte, byte != UInt8(ascii: "\n"), byte != UInt8(ascii: "\r") { cursor.advance() }
        case UInt8(ascii: "*"): try skipBlockComment()
        default: throw .unexpectedCharacter(at: cursor.position)
        }
    }

    private mutating func skipBlockComment() throws(JSONError) {
        let position = cursor.position
        cursor.advance(by: 2)
        while let byte = cursor.byte {
            if byte == UInt8(ascii: "*"), cursor.byte(ahead: 1) == UInt8(ascii: "/") {
                cursor.advance(by: 2)
                return
            }
            cursor.advance()
        }
        throw .unexpectedEnd(at: position)
    }
}
