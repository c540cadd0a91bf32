/// Parses a text that is known to be UTF-8, in one pass. This file has values, arrays and objects; extensions in other
/// files parse strings and numbers.
struct JSONParser {
    let dialect: JSONDialect
    private let depthMaximum: Int
    private var valuesLeft: Int
    var cursor: TextCursor

    init(bytes: [UInt8], dialect: JSONDialect, limits: JSONLimits) {
        self.dialect = dialect
        depthMaximum = limits.depthMaximum
        valuesLeft = limits.valueCountMaximum
        cursor = TextCursor(bytes: bytes)
    }

    var isJSON5: Bool {
        switch dialect {
        case .strict: false
        case .json5: true
        }
    }

    mutating func parseDocument() throws(JSONError) -> JSONNode {
        try skipTrivia()
        let node = try parseValue(depth: 0)
        try skipTrivia()
        guard cursor.byte == nil else { throw .trailingContent(at: cursor.position) }
        return node
    }

    /// Reads the value that begins here; `depth` counts the containers around it.
    private mutating func parseValue(depth: Int) throws(JSONError) -> JSONNode {
        let position = cursor.position
        guard let first = cursor.byte else { throw .unexpectedEnd(at: position) }
        guard valuesLeft > 0 else { throw .tooManyValues(at: position) }
        valuesLeft -= 1
        let value: JSONValue
        switch first {
        case UInt8(ascii: "{"): value = .object(try parseObject(depth: depth + 1))
        case UInt8(ascii: "["): value = .array(try parseArray(depth: depth + 1))
        case UInt8(ascii: "\""): value = .string(try parseString())
        case UInt8(ascii: "'") where isJSON5: value = .string(try parseString())
        case UInt8(ascii: "n"): value = try parseWord("null", meaning: .null)
        case UInt8(ascii: "t"): value = try parseWord("true", meaning: .bool(true))
        case UInt8(ascii: "f"): value = try parseWord("false", meaning: .bool(false))
        default: value = .number(try parseNumber())
        }
        return JSONNode(value: value, position: position)
    }

    private mutating func parseArray(depth: Int) throws(JSONError) -> [JSONNode] {
        try enterContainer(depth: depth)
        var elements: [JSONNode] = []
        if skip("]") { return elements }
        repeat {
            elements.append(try parseValue(depth: depth))
        } while try continuesContainer(closedBy: "]")
        return elements
    }

    private mutating func parseObject(depth: Int) throws(JSONError) -> JSONObject {
        try enterContainer(depth: depth)
        var object = JSONObject()
        if skip("}") { return object }
        repeat {
            object.append(try parseMember(of: object, depth: depth))
        } while try continuesContainer(closedBy: "}")
        object.finish()
        return object
    }

    private mutating func parseMember(of object: JSONObject, depth: Int) throws(JSONError) -> JSONMember {
        let position = cursor.position
        let name = try parseName()
        guard !object.contains(name) else {
            throw .duplicateMember(at: position, first: object.namePosition(of: name) ?? position)
        }
        try skipTrivia()
        guard skip(":") else { throw missing(.colonMissing(at: cursor.position)) }
        try skipTrivia()
        return JSONMember(name: name, namePosition: position, node: try parseValue(depth: depth))
    }

    private mutating func parseName() throws(JSONError) -> String {
        switch cursor.byte {
        case UInt8(ascii: "\""): return try parseString()
        case UInt8(ascii: "'") where isJSON5: return try parseString()
        default:
            let start = cursor.offset
            while isJSON5, let byte = cursor.byte, Self.isNameByte(byte, isFirst: cursor.offset == start) {
                cursor.advance()
            }
            guard cursor.offset > start else { throw unexpected() }
            return String(decoding: cursor.bytes(since: start), as: UTF8.self)
        }
    }

    private mutating func parseWord(_ word: String, meaning: JSONValue) throws(JSONError) -> JSONValue {
        for expected in word.utf8 {
            guard cursor.byte == expected else { throw unexpected() }
            cursor.advance()
        }
        return meaning
    }

    private mutating func enterContainer(depth: Int) throws(JSONError) {
        guard depth <= depthMaximum else { throw .tooDeep(at: cursor.position) }
        cursor.advance()
        try skipTrivia()
    }

    /// To be called after an element: true if another one begins here, false if the container has ended.
    private mutating func continuesContainer(closedBy close: Unicode.Scalar) throws(JSONError) -> Bool {
        try skipTrivia()
        if skip(close) { return false }
        guard skip(",") else { throw missing(.commaMissing(at: cursor.position)) }
        try skipTrivia()
        return !(isJSON5 && skip(close))
    }

    mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard cursor.byte == UInt8(ascii: character) else { return false }
        cursor.advance()
        return true
    }

    /// The error for a character that is not allowed here, or for the end of the text.
    func unexpected() -> JSONError { missing(.unexpectedCharacter(at: cursor.position)) }

    /// This error, or that of the end of the text.
    private func missing(_ error: JSONError) -> JSONError {
        cursor.byte == nil ? .unexpectedEnd(at: cursor.position) : error
    }

    /// ECMAScript's IdentifierName, reduced to ASCII and without escapes.
    private static func isNameByte(_ byte: UInt8, isFirst: Bool) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "_"),
            UInt8(ascii: "$"):
            true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): !isFirst
        default: false
        }
    }
}

/// White space and comments.
extension JSONParser {
    /// Skips white space, and in JSON5 also comments and a byte order mark at the start.
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
