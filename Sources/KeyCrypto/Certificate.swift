import COpenSSL
import Glibc

/// An X.509 certificate of a FairPlay credential: a public key, and the bytes whose hash an SPC contains.
package final class Certificate: Sendable {
    private let certificate: OpenSSLCertificate
    /// The DER encoding, which devices hash.
    package let der: [UInt8]
    package let publicKey: RSAPublicKey

    /// The organization in certificates that `latchkey init` makes. The daemon recognises development material by it.
    package static let developmentOrganization = "Latchkey development, not issued by Apple"

    /// The most certificates in a file.
    private static let countMaximum = 16

    /// Reads one certificate with an RSA key, in DER or PEM. Throws `notACertificate`, or `notAKey` for another kind of
    /// key.
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

    /// Reads all certificates of a file, at least one: concatenated DER encodings, or a PEM text. Throws the errors of
    /// `init`.
    package static func parseAll(_ bytes: [UInt8]) throws(CryptoError) -> [Certificate] {
        let found = OpenSSLCertificate.readAll(bytes, countMaximum: countMaximum)
        guard !found.isEmpty else { throw .notACertificate }
        return try found.map { (certificate) throws(CryptoError) in try Certificate(certificate) }
    }

    /// The size of the modulus in bits.
    package var keyBits: Int { publicKey.modulusSize * 8 }

    /// The beginning of its validity in seconds since 1970; nil if it cannot be read.
    package var notBefore: Int64? { certificate.notBefore }

    /// The end of its validity in seconds since 1970; nil if it cannot be read.
    package var notAfter: Int64? { certificate.notAfter }

    /// The subject's first organizational unit. Apple puts the ID of the developer's team there.
    package var organizationalUnit: String? { certificate.organizationalUnit }

    /// Whether `latchkey init` made the certificate.
    package var isDevelopmentMaterial: Bool {
        certificate.organization == Self.developmentOrganization
    }

    /// The value of the first extension with this object identifier, such as "2.5.29.15"; nil if the certificate does
    /// not have it.
    package func extensionValue(_ identifier: String) -> [UInt8]? {
        certificate.extensionValue(identifier)
    }
}

/// The contents of a self-signed certificate.
package struct SelfSignedContents: Sendable {
    package var organization = Certificate.developmentOrganization
    package var organizationalUnit: String?
    package var commonName: String
    /// The validity in seconds since 1970.
    package var notBefore: Int64
    package var notAfter: Int64
    package var extensions: [CertificateExtension] = []

    package init(commonName: String, notBefore: Int64, notAfter: Int64) {
        self.commonName = commonName
        self.notBefore = notBefore
        self.notAfter = notAfter
    }
}

/// A non-critical extension of a certificate.
package struct CertificateExtension: Sendable {
    /// The object identifier in dotted form.
    package let identifier: String
    /// Its DER encoded value.
    package let value: [UInt8]

    package init(identifier: String, value: [UInt8]) {
        self.identifier = identifier
        self.value = value
    }
}

extension Certificate {
    /// Makes a self-signed development certificate for `key`, valid for ten years from `now` (seconds since 1970).
    ///
    /// Its organization is `developmentOrganization`. The daemon refuses such certificates on public addresses.
    package static func makeDevelopment(
        for key: RSAPrivateKey, commonName: String, now: Int64
    ) throws(CryptoError) -> Certificate {
        try makeSelfSigned(
            SelfSignedContents(commonName: commonName, notBefore: now, notAfter: now + 10 * 365 * 86_400), for: key)
    }

    /// Makes a self-signed certificate for `key`. Throws `operationFailed` for invalid contents.
    package static func makeSelfSigned(
        _ contents: SelfSignedContents, for key: RSAPrivateKey
    ) throws(CryptoError) -> Certificate {
        guard let certificate = unsafe OpenSSLCertificate(owning: X509_new()) else {
            throw .operationFailed("make a certificate")
        }
        let serial = try RandomBytes.generateUInt64() >> 1
        guard unsafe fill(certificate.pointer, contents, key, serial: serial), let der = certificate.der else {
            ERR_clear_error()
            throw .operationFailed("make a certificate")
        }
        return try Certificate(parsing: der)
    }

    private static func fill(
        _ certificate: OpaquePointer, _ contents: SelfSignedContents, _ key: RSAPrivateKey, serial: UInt64
    ) -> Bool {
        unsafe X509_set_version(certificate, 2) == 1
            && ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial) == 1
            && ASN1_TIME_set(X509_getm_notBefore(certificate), time_t(contents.notBefore)) != nil
            && ASN1_TIME_set(X509_getm_notAfter(certificate), time_t(contents.notAfter)) != nil
            && X509_set_pubkey(certificate, key.key.pointer) == 1
            && name(X509_get_subject_name(certificate), contents)
            && X509_set_issuer_name(certificate, X509_get_subject_name(certificate)) == 1
            && contents.extensions.allSatisfy { unsafe add($0, to: certificate) }
            && X509_sign(certificate, key.key.pointer, EVP_sha256()) > 0
    }

    private static func name(_ name: OpaquePointer?, _ contents: SelfSignedContents) -> Bool {
        unsafe X509_NAME_add_entry_by_txt(name, "O", MBSTRING_UTF8, contents.organization, -1, -1, 0) == 1
            && (contents.organizationalUnit.map { unit in
                unsafe X509_NAME_add_entry_by_txt(name, "OU", MBSTRING_UTF8, unit, -1, -1, 0) == 1
            } ?? true)
            && X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, contents.commonName, -1, -1, 0) == 1
    }

    private static func add(_ item: CertificateExtension, to certificate: OpaquePointer) -> Bool {
        guard let object = unsafe OBJ_txt2obj(item.identifier, 1) else { return false }
        defer { unsafe ASN1_OBJECT_free(object) }
        guard let value = unsafe ASN1_OCTET_STRING_new() else { return false }
        defer { unsafe ASN1_OCTET_STRING_free(value) }
        // Safe: each call copies its arguments.
        guard unsafe ASN1_OCTET_STRING_set(value, item.value, Int32(item.value.count)) == 1,
            let made = unsafe X509_EXTENSION_create_by_OBJ(nil, object, 0, value)
        else { return false }
        defer { unsafe X509_EXTENSION_free(made) }
        return unsafe X509_add_ext(certificate, made, -1) == 1
    }
}
