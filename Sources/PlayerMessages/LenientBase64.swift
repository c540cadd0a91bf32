import ByteCoding

/// Base64 as players write it: both alphabets, also mixed, with padding or without, with line ends and blanks within
/// (clients, section 2).
///
/// What comes out is an SPC, which has an integrity value of its own. So a lenient reader harms nothing here; tokens
/// and stored keys are read by `Base64` and `Base64URL`, which know one spelling only.
enum LenientBase64 {
    /// What a blank stands for.
    enum Blank {
        /// Nothing, as in wrapped text.
        case ignored
        /// A plus that a form decoder has replaced.
        case plus
    }

    /// Nil if a character belongs to neither alphabet, if padding stands elsewhere than at the end, or if the length
    /// is impossible. If the text may have `escapes`, each of its characters may be percent-encoded.
    static func decode(_ text: ArraySlice<UInt8>, blank: Blank = .ignored, escapes: Bool = false) -> [UInt8]? {
        let values = values
        var bytes = [UInt8](repeating: 0, count: text.count / 4 * 3 + 3)
        var count = 0
        var group: UInt32 = 0
        var digitCount = 0
        var paddingCount = 0
        var index = text.startIndex
        while index < text.endIndex {
            if digitCount == 0, paddingCount == 0 {
                index = decodeGroups(of: text, from: index, values, into: &bytes, &count)
                guard index < text.endIndex else { break }
            }
            var character = text[index]
            index += 1
            if escapes, character == UInt8(ascii: "%"), let escaped = escapedCharacter(in: text[index...]) {
                character = escaped
                index += 2
            }
            switch character {
            case 0x0D, 0x0A, 0x09: continue
            case 0x20 where blank == .ignored: continue
            case UInt8(ascii: "="):
                paddingCount += 1
                continue
            default: break
            }
            let value = values[Int(character == 0x20 ? UInt8(ascii: "+") : character)]
            guard value != notADigit, paddingCount == 0 else { return nil }
            group = group << 6 | UInt32(value)
            digitCount += 1
            if digitCount == 4 {
                store(group, in: &bytes, at: count)
                count += 3
                (group, digitCount) = (0, 0)
            }
        }
        switch digitCount {
        case 0: guard paddingCount == 0 else { return nil }
        case 2 where paddingCount == 0 || paddingCount == 2:
            guard group & 0xF == 0 else { return nil }
            bytes[count] = UInt8(truncatingIfNeeded: group >> 4)
            count += 1
        case 3 where paddingCount <= 1:
            guard group & 0x3 == 0 else { return nil }
            bytes[count] = UInt8(truncatingIfNeeded: group >> 10)
            bytes[count + 1] = UInt8(truncatingIfNeeded: group >> 2)
            count += 2
        default: return nil
        }
        bytes.removeLast(bytes.count - count)
        return bytes
    }

    /// The character that two hexadecimal digits stand for; nil if the text does not begin with two.
    private static func escapedCharacter(in text: ArraySlice<UInt8>) -> UInt8? {
        guard text.count >= 2, let high = Hexadecimal.value(ofDigit: text[text.startIndex]),
            let low = Hexadecimal.value(ofDigit: text[text.startIndex + 1])
        else { return nil }
        return high << 4 | low
    }

    /// Decodes four digits at a time, up to the first four that are not all digits. Returns where those are.
    private static func decodeGroups(
        of text: ArraySlice<UInt8>, from start: Int, _ values: [UInt8], into bytes: inout [UInt8], _ count: inout Int
    ) -> Int {
        var index = start
        while text.endIndex - index >= 4 {
            let first = values[Int(text[index])]
            let second = values[Int(text[index + 1])]
            let third = values[Int(text[index + 2])]
            let fourth = values[Int(text[index + 3])]
            // The value of a digit has six bits. Any other byte has the value 0xFF.
            guard (first | second | third | fourth) & 0xC0 == 0 else { break }
            store(
                UInt32(first) << 18 | UInt32(second) << 12 | UInt32(third) << 6 | UInt32(fourth), in: &bytes, at: count)
            count += 3
            index += 4
        }
        return index
    }

    /// The three bytes of four digits.
    private static func store(_ group: UInt32, in bytes: inout [UInt8], at offset: Int) {
        bytes[offset] = UInt8(truncatingIfNeeded: group >> 16)
        bytes[offset + 1] = UInt8(truncatingIfNeeded: group >> 8)
        bytes[offset + 2] = UInt8(truncatingIfNeeded: group)
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
