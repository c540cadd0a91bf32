import KeyCrypto
import Testing

@Suite struct CertificateTests {
    @Test func readsWhatItMade() throws {
        let key = try RSAPrivateKey.generate(bits: 1024)
        let made = try Certificate.makeDevelopment(for: key, commonName: "test", now: 1_700_000_000)
        let read = try Certificate(parsing: made.der)
        #expect(read.der == made.der)
        #expect(read.keyBits == 1024)
        #expect(read.notAfter == 2_015_360_000)
        #expect(read.isDevelopmentMaterial)
        #expect(read.publicKey.matches(key))
    }

    @Test func refusesEveryTruncationAndTrailingBytes() throws {
        let key = try RSAPrivateKey.generate(bits: 1024)
        let der = try Certificate.makeDevelopment(for: key, commonName: "test", now: 1_700_000_000).der
        for length in 0..<der.count {
            #expect(throws: CryptoError.notACertificate) { try Certificate(parsing: Array(der.prefix(length))) }
        }
        #expect(throws: CryptoError.notACertificate) { try Certificate(parsing: der + [0]) }
        #expect(throws: CryptoError.notACertificate) { try Certificate(parsing: der + der) }
    }
}
