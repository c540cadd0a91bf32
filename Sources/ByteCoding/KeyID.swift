/// The 16-byte identifier of a content key (ISO/IEC 23001-7: KID).
///
/// The bytes have the order of the printed UUID. Identifiers sort by their bytes, which is also the order of their
/// descriptions.
package struct KeyID: Hashable, Sendable {
    /// The size of an identifier in bytes.
    package static let size = 16

    /// The identifier as two words.
    package let words: Bytes16

    /// Any 16 bytes are an identifier.
    package init(words: Bytes16) {
        self.words = words
    }

    /// An identifier of exactly 16 bytes; nil for any other number of bytes.
    package init?(bytes: some Sequence<UInt8>) {
        guard let words = Bytes16(Array(bytes)) else { return nil }
        self.init(words: words)
    }

    /// Parses a UUID with its hyphens, or 32 hexadecimal digits. Either case is accepted, but no white space or braces.
    ///
    /// Throws `invalidLength` unless the text has 36 or 32 bytes, and `invalidCharacter` with an offset in the text.
    package init(parsing text: String) throws(TextCodingError) {
        var digits = Array(text.utf8)
        guard digits.count == 36 || digits.count == 32 else { throw .invalidLength(digits.count) }
        let isHyphenated = digits.count == 36
        if isHyphenated {
            for offset in Self.hyphenOffsets where digits[offset] != UInt8(ascii: "-") {
                throw .invalidCharacter(offset: offset)
            }
            for offset in Self.hyphenOffsets.reversed() { digits.remove(at: offset) }
        }
        do {
            // 32 digits decode to 16 bytes.
            self.init(words: Bytes16(try Hexadecimal.decode(digits), at: 0))
        } catch .invalidCharacter(let offset) where isHyphenated {
            throw .invalidCharacter(offset: offset + Self.hyphenCount(beforeDigit: offset))
        }
    }

    /// The 16 bytes.
    package var bytes: [UInt8] { words.bytes }

    /// The 32 lower-case hexadecimal digits, without hyphens.
    package var hexadecimal: String { Hexadecimal.encode(bytes) }

    /// The offsets of the hyphens in the text of a UUID (RFC 9562 section 4).
    private static let hyphenOffsets = [8, 13, 18, 23]

    /// How many hyphens a UUID has before the digit at this offset among its 32 digits.
    private static func hyphenCount(beforeDigit offset: Int) -> Int {
        hyphenOffsets.enumerated().count { index, hyphenOffset in offset >= hyphenOffset - index }
    }
}

extension KeyID: Comparable {
    /// Orders identifiers by their bytes.
    package static func < (left: KeyID, right: KeyID) -> Bool {
        (left.words.high, left.words.low) < (right.words.high, right.words.low)
    }
}

extension KeyID: CustomStringConvertible {
    /// The lower-case UUID: digits in groups of 8, 4, 4, 4 and 12.
    package var description: String {
        var text = Array(hexadecimal.utf8)
        for offset in Self.hyphenOffsets { text.insert(UInt8(ascii: "-"), at: offset) }
        return String(decoding: text, as: UTF8.self)
    }
}
