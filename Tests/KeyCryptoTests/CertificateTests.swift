import Foundation
import KeyCrypto
import TestSupport
import Testing

@Suite struct CertificateTests {
    private static let key = Result { try RSAPrivateKey.generate(bits: 1024) }

    private func make(_ name: String = "test", _ change: (inout SelfSignedContents) -> Void = { _ in }) throws
        -> Certificate
    {
        var contents = SelfSignedContents(commonName: name, notBefore: 1_700_000_000, notAfter: 1_700_000_060)
        change(&contents)
        return try Certificate.makeSelfSigned(contents, for: Self.key.get())
    }

    private func pem(_ certificate: Certificate, lineEnd: String = "\n") -> String {
        CertificateSamples.pem(certificate.der).replacingOccurrences(of: "\n", with: lineEnd)
    }

    @Test func readsWhatItMade() throws {
        let key = try Self.key.get()
        let made = try Certificate.makeDevelopment(for: key, commonName: "test", now: 1_700_000_000)
        let read = try Certificate(parsing: made.der)
        #expect(read.der == made.der)
        #expect(read.keyBits == 1024)
        #expect(read.notBefore == 1_700_000_000)
        #expect(read.notAfter == 2_015_360_000)
        #expect(read.isDevelopmentMaterial)
        #expect(read.publicKey.matches(key))
    }

    @Test func refusesEveryTruncationAndTrailingBytes() throws {
        let der = try make().der
        for length in 0..<der.count {
            #expect(throws: CryptoError.notACertificate) { try Certificate(parsing: Array(der.prefix(length))) }
        }
        #expect(throws: CryptoError.notACertificate) { try Certificate(parsing: der + [0]) }
        #expect(throws: CryptoError.notACertificate) { try Certificate(parsing: der + der) }
    }

    @Test(arguments: ["\n", "\r\n"])
    func readsPEMAlsoAmongWords(lineEnd: String) throws {
        let certificate = try make()
        let text = pem(certificate, lineEnd: lineEnd)
        for text in [
            text, "subject=O = example\(lineEnd)" + text, "\(lineEnd) \(lineEnd)" + text + "words behind\(lineEnd)",
        ] {
            #expect(try Certificate(parsing: Array(text.utf8)).der == certificate.der)
        }
    }

    @Test func refusesBrokenPEM() throws {
        let text = pem(try make())
        for broken in [
            text.replacingOccurrences(of: "CERTIFICATE", with: "PUBLIC KEY"), String(text.dropLast(40)),
            text.replacingOccurrences(of: "M", with: "-"), text + text, "-----BEGIN CERTIFICATE-----",
        ] {
            #expect(throws: CryptoError.notACertificate) { try Certificate(parsing: Array(broken.utf8)) }
        }
    }

    @Test func readsAllOfAFileInItsOrder() throws {
        let (one, two) = (try make("one"), try make("two"))
        #expect(try Certificate.parseAll(one.der + two.der).map(\.der) == [one.der, two.der])
        #expect(try Certificate.parseAll(two.der + one.der).map(\.der) == [two.der, one.der])
        #expect(try Certificate.parseAll(one.der).map(\.der) == [one.der])
        let text = pem(two) + "between\n" + pem(one)
        #expect(try Certificate.parseAll(Array(text.utf8)).map(\.der) == [two.der, one.der])
    }

    /// If one part of a file is broken, the whole file is refused.
    @Test func refusesAFileOfWhichAPartIsBroken() throws {
        let (one, two) = (try make("one"), try make("two"))
        let both = one.der + two.der
        for length in Array(stride(from: one.der.count + 1, to: both.count, by: 13)) + [both.count - 1] {
            #expect(throws: CryptoError.notACertificate) { try Certificate.parseAll(Array(both.prefix(length))) }
        }
        #expect(throws: CryptoError.notACertificate) { try Certificate.parseAll(both + [0]) }
        #expect(throws: CryptoError.notACertificate) { try Certificate.parseAll(one.der + [0] + two.der) }
        #expect(throws: CryptoError.notACertificate) { try Certificate.parseAll([]) }
        let text = pem(one) + pem(two).dropLast(40)
        #expect(throws: CryptoError.notACertificate) { try Certificate.parseAll(Array(text.utf8)) }
    }

    @Test func boundsTheNumberOfCertificates() throws {
        let der = try make().der
        let sixteen = Array((0..<16).map { _ in der }.joined())
        #expect(try Certificate.parseAll(sixteen).count == 16)
        #expect(throws: CryptoError.notACertificate) { try Certificate.parseAll(sixteen + der) }
    }

    @Test func givesTheValueOfAnExtension() throws {
        let certificate = try make { contents in
            contents.extensions = [
                CertificateExtension(identifier: "1.2.840.113635.100.6.13.1.3", value: [0x05, 0x00]),
                CertificateExtension(identifier: "1.2.840.113635.100.6.13.1.22", value: [0x02, 0x02, 26, 0]),
            ]
        }
        #expect(certificate.extensionValue("1.2.840.113635.100.6.13.1.22") == [0x02, 0x02, 26, 0])
        #expect(certificate.extensionValue("1.2.840.113635.100.6.13.1.3") == [0x05, 0x00])
        #expect(certificate.extensionValue("1.2.840.113635.100.6.13.1.4") == nil)
        #expect(certificate.extensionValue("no identifier") == nil)
        #expect(try make().extensionValue("1.2.840.113635.100.6.13.1.22") == nil)
    }

    @Test(arguments: [(0, 1), (946_684_800, 4_102_444_800), (1_700_000_000, 1_699_999_999), (-86_400, 253_402_300_799)])
    func carriesTheDatesThatItIsGiven(notBefore: Int64, notAfter: Int64) throws {
        let certificate = try make { contents in
            contents.notBefore = notBefore
            contents.notAfter = notAfter
        }
        #expect(certificate.notBefore == notBefore)
        #expect(certificate.notAfter == notAfter)
    }

    @Test func isDevelopmentMaterialByItsOrganizationAlone() throws {
        #expect(try make().isDevelopmentMaterial)
        #expect(try !make { $0.organization = "Example" }.isDevelopmentMaterial)
        #expect(
            try !make(Certificate.developmentOrganization.prefix(40).description) { $0.organization = "Example" }
                .isDevelopmentMaterial)
    }

    @Test func makesNoCertificateOfImpossibleContents() throws {
        #expect(throws: CryptoError.operationFailed("make a certificate")) {
            try make { $0.extensions = [CertificateExtension(identifier: "words", value: [1])] }
        }
        #expect(throws: CryptoError.operationFailed("make a certificate")) {
            try make { $0.notAfter = .max }
        }
    }
}
