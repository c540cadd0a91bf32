import ByteCoding
import KeyCrypto
import TestSupport
import Testing

/// Known answers of RFC 4493, section 4.
@Suite struct CMACTests {
    private static let answers: [(size: Int, code: String)] = [
        (0, "bb1d6929e95937287fa37d129b756746"), (16, "070a16b46b4d4144f79bdd9dd04a287c"),
        (40, "dfa66747de9ae63030ca32611497c827"), (64, "51f0bebf7e3b9d92fc49741779363cfe"),
    ]
    private static let message =
        hex("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51")
        + hex("30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710")

    private let crypto: CryptoContext
    private let shared = SharedSecret(SecretBytes(copying: hex("2b7e151628aed2a6abf7158809cf4f3c")))

    init() throws {
        crypto = try CryptoContext()
    }

    @Test(arguments: answers)
    func givesThePublishedCodes(size: Int, code: String) throws {
        #expect(hex(try crypto.cmac(of: [Self.message.prefix(size)], key: shared.bytes)) == code)
    }

    /// A message has the same code however it is cut, even with empty parts.
    @Test(arguments: answers)
    func readsPartsAsOneMessage(size: Int, code: String) throws {
        let message = Self.message.prefix(size)
        for first in 0...size {
            for second in first...size {
                let parts = [message[..<first], message[first..<second], message[second...]]
                #expect(hex(try crypto.cmac(of: parts, key: shared.bytes)) == code)
            }
        }
        #expect(hex(try crypto.cmac(of: message.map { [$0] }, key: shared.bytes)) == code)
    }

    @Test func takesTheEmptyMessageWithoutAnyPart() throws {
        #expect(hex(try crypto.cmac(of: [], key: shared.bytes)) == Self.answers[0].code)
    }

    /// The context is reused, so nothing of one key or message may affect the next.
    @Test func keepsNothingFromOneCodeToTheNext() throws {
        let other = SecretBytes(copying: [UInt8](repeating: 7, count: 16))
        let expected = try CryptoContext().cmac(of: [Self.message[...]], key: other)
        for (size, code) in Self.answers {
            #expect(hex(try crypto.cmac(of: [Self.message.prefix(size)], key: shared.bytes)) == code)
            #expect(try crypto.cmac(of: [Self.message[...]], key: other) == expected)
        }
        #expect(hex(expected) != Self.answers[3].code)
    }

    @Test(arguments: [1, 15, 17, 24, 32])
    func refusesKeysOfOtherSizes(size: Int) throws {
        let key = SecretBytes(count: size)
        #expect(throws: CryptoError.wrongSize(expected: 16, actual: size)) { try crypto.cmac(of: [], key: key) }
        #expect(hex(try crypto.cmac(of: [], key: shared.bytes)) == Self.answers[0].code)
    }
}
