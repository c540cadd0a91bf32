package import KeyCrypto

/// The file that Apple issues for newer deployments: the 1024-bit certificate followed by the 2048-bit one (protocol,
/// section 3.5).
package struct CertificateBundle: Sendable {
    package let certificate1024: Certificate
    package let certificate2048: Certificate

    /// Reads two concatenated DER encodings, or a PEM text with two certificates.
    ///
    /// The 1024-bit certificate must come first, because the hash of the bundle depends on the order.
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

/// Why a file is not a bundle.
package enum CertificateBundleError: Error, Equatable, Sendable {
    /// The file contains something that is not a certificate with an RSA key.
    case notCertificates
    /// The file does not contain exactly two certificates.
    case wrongCount(Int)
    /// The 2048-bit certificate comes first.
    case swapped
    /// The keys have other sizes, in bits, in the order of the file.
    case wrongSizes([Int])
}
