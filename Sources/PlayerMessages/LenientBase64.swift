import ByteCoding

/// Decodes Base64 as players write it: both alphabets, also mixed, with or without padding, with line ends and spaces
/// inside (clients, section 2).
///
/// It is used for SPCs only, which have an integrity value of their own. So accepting several spellings does no harm.
/// Tokens and stored keys are read by `Base64` and `Base64URL`, which accept only one spelling.
enum LenientBase64 {
    /// What a space stands for.
    enum Blank {
        /// It is ignored, as in wrapped text.
        case ignored
        /// It is a plus that a form decoder has replaced.
        case plus
    }

    /// Decodes a text. If `escapes` is true, each character may be percent-encoded.
    ///
    /// Returns nil if a character belongs to neither alphabet, if padding is not at the end, or if the length is
    /// impossible.
    static func decode(_ text: Span<UInt8>, blank: Blank = .ignored, escapes: Bool = false) -> [UInt8]? {
        var isBase64 = false
        let bytes = [UInt8](capacity: text.count / 4 * 3 + 3) { bytes in
            isBase64 = decode(text, blank: blank, escapes: escapes, values.span, into: &bytes)
        }
        return isBase64 ? bytes : nil
    }

    /// Decodes a text into `bytes`, which has room for three bytes for every four characters, and three more. Returns
    /// false if the text is not Base64.
    private static func decode(
        _ text: Span<UInt8>, blank: Blank, escapes: Bool, _ values: Span<UInt8>, into bytes: inout OutputSpan<UInt8>
    ) -> Bool {
        var group: UInt32 = 0
        var digitCount = 0
        var paddingCount = 0
        var index = 0
        while index < text.count {
            if digitCount == 0, paddingCount == 0 {
                index = decodeGroups(of: text, from: index, values, into: &bytes)
                guard index < text.count else { break }
            }
            var character = text[index]
            index += 1
            if escapes, character == UInt8(ascii: "%"), let escaped = escapedCharacter(in: text, at: index) {
                character = escaped
                index += 2
            }
            let value = values[Int(character == 0x20 && blank == .plus ? UInt8(ascii: "+") : character)]
            guard value == notADigit else {
                guard paddingCount == 0 else { return false }
                group = group << 6 | UInt32(value)
                digitCount += 1
                if digitCount == 4 {
                    append(group, to: &bytes)
                    (group, digitCount) = (0, 0)
                }
                continue
            }
            switch character {
            case 0x0D, 0x0A, 0x09, 0x20: continue
            case UInt8(ascii: "="): paddingCount += 1
            default: return false
            }
        }
        switch digitCount {
        case 0: return paddingCount == 0
        case 2 where paddingCount == 0 || paddingCount == 2:
            bytes.append(UInt8(truncatingIfNeeded: group >> 4))
            return group & 0xF == 0
        case 3 where paddingCount <= 1:
            bytes.append(UInt8(truncatingIfNeeded: group >> 10))
            bytes.append(UInt8(truncatingIfNeeded: group >> 2))
            return group & 0x3 == 0
        default: return false
        }
    }

    /// The character that two hexadecimal digits stand for; nil if there are not two digits at this index.
    private static func escapedCharacter(in text: Span<UInt8>, at index: Int) -> UInt8? {
        guard text.count - index >= 2, let high = Hexadecimal.value(ofDigit: text[index]),
            let low = Hexadecimal.value(ofDigit: text[index + 1])
        else { return nil }
        return high << 4 | low
    }

    /// Decodes four digits at a time, up to the first group that has another character. Returns the index of that
    /// group.
    private static func decodeGroups(
        of text: Span<UInt8>, from start: Int, _ values: Span<UInt8>, into bytes: inout OutputSpan<UInt8>
    ) -> Int {
        var index = start
        while text.count - index >= 4 {
            // Safe: the text has four more characters, and `values` has a value for each of the 256 bytes.
            let first = unsafe values[unchecked: Int(text[unchecked: index])]
            let second = unsafe values[unchecked: Int(text[unchecked: index + 1])]
            let third = unsafe values[unchecked: Int(text[unchecked: index + 2])]
            let fourth = unsafe values[unchecked: Int(text[unchecked: index + 3])]
            // The value of a digit has six bits. Any other byte has the value 0xFF.
            guard (first | second | third | fourth) & 0xC0 == 0 else { break }
            append(UInt32(first) << 18 | UInt32(second) << 12 | UInt32(third) << 6 | UInt32(fourth), to: &bytes)
            index += 4
        }
        return index
    }

    /// Appends the three bytes of four digits.
    private static func append(_ group: UInt32, to bytes: inout OutputSpan<UInt8>) {
        bytes.append(UInt8(truncatingIfNeeded: group >> 16))
        bytes.append(UInt8(truncatingIfNeeded: group >> 8))
        bytes.append(UInt8(truncatingIfNeeded: group))
    }

    private static let notADigit: UInt8 = 0xFF

    /// The value of each of the 256 bytes.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: notADigit, count: 256)
        let digits =
            Array(UInt8(ascii: "A")...UInt8(ascii: "Z")) + Array(UInt8(ascii: "a")...UInt8(ascii: "z"))
            + Array(UInt8(ascii: "0")...UInt8(ascii: "9"))
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        for plus in "+-".utf8 { values[Int(plus)] = 62 }
        for slash in "/_".utf8 { values[Int(slash)] = 63 }
        return values
    }()
}
