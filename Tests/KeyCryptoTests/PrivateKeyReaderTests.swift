import KeyCrypto
import TestSupport
import Testing

@Suite struct PrivateKeyReaderTests {
    private static let plainForms = [KeySamples.pkcs8, KeySamples.traditional]
    private static let encryptedForms = [
        KeySamples.encrypted, KeySamples.encryptedTripleDES, KeySamples.encryptedTraditional,
    ]
    /// The forms whose DER encoding is encrypted too.
    private static let encryptedDERForms = [KeySamples.encrypted, KeySamples.encryptedTripleDES]

    private let passphrase = SharedSecret(SecretBytes(copying: Array(KeySamples.passphrase.utf8)))
    private let expected: RSAPrivateKey

    init() throws {
        expected = try RSAPrivateKey(parsing: Array(KeySamples.pkcs8.utf8))
    }

    @Test(arguments: plainForms)
    func readsPlainKeysInPEMAndDER(pem: String) throws {
        for bytes in [Array(pem.utf8), KeySamples.der(of: pem)] {
            let key = try RSAPrivateKey(parsing: bytes)
            #expect(expected.publicKey.matches(key))
            #expect(!key.wasEncrypted)
        }
    }

    @Test(arguments: plainForms)
    func writesKeysAsOpenSSLDoes(pem: String) throws {
        let key = try RSAPrivateKey(parsing: Array(pem.utf8))
        #expect(try key.privateDER().revealed() == KeySamples.der(of: KeySamples.traditional))
    }

    @Test(arguments: [512, 1024, 1536, 2048])
    func readsWhatItHasWritten(bits: Int) throws {
        let key = try RSAPrivateKey.generate(bits: bits)
        let again = try RSAPrivateKey(parsing: key.privateDER().revealed())
        #expect(key.publicKey.matches(again) && !again.wasEncrypted)
        #expect(try again.privatePEM().revealed() == key.privatePEM().revealed())
    }

    /// One passphrase is used for all keys of a credential, even for keys that need none.
    @Test(arguments: plainForms)
    func doesNotMindAPassphraseThatIsNotNeeded(pem: String) throws {
        for bytes in [Array(pem.utf8), KeySamples.der(of: pem)] {
            let key = try RSAPrivateKey(parsing: bytes, passphrase: passphrase)
            #expect(expected.publicKey.matches(key))
            #expect(!key.wasEncrypted)
        }
    }

    @Test(arguments: encryptedForms.map { Array($0.utf8) } + encryptedDERForms.map(KeySamples.der))
    func readsEncryptedKeysWithTheirPassphraseAlone(bytes: [UInt8]) throws {
        let key = try RSAPrivateKey(parsing: bytes, passphrase: passphrase)
        #expect(expected.publicKey.matches(key))
        #expect(key.wasEncrypted)
        #expect(throws: CryptoError.passphraseMissing) { try RSAPrivateKey(parsing: bytes) }
        for wrong in ["wrong horse", "correct hors", "correct horse ", String(repeating: "x", count: 5_000)] {
            let passphrase = SharedSecret(SecretBytes(copying: Array(wrong.utf8)))
            #expect(throws: CryptoError.passphraseWrong) { try RSAPrivateKey(parsing: bytes, passphrase: passphrase) }
        }
    }

    /// Tools write text before the block. White space and other line ends are accepted.
    @Test func findsTheBlockAmongWords() throws {
        let texts = [
            "Bag Attributes\n    friendlyName: main\nKey Attributes: <No Attributes>\n" + KeySamples.pkcs8,
            "\n \n" + KeySamples.pkcs8 + "\n\n", KeySamples.pkcs8.split(separator: "\n").joined(separator: "\r\n"),
        ]
        for text in texts {
            #expect(expected.publicKey.matches(try RSAPrivateKey(parsing: Array(text.utf8))))
        }
    }

    /// Tests only some lengths, because for each one OpenSSL searches through all its decoders.
    @Test func refusesTruncationsOfADERKey() {
        for pem in [KeySamples.pkcs8, KeySamples.traditional, KeySamples.encrypted] {
            let der = KeySamples.der(of: pem)
            for length in Array(stride(from: 0, to: der.count, by: 17)) + [der.count - 1] {
                #expect(throws: CryptoError.self) {
                    try RSAPrivateKey(parsing: Array(der.prefix(length)), passphrase: passphrase)
                }
            }
        }
    }

    @Test func refusesAnEncryptedKeyOfAnotherKind() throws {
        #expect(throws: CryptoError.passphraseMissing) {
            try ES256PrivateKey(parsing: Array(KeySamples.encrypted.utf8))
        }
        #expect(throws: CryptoError.notAKey("a P-256 private key in PEM or DER")) {
            try ES256PrivateKey(parsing: Array(KeySamples.pkcs8.utf8))
        }
    }
}
