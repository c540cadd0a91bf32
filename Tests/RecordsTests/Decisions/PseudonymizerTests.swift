import ByteCoding
import KeyCrypto
import Records
import Testing

@Suite struct PseudonymizerTests {
    private func pseudonymizer(_ byte: UInt8 = 1) throws -> Pseudonymizer {
        Pseudonymizer(key: try HMACSHA256Key(SecretBytes(copying: [UInt8](repeating: byte, count: 32))))
    }

    /// HMAC-SHA256 with the key 01 × 32 over "device" 00 00000003 616263.
    @Test func followsItsDefinition() throws {
        let expected = "0319e4bdd9b434a4fc0b55033e260e26d47bf96a62689941f43b19424de0adaa"
        let pseudonym = try pseudonymizer().pseudonym(of: .device, Array("abc".utf8))
        #expect(Hexadecimal.encode(pseudonym.bytes) == expected)
    }

    @Test func keepsThingsApart() throws {
        let (one, two) = (try pseudonymizer(), try pseudonymizer(2))
        let parts = (Array("ab".utf8), Array("c".utf8), Array("a".utf8), Array("bc".utf8))
        let names = [
            try one.pseudonym(of: .subject, parts.0, parts.1), try one.pseudonym(of: .subject, parts.2, parts.3),
            try one.pseudonym(of: .subject, parts.0 + parts.1), try one.pseudonym(of: .token, parts.0, parts.1),
            try two.pseudonym(of: .subject, parts.0, parts.1),
        ]
        #expect(Set(names).count == names.count)
        #expect(try one.pseudonym(of: .subject, parts.0, parts.1) == names[0])
    }
}

@Suite struct PseudonymTests {
    @Test func keepsItsBytes() throws {
        let bytes = (0..<32).map { UInt8($0 * 7) }
        #expect(try #require(Pseudonym(bytes)).bytes == bytes)
    }

    @Test(arguments: [0, 31, 33])
    func hasThirtyTwoBytes(count: Int) {
        #expect(Pseudonym([UInt8](repeating: 0, count: count)) == nil)
    }
}

@Suite struct LicenseIDTests {
    @Test func beginsWithItsTime() {
        let id = LicenseID(milliseconds: 0x0123_4567_89AB, random: Bytes16(high: .max, low: 5))
        #expect(id.description == "0123456789abffff0000000000000005")
        #expect(id.milliseconds == 0x0123_4567_89AB)
    }
}
