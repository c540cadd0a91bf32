import ByteCoding
import KeyCrypto
import TestSupport
import Testing

@Suite struct AESKeyWrapTests {
    private static let plain = hex("00112233445566778899AABBCCDDEEFF")
    /// RFC 3394, sections 4.1 to 4.3: a 128-bit key under each size of key-encryption key.
    private static let vectors: [(size: Int, wrapped: String)] = [
        (16, "1FA68B0A8112B447AEF34BD8FB5A7B829D3E862371D2CFE5"),
        (24, "96778B25AE6CA435F92B5B97C050AED2468AB8A17AD84E5D"),
        (32, "64E8C3F9CE0F5BA263E9777905818A2A93C8191E7D6E8AE7"),
    ]

    private static func key(_ size: Int) -> SecretBytes { SecretBytes(copying: (0..<UInt8(size)).map(\.self)) }

    @Test(arguments: vectors)
    func unwrapsThePublishedVectors(size: Int, wrapped: String) throws {
        #expect(try AESKeyWrap.unwrap(hex(wrapped), with: Self.key(size)).revealed() == Self.plain)
    }

    /// Every changed byte and every other size is refused.
    @Test(arguments: vectors)
    func refusesWhatWasAltered(size: Int, wrapped: String) {
        let wrapped = hex(wrapped)
        for index in wrapped.indices {
            var altered = wrapped
            altered[index] ^= 1
            #expect(throws: CryptoError.authenticationFailed) {
                _ = try AESKeyWrap.unwrap(altered, with: Self.key(size))
            }
        }
        for length in 0..<wrapped.count {
            #expect(throws: CryptoError.self) {
                _ = try AESKeyWrap.unwrap(Array(wrapped.prefix(length)), with: Self.key(size))
            }
        }
    }

    @Test(arguments: [1, 8, 15, 17, 31, 33])
    func refusesKeysOfOtherSizes(size: Int) {
        #expect(throws: CryptoError.wrongSize(expected: 32, actual: size)) {
            _ = try AESKeyWrap.unwrap(hex(Self.vectors[0].wrapped), with: Self.key(size))
        }
    }
}
