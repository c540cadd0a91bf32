extension UInt8 {
    /// `tchar` of RFC 9110 section 5.6.2: letters, digits and ``!#$%&'*+-.^_`|~``.
    package var isTokenCharacter: Bool {
        // One bit per code below 128, least significant first.
        let bits: UInt64 = self < 64 ? 0x03ff_6cfa_0000_0000 : self < 128 ? 0x57ff_ffff_c7ff_fffe : 0
        return bits >> UInt64(self & 63) & 1 == 1
    }

    /// Whether the byte is a control character other than the horizontal tab (RFC 9110 section 5.5).
    var isForbiddenInFieldValue: Bool { self < 0x20 && self != 0x09 || self == 0x7f }

    /// Whether the byte is a space or a horizontal tab.
    var isWhitespace: Bool { self == 0x20 || self == 0x09 }

    var isDigit: Bool { (0x30...0x39).contains(self) }

    /// The value of a hexadecimal digit; nil for other bytes.
    var hexValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x41 + 10
        case 0x61...0x66: self - 0x61 + 10
        default: nil
        }
    }

    /// The byte in lower case if it is an ASCII letter, otherwise unchanged.
    var lowercased: UInt8 { (0x41...0x5a).contains(self) ? self | 0x20 : self }
}

extension Span<UInt8> {
    /// Whether none of the eight bytes from a position on, which must be there, is a control byte.
    ///
    /// Looks at all of them at once: for each byte, subtracting borrows into its top bit exactly if the byte is too
    /// small and its own top bit is not set.
    func areEightVisible(at position: Int) -> Bool {
        precondition(position >= 0 && position + 8 <= count, "eight bytes")
        // Safe: the eight bytes are within the span, and any bytes are a number.
        let word = unsafe bytes.unsafeLoadUnaligned(fromByteOffset: position, as: UInt64.self)
        let ones: UInt64 = 0x0101_0101_0101_0101
        let tops = ones << 7
        let small = (word &- ones &* 0x20) & ~word & tops
        let unequal = word ^ (ones &* 0x7f)
        return small | (unequal &- ones) & ~unequal & tops == 0
    }

    /// Whether all bytes of a range are token characters.
    func areTokenCharacters(_ range: Range<Int>) -> Bool {
        for position in range where !self[position].isTokenCharacter { return false }
        return true
    }

    /// Whether the bytes of a range equal a text.
    func matches(_ text: String.UTF8View, in range: Range<Int>) -> Bool {
        guard text.count == range.count else { return false }
        var position = range.lowerBound
        for byte in text {
            if self[position] != byte { return false }
            position += 1
        }
        return true
    }

    /// Whether the bytes of a range equal a text, without regard to the case of ASCII letters.
    func matchesIgnoringCase(_ text: String.UTF8View, in range: Range<Int>) -> Bool {
        guard text.count == range.count else { return false }
        var position = range.lowerBound
        for byte in text {
            if self[position].lowercased != byte.lowercased { return false }
            position += 1
        }
        return true
    }

    /// Returns the range without spaces and tabs at its ends.
    func trimmingWhitespace(_ range: Range<Int>) -> Range<Int> {
        var (start, end) = (range.lowerBound, range.upperBound)
        while start < end, self[start].isWhitespace { start += 1 }
        while start < end, self[end - 1].isWhitespace { end -= 1 }
        return start..<end
    }

    /// Returns the position of the first byte with this value in a range.
    func firstPosition(of byte: UInt8, in range: Range<Int>) -> Int? {
        for position in range where self[position] == byte { return position }
        return nil
    }

    /// Returns a copy of a range.
    package func copy(_ range: Range<Int>) -> [UInt8] {
        // Safe: the pointer is valid during the call, and `extracting` has checked the range.
        unsafe extracting(range).withUnsafeBufferPointer { unsafe Array($0) }
    }

    /// Returns a range as text. Malformed UTF-8 is replaced.
    func text(_ range: Range<Int>) -> String {
        // Safe: the pointer is valid during the call, and `extracting` has checked the range.
        unsafe extracting(range).withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }
}
