/// Base 16 (RFC 4648 section 8): two digits for each byte, the most significant first, and nothing else.
///
/// Neither direction runs in constant time. Use it on secrets only where no outsider can measure the time, such as at
/// start-up.
public enum Hexadecimal {
    /// Encodes bytes as lower-case digits.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        encodeArray(Array(bytes))
    }

    /// Encodes 16 bytes as 32 lower-case digits.
    package static func encode(_ bytes: Bytes16) -> String {
        String(asciiOfSize: 32) { append(bytes, to: &$0) }
    }

    /// Appends 32 lower-case digits, for which `text` must have room.
    static func append(_ bytes: Bytes16, to text: inout OutputSpan<UInt8>) {
        append(bytes.high, to: &text)
        append(bytes.low, to: &text)
    }

    /// Appends 16 lower-case digits, for which `text` must have room.
    static func append(_ number: UInt64, to text: inout OutputSpan<UInt8>) {
        for shift in stride(from: UInt64(60), through: 0, by: -4) {
            text.append(digit(of: UInt8(truncatingIfNeeded: number >> shift) & 0x0F))
        }
    }

    /// Decodes digits of either case, without prefix, separators or white space.
    ///
    /// Throws `invalidLength` for an odd number of digits and `invalidCharacter` for anything that is not a digit.
    package static func decode(_ text: String) throws(TextCodingError) -> [UInt8] {
        try decode(Array(text.utf8))
    }

    /// Decodes digits that are given as bytes, for secrets that must not become a `String`. Otherwise as for text.
    package static func decode(_ text: [UInt8]) throws(TextCodingError) -> [UInt8] {
        guard text.count.isMultiple(of: 2) else { throw .invalidLength(text.count) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 2)
        for offset in stride(from: 0, to: text.count, by: 2) {
            guard let high = value(ofDigit: text[offset]) else { throw .invalidCharacter(offset: offset) }
            guard let low = value(ofDigit: text[offset + 1]) else { throw .invalidCharacter(offset: offset + 1) }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// The lower-case digit of a value from 0 to 15.
    static func digit(of value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") - 10 + value
    }

    /// The value of a digit of either case, or nil for any other byte.
    @inlinable
    public static func value(ofDigit digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    // Works on a concrete type: a generic loop costs about 100 ns per byte when it is called from another module,
    // while the cost of copying an array into an array is negligible.
    private static func encodeArray(_ bytes: [UInt8]) -> String {
        String(asciiOfSize: bytes.count * 2) { digits in
            for byte in bytes {
                digits.append(digit(of: byte >> 4))
                digits.append(digit(of: byte & 0x0F))
            }
        }
    }

}
