/// Numbers (RFC 8259 section 6, and the additional notations of JSON5).
extension JSONParser {
    /// The most bytes that a number may have, so that no conversion takes long.
    private static let numberSizeMaximum = 128

    /// Reads the number that begins here and puts it in the form of RFC 8259.
    mutating func parseNumber() throws(JSONError) -> JSONNumber {
        let position = cursor.position
        guard isNumberStart(cursor.byte) else { throw unexpected() }
        if let number = takePlainNumber() { return number }
        var text: [UInt8] = []
        if skip("-") {
            text.append(UInt8(ascii: "-"))
        } else if isJSON5 {
            _ = skip("+")
        }
        if isJSON5, cursor.byte == UInt8(ascii: "0"), cursor.byte(ahead: 1).map({ $0 | 0x20 }) == UInt8(ascii: "x") {
            try parseHexadecimalInteger(into: &text, position)
        } else {
            try parseDecimal(into: &text, position)
        }
        guard cursor.offset - position.byteOffset <= Self.numberSizeMaximum, !isNumberByte(cursor.byte) else {
            throw .invalidNumber(at: position)
        }
        return JSONNumber(text: String(decoding: text, as: UTF8.self))
    }

    /// Takes a number that consists of a few digits and nothing else, as most do; nil for any other number, and then
    /// nothing is taken.
    private mutating func takePlainNumber() -> JSONNumber? {
        let start = cursor.offset
        var count = 0
        while count < JSONNumber.plainSizeMaximum, let byte = cursor.byte(ahead: count), isDigit(byte) { count += 1 }
        guard count > 0, !isNumberByte(cursor.byte(ahead: count)), count == 1 || cursor.byte != UInt8(ascii: "0") else {
            return nil
        }
        cursor.advance(by: count)
        return JSONNumber(text: String(decoding: cursor.bytes(since: start), as: UTF8.self))
    }

    private mutating func parseDecimal(into text: inout [UInt8], _ position: TextPosition) throws(JSONError) {
        let whole = takeDigits()
        guard isJSON5 || !whole.isEmpty else { throw numberError(position) }
        guard whole.count < 2 || whole.first != UInt8(ascii: "0") else { throw .invalidNumber(at: position) }
        text.append(contentsOf: whole.isEmpty ? [UInt8(ascii: "0")] : whole)
        if skip(".") {
            let fraction = takeDigits()
            guard !fraction.isEmpty || isJSON5 && !whole.isEmpty else { throw numberError(position) }
            if !fraction.isEmpty { text.append(contentsOf: [UInt8(ascii: ".")] + fraction) }
        } else if whole.isEmpty {
            throw numberError(position)
        }
        if skip("e") || skip("E") { try parseExponent(into: &text, position) }
    }

    private mutating func parseExponent(into text: inout [UInt8], _ position: TextPosition) throws(JSONError) {
        text.append(UInt8(ascii: "e"))
        if skip("-") {
            text.append(UInt8(ascii: "-"))
        } else {
            _ = skip("+")
        }
        let digits = takeDigits()
        guard !digits.isEmpty else { throw numberError(position) }
        text.append(contentsOf: digits)
    }

    private mutating func parseHexadecimalInteger(
        into text: inout [UInt8], _ position: TextPosition
    ) throws(JSONError) {
        cursor.advance(by: 2)
        guard cursor.byte.flatMap(Hexadecimal.value(ofDigit:)) != nil else { throw numberError(position) }
        var value: UInt64 = 0
        while let digit = cursor.byte.flatMap(Hexadecimal.value(ofDigit:)) {
            guard value >> 60 == 0 else { throw .invalidNumber(at: position) }
            value = value << 4 | UInt64(digit)
            cursor.advance()
        }
        text.append(contentsOf: String(value).utf8)
    }

    private mutating func takeDigits() -> [UInt8] {
        let start = cursor.offset
        while let byte = cursor.byte, isDigit(byte) { cursor.advance() }
        return Array(cursor.bytes(since: start))
    }

    private func isNumberStart(_ byte: UInt8?) -> Bool {
        guard let byte else { return false }
        let isJSON5Start = byte == UInt8(ascii: "+") || byte == UInt8(ascii: ".")
        return isDigit(byte) || byte == UInt8(ascii: "-") || isJSON5 && isJSON5Start
    }

    /// Whether a byte directly after a number still belongs to it, so that the number is invalid.
    private func isNumberByte(_ byte: UInt8?) -> Bool {
        guard let byte else { return false }
        return switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "."), UInt8(ascii: "+"), UInt8(ascii: "-"),
            UInt8(ascii: "_"):
            true
        default: false
        }
    }

    private func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private func numberError(_ position: TextPosition) -> JSONError {
        cursor.byte == nil ? .unexpectedEnd(at: cursor.position) : .invalidNumber(at: position)
    }
}
