/// Eight bytes of a text that are examined at once. This saves time, because each body is searched several times.
struct ByteWord {
    private static let ones: UInt64 = 0x0101_0101_0101_0101
    private static let topBits: UInt64 = 0x8080_8080_8080_8080

    /// The first byte of the text is the least significant one.
    private let bits: UInt64

    init(_ bits: UInt64) {
        self.bits = bits
    }

    /// How many bytes come before the first one that equals `byte`; nil if the word does not contain it.
    func offset(of byte: UInt8) -> Int? {
        let difference = bits ^ Self.ones &* UInt64(byte)
        // The lowest of these bits is in the first byte that is zero. A borrow may set further bits above it.
        let zeros = (difference &- Self.ones) & ~difference & Self.topBits
        return zeros == 0 ? nil : zeros.trailingZeroBitCount / 8
    }

    /// Whether all bytes are ASCII, and there is no control character below 0x20, no `quote` and no backslash.
    func isPlainText(upTo quote: UInt8) -> Bool {
        let quotes = bits ^ Self.ones &* UInt64(quote)
        let backslashes = bits ^ Self.ones &* UInt64(UInt8(ascii: "\\"))
        // Each subtraction sets the top bit of the first byte that is too small. It sets no top bit if no byte is too
        // small.
        let tooSmall = (bits &- Self.ones &* 0x20) | (quotes &- Self.ones) | (backslashes &- Self.ones)
        return (bits | tooSmall) & Self.topBits == 0
    }
}

extension Span<UInt8> {
    /// The eight bytes that begin at an offset; nil if there are fewer.
    func word(at offset: Int) -> ByteWord? {
        guard offset >= 0, count - offset >= 8 else { return nil }
        // Safe: at least eight bytes follow the offset.
        return ByteWord(UInt64(littleEndian: unsafe bytes.unsafeLoadUnaligned(fromByteOffset: offset, as: UInt64.self)))
    }

    /// The index of the first byte from `start` on that equals `byte`; nil if there is no such byte.
    package func firstIndex(of byte: UInt8, from start: Int = 0) -> Int? {
        var index = start
        while let word = word(at: index) {
            if let offset = word.offset(of: byte) { return index + offset }
            index += 8
        }
        while index < count {
            if self[index] == byte { return index }
            index += 1
        }
        return nil
    }
}
