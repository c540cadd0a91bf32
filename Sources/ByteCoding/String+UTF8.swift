extension String {
    /// Whether both strings have the same UTF-8 bytes.
    ///
    /// `==` uses canonical equivalence, under which U+212A (the Kelvin sign) equals "K". Identifiers from outside must
    /// never be compared by it alone. It comes before the comparison of bytes because it is fast for most strings that
    /// differ.
    package func hasSameUTF8(as other: String) -> Bool {
        guard utf8.count == other.utf8.count, self == other else { return false }
        let (bytes, others) = (utf8.span, other.utf8.span)
        for index in bytes.indices where bytes[index] != others[index] { return false }
        return true
    }

    /// Makes a text of the ASCII characters that the closure writes, at most `size`, without an array in between.
    init(asciiOfSize size: Int, _ write: (inout OutputSpan<UInt8>) -> Void) {
        // Safe: the span writes into the buffer only, and says how many bytes it has written.
        self = unsafe String(unsafeUninitializedCapacity: size) { buffer in
            var output = unsafe OutputSpan(buffer: buffer, initializedCount: 0)
            write(&output)
            return unsafe output.finalize(for: buffer)
        }
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
        // The digits are turned round in place. A slice would refer to the same memory, and the array would be copied.
        var (first, last) = (start, count - 1)
        while first < last {
            swapAt(first, last)
            (first, last) = (first + 1, last - 1)
        }
    }
}
