/// A JSON number, kept exactly as its digits.
package struct JSONNumber: Sendable {
    /// The most digits that always fit into 64 bits.
    static let plainSizeMaximum = 18

    /// The number in the grammar of RFC 8259 section 6, also if the text was JSON5.
    package let text: String

    /// The value, if it is a whole number from 0 to 2^64-1, in any notation ("1e3" and "1.0" are whole numbers).
    package var unsigned: UInt64? {
        guard let (isNegative, magnitude) = whole else { return nil }
        return isNegative && magnitude != 0 ? nil : magnitude
    }

    /// The value, if it is a whole number from -2^63 to 2^63-1, in any notation.
    package var signed: Int64? {
        guard let (isNegative, magnitude) = whole else { return nil }
        if !isNegative { return Int64(exactly: magnitude) }
        return magnitude <= Int64.min.magnitude ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil
    }

    /// The nearest `Double`, or nil if that is not finite.
    package var double: Double? {
        guard let value = Double(text), value.isFinite else { return nil }
        return value
    }

    /// Sign and magnitude of a whole number below 2^64, by exact arithmetic on the digits.
    private var whole: (isNegative: Bool, magnitude: UInt64)? {
        if let plain { return (false, plain) }
        var digits: [UInt8] = []
        var exponent = 0
        var isFraction = false
        var rest = Array(text.utf8)[...]
        let isNegative = rest.first == UInt8(ascii: "-")
        if isNegative { rest.removeFirst() }
        while let byte = rest.first, byte != UInt8(ascii: "e"), byte != UInt8(ascii: "E") {
            rest.removeFirst()
            if byte == UInt8(ascii: ".") {
                isFraction = true
            } else {
                digits.append(byte - UInt8(ascii: "0"))
                if isFraction { exponent -= 1 }
            }
        }
        exponent += Self.exponent(rest.dropFirst())
        while digits.last == 0 {
            digits.removeLast()
            exponent += 1
        }
        guard !digits.isEmpty else { return (isNegative, 0) }
        guard exponent >= 0, exponent < 20 else { return nil }
        return Self.magnitude(digits + repeatElement(0, count: exponent)).map { (isNegative, $0) }
    }

    /// The value, if the text consists only of digits and has at most 18 of them; nil otherwise.
    private var plain: UInt64? {
        guard text.utf8.count <= Self.plainSizeMaximum else { return nil }
        var value: UInt64 = 0
        for byte in text.utf8 {
            guard byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") else { return nil }
            value = value * 10 + UInt64(byte - UInt8(ascii: "0"))
        }
        return value
    }

    /// The exponent, limited to a million in either direction. That is far out of every range: a number has at most 128
    /// bytes, so its digits cannot bring it back into range.
    private static func exponent(_ digits: ArraySlice<UInt8>) -> Int {
        guard !digits.isEmpty else { return 0 }
        let limit = 1_000_000
        let isNegative = digits.first == UInt8(ascii: "-")
        let magnitude = digits.drop { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "+") }
            .reduce(0) { min($0 * 10 + Int($1 - UInt8(ascii: "0")), limit) }
        return isNegative ? -magnitude : magnitude
    }

    private static func magnitude(_ digits: [UInt8]) -> UInt64? {
        var value: UInt64 = 0
        for digit in digits {
            let (product, productOverflows) = value.multipliedReportingOverflow(by: 10)
            let (sum, sumOverflows) = product.addingReportingOverflow(UInt64(digit))
            guard !productOverflows, !sumOverflows else { return nil }
            value = sum
        }
        return value
    }
}
