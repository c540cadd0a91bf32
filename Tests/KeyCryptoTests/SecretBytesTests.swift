import ByteCoding
import KeyCrypto
import Testing

@Suite struct SecretBytesTests {
    @Test func holdsWhatItWasGiven() {
        let secret = SecretBytes(copying: Array(0..<20))
        #expect(secret.count == 20)
        #expect(secret.revealed() == Array(0..<20))
        #expect(secret.copy(4..<8).revealed() == [4, 5, 6, 7])
        #expect(secret.revealedBytes16(at: 1).bytes == Array(1..<17))
    }

    @Test func beginsWithZeros() {
        // New memory must not show the secret that was in its slot before.
        do { _ = SecretBytes(copying: [UInt8](repeating: 0xFF, count: 64)) }
        #expect(SecretBytes(count: 64).revealed() == [UInt8](repeating: 0, count: 64))
    }

    @Test func comparesByContent() {
        let secret = SecretBytes(copying: [1, 2, 3])
        let isSame = secret.isEqual(to: SecretBytes(copying: [1, 2, 3]))
        #expect(isSame)
        let isOther = secret.isEqual(to: SecretBytes(copying: [1, 2, 4]))
        #expect(!isOther)
        let isShorter = secret.isEqual(to: SecretBytes(copying: [1, 2]))
        #expect(!isShorter)
    }

    @Test func isRandomWhenAsked() throws {
        let one = try SecretBytes.random(count: 32)
        let other = try SecretBytes.random(count: 32)
        let isRepeated = one.isEqual(to: other)
        #expect(!isRepeated)
    }

    @Test func survivesAFullSecureHeap() {
        // These are more secrets than the secure heap can hold. The rest are in the ordinary heap, and read the same.
        let many = (0..<40_000).map { SharedSecret(SecretBytes(copying: [UInt8(truncatingIfNeeded: $0), 7])) }
        #expect(many.indices.allSatisfy { many[$0].bytes.revealed() == [UInt8(truncatingIfNeeded: $0), 7] })
    }
}
