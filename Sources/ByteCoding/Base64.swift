/// Base64 with the standard alphabet and padding (RFC 4648 section 4).
package enum Base64 {
    /// Encodes bytes, padded to a multiple of four characters.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        Base64Alphabet.standard.encode(Array(bytes), padded: true)
    }

    /// The number of characters in the padded encoding of `byteCount` bytes.
    package static func encodedSize(of byteCount: Int) -> Int { (byteCount + 2) / 3 * 4 }

    /// Appends the padded encoding of bytes to a text, without making a `String` first.
    package static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
        Base64Alphabet.standard.append(bytes, to: &text, padded: true)
    }

    /// Decodes the canonical encoding only: full padding, no white space, and zeros in the unused bits of the last
    /// digit.
    package static func decode(_ text: String) throws(TextCodingError) -> [UInt8] {
        try decode(Array(text.utf8)[...])
    }

    /// Decodes the canonical encoding only, as for text.
    package static func decode(_ text: [UInt8]) throws(TextCodingError) -> [UInt8] {
        try decode(text[...])
    }

    /// Decodes the canonical encoding only, as for text; offsets in errors count from the start of the slice.
    package static func decode(_ text: ArraySlice<UInt8>) throws(TextCodingError) -> [UInt8] {
        try Base64Alphabet.standard.decode(text, padded: true)
    }
}

/// Base64 with the URL-safe alphabet and without padding (RFC 4648 section 5, as RFC 7515 section 2 asks of tokens).
package enum Base64URL {
    /// Encodes bytes without padding.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        Base64Alphabet.urlSafe.encode(Array(bytes), padded: false)
    }

    /// Appends the encoding of bytes to a text, without making a `String` first.
    package static func append(_ bytes: [UInt8], to text: inout [UInt8]) {
        Base64Alphabet.urlSafe.append(bytes, to: &text, padded: false)
    }

    /// Decodes the canonical encoding only: no padding, no white space, and zeros in the unused bits of the last digit.
    ///
    /// So two different texts never decode to the same bytes, and there is only one way to write a token.
    package static func decode(_ text: String) throws(TextCodingError) -> [UInt8] {
        try decode(Array(text.utf8)[...])
    }

    /// Decodes the canonical encoding only, as for text.
    package static func decode(_ text: [UInt8]) throws(TextCodingError) -> [UInt8] {
        try decode(text[...])
    }

    /// Decodes the canonical encoding only, as for text; offsets in errors count from the start of the slice.
    package static func decode(_ text: ArraySlice<UInt8>) throws(TextCodingError) -> [UInt8] {
        try Base64Alphabet.urlSafe.decode(text, padded: false)
    }
}

/// The 64 digits of one Base64 alphabet, and the conversions that both alphabets share (RFC 4648 sections 4 and 5).
struct Base64Alphabet: Sendable {
    static let standard = Base64Alphabet(lastDigits: [UInt8(ascii: "+"), UInt8(ascii: "/")])
    static let urlSafe = Base64Alphabet(lastDigits: [UInt8(ascii: "-"), UInt8(ascii: "_")])

    private static let notADigit: UInt8 = 0xFF
    private static let padding = UInt8(ascii: "=")

    private let digits: [UInt8]
    /// The value of each of the 256 bytes, or `notADigit`.
    private let values: [UInt8]

    private init(lastDigits: [UInt8]) {
        let digits =
            Array(UInt8(ascii: "A")...UInt8(ascii: "Z")) + Array(UInt8(ascii: "a")...UInt8(ascii: "z"))
            + Array(UInt8(ascii: "0")...UInt8(ascii: "9")) + lastDigits
        var values = [UInt8](repeating: Self.notADigit, count: 256)
        for (value, digit) in digits.enumerated() { values[Int(digit)] = UInt8(value) }
        self.digits = digits
        self.values = values
    }

    func encode(_ bytes: [UInt8], padded: Bool) -> String {
        String(asciiOfSize: Base64.encodedSize(of: bytes.count)) { text in
            append(bytes.span, to: &text, padded: padded)
        }
    }

    func append(_ bytes: [UInt8], to text: inout [UInt8], padded: Bool) {
        text.append(addingCapacity: Base64.encodedSize(of: bytes.count)) { text in
            append(bytes.span, to: &text, padded: padded)
        }
    }

    /// `text` must have room for four characters for each group of three bytes; an incomplete last group counts too.
    private func append(_ bytes: Span<UInt8>, to text: inout OutputSpan<UInt8>, padded: Bool) {
        let digits = digits.span
        var index = 0
        while bytes.count - index >= 3 {
            let group = UInt32(bytes[index]) << 16 | UInt32(bytes[index + 1]) << 8 | UInt32(bytes[index + 2])
            text.append(digits[Int(group >> 18)])
            text.append(digits[Int(group >> 12 & 0x3F)])
            text.append(digits[Int(group >> 6 & 0x3F)])
            text.append(digits[Int(group & 0x3F)])
            index += 3
        }
        let rest = bytes.count - index
        guard rest > 0 else { return }
        let group = UInt32(bytes[index]) << 16 | (rest == 2 ? UInt32(bytes[index + 1]) << 8 : 0)
        text.append(digits[Int(group >> 18)])
        text.append(digits[Int(group >> 12 & 0x3F)])
        if rest == 2 { text.append(digits[Int(group >> 6 & 0x3F)]) }
        if padded { text.append(repeating: Self.padding, count: 3 - rest) }
    }

    /// Decodes a text only if it is the canonical encoding of its bytes; refuses every other text.
    func decode(_ text: ArraySlice<UInt8>, padded: Bool) throws(TextCodingError) -> [UInt8] {
        let digitCount = try digitCount(of: text, padded: padded)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(digitCount / 4 * 3 + 2)
        var offset = 0
        while digitCount - offset >= 4 {
            let start = text.startIndex + offset
            let first = values[Int(text[start])]
            let second = values[Int(text[start + 1])]
            let third = values[Int(text[start + 2])]
            let fourth = values[Int(text[start + 3])]
            // The value of a digit has six bits. Any other byte has the value 0xFF.
            guard (first | second | third | fourth) & 0xC0 == 0 else { throw notADigit(in: text, from: offset) }
            let group = UInt32(first) << 18 | UInt32(second) << 12 | UInt32(third) << 6 | UInt32(fourth)
            bytes.append(UInt8(truncatingIfNeeded: group >> 16))
            bytes.append(UInt8(truncatingIfNeeded: group >> 8))
            bytes.append(UInt8(truncatingIfNeeded: group))
            offset += 4
        }
        if offset < digitCount {
            try decodeTail(of: text, at: offset, count: digitCount - offset, into: &bytes)
        }
        return bytes
    }

    /// The number of digits before the padding. Throws if the text has a length that cannot encode whole bytes.
    private func digitCount(of text: ArraySlice<UInt8>, padded: Bool) throws(TextCodingError) -> Int {
        guard padded else {
            guard text.count % 4 != 1 else { throw .invalidLength(text.count) }
            return text.count
        }
        guard text.count.isMultiple(of: 4) else { throw .invalidLength(text.count) }
        return text.count - text.suffix(2).reversed().prefix { $0 == Self.padding }.count
    }

    /// Decodes the last two or three digits: two encode one byte, three encode two. Their unused bits must be zero.
    private func decodeTail(
        of text: ArraySlice<UInt8>, at offset: Int, count: Int, into bytes: inout [UInt8]
    ) throws(TextCodingError) {
        let group = try group(of: text, at: offset, count: count)
        let surplus: UInt32 = count == 2 ? 0xFFFF : 0xFF
        guard group & surplus == 0 else { throw .trailingBitsNotZero }
        bytes.append(UInt8(truncatingIfNeeded: group >> 16))
        if count == 3 { bytes.append(UInt8(truncatingIfNeeded: group >> 8)) }
    }

    /// The error for the first byte from `offset` on that is not a digit. The caller knows that one of four is not.
    private func notADigit(in text: ArraySlice<UInt8>, from offset: Int) -> TextCodingError {
        let rest = text[(text.startIndex + offset)...]
        let found = rest.firstIndex { values[Int($0)] == Self.notADigit } ?? rest.startIndex
        return .invalidCharacter(offset: found - text.startIndex)
    }

    /// Up to four digits as one 24-bit number, the first digit in its top bits.
    private func group(of text: ArraySlice<UInt8>, at offset: Int, count: Int) throws(TextCodingError) -> UInt32 {
        var group: UInt32 = 0
        for index in 0..<count {
            let value = values[Int(text[text.startIndex + offset + index])]
            guard value != Self.notADigit else { throw .invalidCharacter(offset: offset + index) }
            group |= UInt32(value) << (18 - 6 * UInt32(index))
        }
        return group
    }
}
