import ByteCoding
import KeyCrypto
import TestSupport
import Testing

@Suite struct SealedMessageTests {
    private static let message = Array("the files of a configuration".utf8)

    private static func recipient() throws -> (key: SharedSecret, certificate: [UInt8]) {
        let key = try RSAPrivateKey.generate(bits: 2048)
        let certificate = try CertificateSamples.make(for: key)
        return (SharedSecret(try key.privatePEM()), Array(CertificateSamples.pem(certificate.der).utf8))
    }

    private static func seal(for certificates: [UInt8]) throws -> [UInt8] {
        try SealedMessage.seal(SecretBytes(copying: message), for: certificates)
    }

    @Test func opensWithTheKeyOfEachRecipient() throws {
        let (first, second) = (try Self.recipient(), try Self.recipient())
        let sealed = try Self.seal(for: first.certificate + second.certificate)
        #expect(!sealed.contains(Self.message))
        #expect(try SealedMessage.open(sealed, with: first.key.bytes).revealed() == Self.message)
        #expect(try SealedMessage.open(sealed, with: second.key.bytes).revealed() == Self.message)
    }

    @Test func opensWithAKeyOnACurve() throws {
        let key = try ES256PrivateKey.generate()
        let sealed = try Self.seal(for: key.makeLocalTLSCertificate(now: 1_700_000_000))
        #expect(try SealedMessage.open(sealed, with: key.privatePEM()).revealed() == Self.message)
    }

    @Test func doesNotOpenWithAnotherKey() throws {
        let sealed = try Self.seal(for: Self.recipient().certificate)
        let other = try Self.recipient()
        #expect(throws: CryptoError.authenticationFailed) {
            try SealedMessage.open(sealed, with: other.key.bytes).count
        }
    }

    @Test func doesNotOpenIfAnythingOfItWasAltered() throws {
        let recipient = try Self.recipient()
        let sealed = try Self.seal(for: recipient.certificate)
        // The tag at the end, and the encrypted text before it: 16 bytes and as many as the message has.
        let text = sealed.count - 18 - Self.message.count..<sealed.count
        for offset in [text.lowerBound, text.lowerBound + 5, sealed.count - 1, sealed.count - 16] {
            var altered = sealed
            altered[offset] ^= 1
            #expect(throws: CryptoError.authenticationFailed) {
                try SealedMessage.open(altered, with: recipient.key.bytes).count
            }
        }
        for length in stride(from: 0, to: sealed.count, by: 37) {
            #expect(throws: CryptoError.authenticationFailed) {
                try SealedMessage.open(Array(sealed.prefix(length)), with: recipient.key.bytes).count
            }
        }
    }

    @Test func refusesARecipientWhoseKeyIsWeak() throws {
        let short = try CertificateSamples.make(for: RSAPrivateKey.generate(bits: 1024))
        let both = try Self.recipient().certificate + Array(CertificateSamples.pem(short.der).utf8)
        let error = #expect(throws: CryptoError.self) { try Self.seal(for: both) }
        guard case .notAKey(let reason)? = error else { throw try #require(error) }
        #expect(reason.contains("certificate 2 has an RSA key of 1024 bits") && reason.contains("at least 2048 bits"))
    }

    @Test func findsACertificateThatIsRepeated() throws {
        let (one, other) = (try Self.recipient().certificate, try Self.recipient().certificate)
        #expect(SealedMessage.repetition(in: one + other)?.first == nil)
        let found = try #require(SealedMessage.repetition(in: one + other + one))
        #expect(found.first == 1 && found.second == 3)
    }

    @Test func refusesWhatIsNoCertificateAndWhatIsNoKey() throws {
        #expect(throws: CryptoError.notACertificate) { try Self.seal(for: Array("no certificate".utf8)) }
        #expect(throws: CryptoError.notACertificate) { try Self.seal(for: []) }
        let recipient = try Self.recipient()
        let many = Array(repeating: recipient.certificate, count: SealedMessage.recipientsMaximum + 1).flatMap(\.self)
        #expect(throws: CryptoError.notACertificate) { try Self.seal(for: many) }
        let sealed = try Self.seal(for: recipient.certificate)
        #expect(throws: CryptoError.notAKey("a private key")) {
            try SealedMessage.open(sealed, with: SecretBytes(copying: Array("no key".utf8))).count
        }
    }
}
