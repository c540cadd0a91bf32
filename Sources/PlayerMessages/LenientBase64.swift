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
    /// is impossible.
    static func decode(_ text: ArraySlice<UInt8>, blank: Blank = .ignored) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3 + 2)
        var group: UInt32 = 0
        var digitCount = 0
        var paddingCount = 0
        for character in text {
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
            if digitCount.isMultiple(of: 4) {
                bytes.append(UInt8(truncatingIfNeeded: group >> 16))
                bytes.append(UInt8(truncatingIfNeeded: group >> 8))
                bytes.append(UInt8(truncatingIfNeeded: group))
                group = 0
            }
        }
        switch digitCount % 4 {
        case 0: return paddingCount == 0 ? bytes : nil
        case 2 where paddingCount == 0 || paddingCount == 2:
            guard group & 0xF == 0 else { return nil }
            bytes.append(UInt8(truncatingIfNeeded: group >> 4))
        case 3 where paddingCount <= 1:
            guard group & 0x3 == 0 else { return nil }
            bytes.append(UInt8(truncatingIfNeeded: group >> 10))
            bytes.append(UInt8(truncatingIfNeeded: group >> 2))
        default: return nil
        }
        return bytes
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
