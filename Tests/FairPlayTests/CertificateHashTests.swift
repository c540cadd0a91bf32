import FairPlay
import KeyCrypto
import TestSupport
import Testing

@Suite struct CertificateHashTests {
    @Test(arguments: [(20, CertificateHash.Algorithm.sha1), (32, .sha256)])
    func takesTheTwoSizes(size: Int, algorithm: CertificateHash.Algorithm) throws {
        let hash = try #require(CertificateHash([UInt8](repeating: 0xAB, count: size)))
        #expect(hash.algorithm == algorithm)
        #expect(hash.bytes.count == algorithm.size)
        #expect(hash.description == String(repeating: "ab", count: size))
    }

    @Test(arguments: [0, 1, 16, 19, 21, 31, 33, 64])
    func refusesEveryOtherSize(size: Int) {
        #expect(CertificateHash([UInt8](repeating: 0, count: size)) == nil)
    }

    /// FIPS 180-4.
    @Test(arguments: [
        (CertificateHash.Algorithm.sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
    ])
    func hashesContents(algorithm: CertificateHash.Algorithm, digits: String) throws {
        let hash = try CertificateHash(algorithm, of: Array("abc".utf8), using: CryptoContext())
        #expect(hash.description == digits)
        #expect(hash == CertificateHash(hex(digits)))
    }

    @Test(arguments: [(SPCVersion.v1, 128, OAEPDigest.sha1, 20), (.v2, 256, .sha256, 20), (.v3, 256, .sha256, 32)])
    func isOfTheSizeThatTheVersionSays(version: SPCVersion, wrapped: Int, padding: OAEPDigest, size: Int) {
        #expect(version.wrappedKeySize == wrapped)
        #expect(version.padding == padding)
        #expect(version.certificateHash.size == size)
    }
}
