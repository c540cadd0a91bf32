/// Converts hexadecimal digits in a test's source to bytes. An odd number of digits or another character ends the test
/// process.
package func hex(_ digits: String) -> [UInt8] {
    let values = digits.utf8.compactMap { Character(UnicodeScalar($0)).hexDigitValue }
    precondition(values.count == digits.utf8.count && values.count % 2 == 0, "a test's constant is hexadecimal")
    return stride(from: 0, to: values.count, by: 2).map { UInt8(values[$0] << 4 | values[$0 + 1]) }
}

package func hex(_ bytes: some Sequence<UInt8>) -> String {
    bytes.map { $0 < 16 ? "0" + String($0, radix: 16) : String($0, radix: 16) }.joined()
}

/// Returns the bytes of an integer, the most significant first.
package func bigEndianBytes(_ value: some FixedWidthInteger & UnsignedInteger) -> [UInt8] {
    stride(from: value.bitWidth - 8, through: 0, by: -8).map { UInt8(truncatingIfNeeded: value >> $0) }
}
