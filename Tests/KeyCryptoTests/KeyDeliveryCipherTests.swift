import ByteCoding
import KeyCrypto
import TestSupport
import Testing

@Suite struct AES256CBCTests {
    private static let key = "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"
    private static let iv = Bytes16(high: 0x0001_0203_0405_0607, low: 0x0809_0A0B_0C0D_0E0F)
    private static let plain = "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51"

    private static func encrypt(_ plain: [UInt8], key: [UInt8] = hex(key)) throws -> [UInt8] {
        try AES256CBC.encrypt(SecretBytes(copying: plain), key: SecretBytes(copying: key), iv: iv)
    }

    /// NIST SP 800-38A, F.2.5, followed by a block of padding.
    @Test func givesThePublishedBlocks() throws {
        let encrypted = try Self.encrypt(hex(Self.plain))
        #expect(encrypted.count == 48)
        #expect(
            hex(encrypted.prefix(32)) == "f58c4c04d6e5f1ba779eabfb5f7bfbd69cfc4e967edb808d679f777bc6702c7d")
    }

    /// If the padding bytes are written explicitly, encryption gives the same blocks.
    @Test(arguments: [1, 15, 16, 17, 31])
    func padsToWholeBlocks(count: Int) throws {
        let plain = Array(hex(Self.plain).prefix(count))
        let padding = 16 - count % 16
        let padded = plain + [UInt8](repeating: UInt8(padding), count: padding)
        let encrypted = try Self.encrypt(plain)
        #expect(encrypted.count == padded.count)
        #expect(try Self.encrypt(padded).prefix(padded.count) == encrypted[...])
    }

    @Test(arguments: [16, 31, 33])
    func refusesAnotherKeySize(size: Int) {
        #expect(throws: CryptoError.wrongSize(expected: 32, actual: size)) {
            _ = try Self.encrypt([1], key: [UInt8](repeating: 1, count: size))
        }
    }
}

@Suite struct HMACSHA512Tests {
    /// RFC 4231, test case 2.
    @Test func givesThePublishedCode() throws {
        let code = try HMACSHA512.code(
            for: Array("what do ya want for nothing?".utf8), key: SecretBytes(copying: Array("Jefe".utf8)))
        #expect(
            hex(code)
                == "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea250554"
                + "9758bf75c05a994a6d034f65f8f0e6fdcaeab1a34d4a6b4b636e070a38bce737")
    }
}
