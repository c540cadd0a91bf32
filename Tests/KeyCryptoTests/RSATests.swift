import KeyCrypto
import TestSupport
import Testing

@Suite struct RSATests {
    private static let key1024 = Result { try RSAPrivateKey.generate(bits: 1024) }
    private static let key2048 = Result { try RSAPrivateKey.generate(bits: 2048) }

    private static func key(_ padding: OAEPDigest) throws -> RSAPrivateKey {
        try (padding == .sha1 ? key1024 : key2048).get()
    }

    private func unwrap(_ message: [UInt8], _ key: RSAPrivateKey, _ padding: OAEPDigest) -> RSAUnwrapJob {
        let job = RSAUnwrapJob(
            key: key, padding: padding, message: message, range: 0..<message.count,
            decoy: SecretBytes(copying: [UInt8](repeating: 0xDD, count: 16)))
        OpenSSLRSAUnwrapper(counting: RSAOperationCount()).unwrap([job])
        return job
    }

    @Test(arguments: [OAEPDigest.sha1, .sha256])
    func unwrapsWhatTheCertificateWrapped(padding: OAEPDigest) throws {
        let key = try Self.key(padding)
        let wrapped = try key.publicKey.encrypt(SecretBytes(copying: Array(1...16)), padding: padding)
        #expect(wrapped.count == key.modulusSize)
        let job = unwrap(wrapped, key, padding)
        #expect(job.isGenuine)
        #expect(job.sessionKey.revealed() == Array(1...16))
    }

    /// With every fault the decoy key is kept, and only the flag shows the fault.
    @Test(arguments: [1, 15, 17, 32])
    func keepsTheDecoyForOtherSizes(size: Int) throws {
        let key = try Self.key(.sha1)
        let message = SecretBytes(copying: [UInt8](repeating: 3, count: size))
        let job = unwrap(try key.publicKey.encrypt(message, padding: .sha1), key, .sha1)
        #expect(!job.isGenuine)
        #expect(job.sessionKey.revealed() == [UInt8](repeating: 0xDD, count: 16))
    }

    @Test func keepsTheDecoyForBadCiphertexts() throws {
        let key = try Self.key(.sha1)
        var wrapped = try key.publicKey.encrypt(SecretBytes(copying: Array(1...16)), padding: .sha1)
        let otherPadding = try key.publicKey.encrypt(SecretBytes(copying: Array(1...16)), padding: .sha256)
        wrapped[100] ^= 1
        for message in [
            wrapped, otherPadding, [UInt8](repeating: 0, count: 128), [UInt8](repeating: 0xFF, count: 128),
            [1, 2, 3], [UInt8](repeating: 1, count: 129),
        ] {
            let job = unwrap(message, key, .sha1)
            #expect(!job.isGenuine)
            #expect(job.sessionKey.revealed() == [UInt8](repeating: 0xDD, count: 16))
        }
    }

    @Test func countsEveryOperation() throws {
        let key = try Self.key(.sha1)
        let wrapped = try key.publicKey.encrypt(SecretBytes(copying: Array(1...16)), padding: .sha1)
        let count = RSAOperationCount()
        let unwrapper = OpenSSLRSAUnwrapper(counting: count)
        let jobs = (0..<5).map { _ in
            RSAUnwrapJob(
                key: key, padding: .sha1, message: wrapped, range: 0..<128, decoy: SecretBytes(count: 16))
        }
        unwrapper.unwrap(jobs)
        #expect(count.value == 5)
        #expect(jobs.allSatisfy { $0.isGenuine })
    }

    @Test func readsItsOwnPEMAndNothingElse() throws {
        let key = try Self.key(.sha256)
        let again = try RSAPrivateKey(parsing: key.privatePEM().revealed())
        #expect(key.publicKey.matches(again))
        #expect(!key.publicKey.matches(try Self.key(.sha1)))
        let other = try ES256PrivateKey.generate().privatePEM().revealed()
        for bytes in [[], Array("-----BEGIN".utf8), [0x30, 0x82, 0, 1], other] {
            #expect(throws: CryptoError.self) { try RSAPrivateKey(parsing: bytes) }
        }
    }
}
