import ByteCoding
package import KeyCrypto

/// Opens SK..R1 blocks with the application secret key (ASk), which Apple issues with a certificate.
///
/// DASk = AES-ECB(ASk, D(R2)); SK..R1 = AES-CBC(DASk) (protocol, sections 3.1 and 3.2). The published test vectors have
/// a fixed DASk instead of an ASk. A ladder with a fixed DASk has the kind `fixedDASk` and is for tests only.
package final class ApplicationSecretKeyLadder: Sendable {
    /// The size of ASk and DASk in bytes.
    package static let secretSize = 16

    package enum Kind: Sendable {
        case applicationSecret
        case fixedDASk
    }

    package let kind: Kind
    private let secret: SecretBytes

    /// Throws `wrongSize` unless the secret has 16 bytes.
    package init(_ kind: Kind, _ secret: consuming SecretBytes) throws(CryptoError) {
        let size = secret.count
        guard size == Self.secretSize else { throw .wrongSize(expected: Self.secretSize, actual: size) }
        self.kind = kind
        self.secret = secret
    }

    /// DASk for an R2 of 1 to 55 bytes.
    package func deriveDASk(r2: ArraySlice<UInt8>, using crypto: CryptoContext) throws(CryptoError) -> SecretBytes {
        switch kind {
        case .fixedDASk:
            return secret.copy()
        case .applicationSecret:
            return try crypto.deriveKey(from: Bytes16(try DFunction.hash(r2, using: crypto), at: 0), key: secret)
        }
    }

    /// Decrypts the SK..R1 value in `range` of `payload`. The value has 112 bytes: a vector of 16 bytes and six
    /// encrypted blocks.
    package func open(
        _ payload: [UInt8], sessionKeyBlock range: Range<Int>, r2: Range<Int>, using crypto: CryptoContext
    ) throws(CryptoError) -> SessionKeys {
        let dask = try deriveDASk(r2: payload[r2], using: crypto)
        let encrypted = range.lowerBound + 16..<range.upperBound
        return try SessionKeys(
            crypto.decryptCBCSecret(payload, in: encrypted, key: dask, iv: Bytes16(payload, at: range.lowerBound)))
    }
}

/// The D function, which computes from R2 the block that the application secret encrypts to DASk (protocol, section
/// 3.1).
package enum DFunction {
    /// The allowed sizes of R2 in bytes. R2 has 21 bytes in an SPC.
    package static let inputSizes = 1...55

    private static let prime: UInt32 = 813_416_437

    /// Returns the first 16 bytes of the SHA-1 of R2, its padding and the two scrambled sums.
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

    /// Runs 16 rounds. An odd number is halved. An even number is tripled and increased by one, modulo 2³², and then
    /// reduced modulo the prime.
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
