import FairPlay
import KeyCrypto
import TestSupport
import Testing

@Suite struct CertificateBundleTests {
    private static let material = Result {
        (
            try CertificateSamples.make(for: .generate(bits: 1024)),
            try CertificateSamples.make(for: .generate(bits: 2048))
        )
    }

    private let small: Certificate
    private let large: Certificate

    init() throws {
        (small, large) = try Self.material.get()
    }

    @Test func splitsTheTwoEncodings() throws {
        let bundle = try CertificateBundle(parsing: small.der + large.der)
        #expect(bundle.certificate1024.der == small.der)
        #expect(bundle.certificate2048.der == large.der)
    }

    @Test func readsPEMWithBoth() throws {
        let text = CertificateSamples.pem(small.der) + CertificateSamples.pem(large.der)
        let bundle = try CertificateBundle(parsing: Array(text.utf8))
        #expect(bundle.certificate1024.der == small.der)
        #expect(bundle.certificate2048.der == large.der)
    }

    @Test func refusesSwappedHalves() {
        #expect(throws: CertificateBundleError.swapped) { try CertificateBundle(parsing: large.der + small.der) }
        let text = CertificateSamples.pem(large.der) + CertificateSamples.pem(small.der)
        #expect(throws: CertificateBundleError.swapped) { try CertificateBundle(parsing: Array(text.utf8)) }
    }

    @Test func refusesOtherNumbers() {
        #expect(throws: CertificateBundleError.wrongCount(1)) { try CertificateBundle(parsing: small.der) }
        #expect(throws: CertificateBundleError.wrongCount(3)) {
            try CertificateBundle(parsing: small.der + large.der + large.der)
        }
    }

    @Test func refusesOtherSizes() throws {
        let largest = try CertificateSamples.make(for: .generate(bits: 3072))
        let cases: [([UInt8], [Int])] = [
            (small.der + small.der, [1024, 1024]), (large.der + large.der, [2048, 2048]),
            (small.der + largest.der, [1024, 3072]),
        ]
        for (bytes, sizes) in cases {
            #expect(throws: CertificateBundleError.wrongSizes(sizes)) { try CertificateBundle(parsing: bytes) }
        }
    }

    @Test func refusesWhatIsNoCertificate() throws {
        let key = Array(KeySamples.pkcs8.utf8)
        let broken = [[], [0x30], Array("-----BEGIN".utf8), key, KeySamples.der(of: KeySamples.pkcs8), small.der + [0]]
        for bytes in broken {
            #expect(throws: CertificateBundleError.notCertificates) { try CertificateBundle(parsing: bytes) }
        }
        let both = small.der + large.der
        for length in Array(stride(from: small.der.count + 1, to: both.count, by: 29)) + [both.count - 1] {
            #expect(throws: CertificateBundleError.notCertificates) {
                try CertificateBundle(parsing: Array(both.prefix(length)))
            }
        }
    }
}
