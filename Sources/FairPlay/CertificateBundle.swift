package import KeyCrypto

/// The file that Apple issues for newer deployments: the 1024-bit certificate followed by the 2048-bit one (protocol,
/// section 3.5).
package struct CertificateBundle: Sendable {
    package let certificate1024: Certificate
    package let certificate2048: Certificate

    /// The two DER encodings with nothing around them, or a PEM text with both certificates; the smaller one comes
    /// first either way, because the hash of the whole depends on the order.
    package init(parsing bytes: [UInt8]) throws(CertificateBundleError) {
        let certificates: [Certificate]
        do throws(CryptoError) {
            certificates = try Certificate.parseAll(bytes)
        } catch {
            throw .notCertificates
        }
        guard certificates.count == 2 else { throw .wrongCount(certificates.count) }
        let sizes = certificates.map(\.keyBits)
        if sizes == [2048, 1024] { throw .swapped }
        guard sizes == [1024, 2048] else { throw .wrongSizes(sizes) }
        certificate1024 = certificates[0]
        certificate2048 = certificates[1]
    }
}

/// Why a file is no bundle.
package enum CertificateBundleError: Error, Equatable, Sendable {
    /// The file holds something that is no certificate of an RSA key.
    case notCertificates
    /// It holds another number of certificates than two.
    case wrongCount(Int)
    /// The 2048-bit certificate comes first.
    case swapped
    /// The keys have other sizes, in bits, in the order of the file.
    case wrongSizes([Int])
}
