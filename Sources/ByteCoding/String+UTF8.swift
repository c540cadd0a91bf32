extension String {
    /// Whether both strings have the same UTF-8 bytes.
    ///
    /// `==` uses canonical equivalence, under which U+212A (the Kelvin sign) equals "K". Identifiers from outside must
    /// never be compared by it alone. It comes before the comparison of bytes because it is fast for most strings that
    /// differ.
    package func hasSameUTF8(as other: String) -> Bool {
        utf8.count == other.utf8.count && self == other && utf8.elementsEqual(other.utf8)
    }
}

extension [UInt8] {
    /// Appends the UTF-8 bytes of a text in one piece. `append(contentsOf: text.utf8)` takes several times as long.
    package mutating func append(utf8Of text: String) {
        var text = text
        // Safe: the bytes are copied while the text is borrowed.
        text.withUTF8 { unsafe append(contentsOf: $0) }
    }

    /// Appends a number in decimal, without making a string.
    package mutating func append(decimal number: UInt64) {
        let start = count
        var rest = number
        repeat {
            append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        self[start...].reverse()
    }
}
