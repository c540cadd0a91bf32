import ByteCoding
import KeyCrypto
import Testing

@testable import ContentKeys

@Suite struct KeyDerivationTests {
    static func derivation(byte: UInt8 = 0x11, version: UInt32 = 1) throws -> KeyDerivation {
        try KeyDerivation(
            masterSecret: SharedSecret(SecretBytes(copying: [UInt8](repeating: byte, count: 32))), version: version)
    }

    static func derive(
        _ derivation: KeyDerivation, content: String = "movie", kid: UInt64 = 1, period: UInt32? = nil
    ) throws -> [UInt8] {
        let (key, iv) = try derivation.derive(
            contentID: ContentID(content), keyID: KeyID(words: Bytes16(high: 0, low: kid)), periodIndex: period)
        return key.bytes.revealed() + iv.bytes
    }

    /// HKDF of RFC 5869, written with HMAC only: extract with 32 zeros as the salt, and one block of expand.
    @Test func isTheHKDFThatIsDocumented() throws {
        func hmac(_ key: [UInt8], _ message: [UInt8]) throws -> [UInt8] {
            try HMACSHA256Key(SecretBytes(copying: key)).code(for: message[...])
        }
        let extracted = try hmac([UInt8](repeating: 0, count: 32), [UInt8](repeating: 0x11, count: 32))
        let names = [0, 0, 0, 1, 5] + Array("movie".utf8) + [UInt8](repeating: 0, count: 15) + [1, 1, 0, 0, 0, 7]
        let key = try hmac(extracted, Array("LKDKEY01".utf8) + names + [1]).prefix(16)
        let iv = try hmac(extracted, Array("LKDIV_01".utf8) + names + [1]).prefix(16)
        #expect(try Self.derive(Self.derivation(), period: 7) == Array(key + iv))
    }

    @Test func everyNameCounts() throws {
        let results = try [
            Self.derive(Self.derivation()), Self.derive(Self.derivation(byte: 0x12)),
            Self.derive(Self.derivation(version: 2)), Self.derive(Self.derivation(), content: "movie2"),
            Self.derive(Self.derivation(), kid: 2), Self.derive(Self.derivation(), period: 0),
            Self.derive(Self.derivation(), period: 1),
        ]
        #expect(Set(results).count == results.count)
        #expect(try Self.derive(Self.derivation()) == results[0])
        #expect(Set(results.flatMap { [Array($0.prefix(16)), Array($0.suffix(16))] }).count == 2 * results.count)
    }

    @Test(arguments: [16, 31, 33]) func refusesSecretsOfOtherSizes(size: Int) {
        #expect(throws: CryptoError.wrongSize(expected: 32, actual: size)) {
            try KeyDerivation(masterSecret: SharedSecret(SecretBytes(count: size)), version: 1)
        }
    }
}
