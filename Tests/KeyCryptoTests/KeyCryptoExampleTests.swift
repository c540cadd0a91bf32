import KeyCrypto
import TestSupport
import Testing

/// An example of how a key is derived from a secret.
@Suite struct KeyCryptoExampleTests {
    /// RFC 5869, appendix A.3: a test case of HKDF-SHA256 without a salt.
    @Test func derivesAKeyFromASecret() throws {
        // A secret cannot be copied or printed, and its memory is wiped at the end.
        let secret = SecretBytes(copying: [UInt8](repeating: 0x0B, count: 22))

        // The info says what the derived key is for. Another info gives another key.
        let key = try HKDFSHA256.derive(from: secret, info: [], count: 42)
        let other = try HKDFSHA256.derive(from: secret, info: Array("sessions".utf8), count: 42)

        // Only this method turns a secret into bytes, so that each such place can be found.
        let expected = "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d9d201395faa4b61a96c8"
        #expect(hex(key.revealed()) == expected)
        #expect(hex(other.revealed()) != expected)
    }
}
