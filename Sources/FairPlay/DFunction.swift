package import KeyCrypto

/// The D function: from R2 to the block that the application secret encrypts into DASk (protocol, section 3.1).
package enum DFunction {
    /// R2 has 21 bytes in an SPC; the function takes 1 to 55.
    package static let inputSizes = 1...55

    private static let prime: UInt32 = 813_416_437

    /// The first 16 bytes of the SHA-1 of R2, its padding and the two scrambled sums.
    package static func hash(
        _ r2: ArraySlice<UInt8>, using crypto: CryptoContext
    ) throws(CryptoError) -> [UInt8] {
        guard inputSizes.contains(r2.count) else { throw .wrongSize(expected: 21, actual: r2.count) }
        var block = [UInt8](repeating: 0, count: 64)
        for (index, byte) in r2.enumerated() { block[index] = byte }
        block[r2.count] = 0x80
        writeLittleEndian(scramble(sum(of: block, words: 0..<7)), into: &block, at: 56)
        writeLittleEndian(scramble(sum(of: block, words: 7..<14)), into: &block, at: 60)
        return Array(try crypto.sha1(block, in: 0..<64).prefix(16))
    }

    /// The sum of big-endian 32-bit words, modulo 2³².
    private static func sum(of block: [UInt8], words: Range<Int>) -> UInt32 {
        var sum: UInt32 = 0
        for word in words {
            let offset = word * 4
            sum &+=
                UInt32(block[offset]) << 24 | UInt32(block[offset + 1]) << 16
                | UInt32(block[offset + 2]) << 8 | UInt32(block[offset + 3])
        }
        return sum
    }

    /// Sixteen rounds: halve an odd number; triple an even one and add one, wrapping at 32 bits before the prime.
    private static func scramble(_ value: UInt32) -> UInt32 {
        var value = value
        for _ in 0..<16 {
            value = value & 1 == 1 ? value >> 1 : (value &* 3 &+ 1) % prime
        }
        return value
    }

    private static func writeLittleEndian(_ value: UInt32, into block: inout [UInt8], at offset: Int) {
        for index in 0..<4 { block[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * UInt32(index))) }
    }
}
