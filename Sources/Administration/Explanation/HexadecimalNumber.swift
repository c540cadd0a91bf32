import ByteCoding

/// Returns the digits of a number of eight bytes: 16, lower-case.
package func hexadecimal(_ number: UInt64) -> String {
    String(Hexadecimal.encode(Bytes16(high: number, low: 0).bytes.prefix(8)))
}

/// Returns the digits of a number of four bytes: 8, lower-case.
package func hexadecimal(_ number: UInt32) -> String {
    String(hexadecimal(UInt64(number)).suffix(8))
}
