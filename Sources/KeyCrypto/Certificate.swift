/// An X.509 certificate as a FairPlay credential uses it: a public key, and bytes whose hash names it.
package final class Certificate: Sendable {
    private let certificate: OpenSSLCertificate
    /// The DER encoding: what devices hash.
    package let der: [UInt8]
    package let publicKey: RSAPublicKey

    /// The organization of certificates that `latchkey init` makes; the daemon knows development material by it.
    package static let developmentOrganization = "Latchkey development, not issued by Apple"

    /// The most certificates that a file may hold.
    private static let countMaximum = 16

    /// One certificate of an RSA key in DER or PEM. Throws `notACertificate`, or `notAKey` for another kind of key.
    package convenience init(parsing bytes: [UInt8]) throws(CryptoError) {
        let found = OpenSSLCertificate.readAll(bytes, countMaximum: 1)
        guard let certificate = found.first else { throw .notACertificate }
        try self.init(certificate)
    }

    private init(_ certificate: OpenSSLCertificate) throws(CryptoError) {
        guard let der = certificate.der else { throw .notACertificate }
        guard let key = certificate.publicKey, key.isKind("RSA") else { throw .notAKey("a certificate of an RSA key") }
        self.certificate = certificate
        self.der = der
        publicKey = RSAPublicKey(key)
    }

    /// All certificates of a file, at least one: DER encodings one after another, or a PEM text. Throws as `init` does.
    package static func parseAll(_ bytes: [UInt8]) throws(CryptoError) -> [Certificate] {
        let found = OpenSSLCertificate.readAll(bytes, countMaximum: countMaximum)
        guard !found.isEmpty else { throw .notACertificate }
        return try found.map { (certificate) throws(CryptoError) in try Certificate(certificate) }
    }

    /// The size of the modulus in bits.
    package var keyBits: Int { publicKey.modulusSize * 8 }

    /// The beginning of its validity in seconds since 1970, or nil if the certificate has none that can be read.
    package var notBefore: Int64? { certificate.notBefore }

    /// The end of its validity in seconds since 1970, or nil if the certificate has none that can be read.
    package var notAfter: Int64? { certificate.notAfter }

    /// Whether `latchkey init` made it.
    package var isDevelopmentMaterial: Bool {
        certificate.organization == Self.developmentOrganization
    }

    /// The value of the first extension with this object identifier, such as "2.5.29.15"; nil if the certificate does
    /// not have it.
    package func extensionValue(_ identifier: String) -> [UInt8]? {
        certificate.extensionValue(identifier)
    }
}
