import ByteCoding
import KeyCrypto
import TestSupport
import Testing

/// Known answers of NIST SP 800-38A and FIPS 180-4.
@Suite struct CryptoContextTests {
    private let crypto: CryptoContext
    private let shared = SharedSecret(SecretBytes(copying: hex("2b7e151628aed2a6abf7158809cf4f3c")))
    private let iv = Bytes16(hex("000102030405060708090a0b0c0d0e0f"), at: 0)
    private let plain = hex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51")

    init() throws {
        crypto = try CryptoContext()
    }

    @Test func encryptsAndDecryptsCBC() throws {
        let encrypted = try crypto.encryptCBC(plain, key: shared.bytes, iv: iv)
        #expect(hex(encrypted) == "7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2")
        #expect(try crypto.decryptCBC(encrypted, in: 0..<32, key: shared.bytes, iv: iv) == plain)
        #expect(try crypto.decryptCBCSecret(encrypted, in: 0..<32, key: shared.bytes, iv: iv).revealed() == plain)
        #expect(try crypto.encryptCBC(secret: SecretBytes(copying: plain), key: shared.bytes, iv: iv) == encrypted)
    }

    @Test func encryptsSingleBlocks() throws {
        let block = Bytes16(plain, at: 0)
        let expected = "3ad77bb40d7a3660a89ecaf32466ef97"
        #expect(hex(try crypto.deriveKey(from: block, key: shared.bytes).revealed()) == expected)
        let secret = SecretBytes(copying: block.bytes)
        #expect(hex(try crypto.encryptBlock(secret: secret, key: shared.bytes).bytes) == expected)
        let wrapped = Bytes16(hex(expected), at: 0)
        #expect(try crypto.unwrapBlock(wrapped, key: shared.bytes).revealed() == block.bytes)
    }

    @Test func takesAKeyFromTheMiddleOfASecret() throws {
        let longer = SecretBytes(copying: [1, 2, 3] + shared.bytes.revealed())
        let secret = SecretBytes(copying: Array(plain.prefix(16)))
        #expect(
            hex(try crypto.encryptBlock(secret: secret, key: longer, keyOffset: 3).bytes)
                == "3ad77bb40d7a3660a89ecaf32466ef97")
        #expect(throws: CryptoError.wrongSize(expected: 20, actual: 19)) {
            try crypto.encryptBlock(secret: secret, key: longer, keyOffset: 4)
        }
    }

    @Test(arguments: [1, 15, 17, 31])
    func refusesPartsOfBlocks(size: Int) {
        #expect(throws: CryptoError.self) {
            try crypto.encryptCBC(Array(plain.prefix(size)), key: shared.bytes, iv: iv)
        }
    }

    @Test func digests() throws {
        let abc = Array("abc".utf8)
        #expect(hex(try crypto.sha1(abc, in: 0..<3)) == "a9993e364706816aba3e25717850c26c9cd0d89d")
        #expect(
            hex(try crypto.sha256(abc)) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(try crypto.sha256(of: abc).bytes == crypto.sha256(abc))
        let secret = SecretBytes(copying: Array("xabcx".utf8))
        #expect(hex(try crypto.sha1Key(of: secret, in: 1..<4).revealed()) == "a9993e364706816aba3e25717850c26c")
    }

    @Test func handsOutEachRandomByteOnce() throws {
        var seen: Set<Bytes16> = []
        for _ in 0..<1_000 { seen.insert(try crypto.randomBytes16()) }
        #expect(seen.count == 1_000)
        #expect(try crypto.randomBytes(count: 5_000).count == 5_000)
    }
}
