import COpenSSL
import Glibc

extension ES256PrivateKey {
    /// A self-signed TLS certificate of this key for this machine alone: `localhost`, 127.0.0.1 and ::1.
    ///
    /// In PEM, valid for 397 days from `now` (seconds since 1970): clients refuse what lasts much longer. Throws
    /// `operationFailed`.
    package func makeLocalTLSCertificate(now: Int64) throws(CryptoError) -> [UInt8] {
        guard let certificate = unsafe X509_new() else { throw .operationFailed("make a certificate") }
        defer {
            unsafe X509_free(certificate)
            ERR_clear_error()
        }
        let serial = try RandomBytes.generateUInt64() >> 1
        let subject = unsafe X509_get_subject_name(certificate)
        let isMade =
            unsafe X509_set_version(certificate, 2) == 1
            && ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial) == 1
            && ASN1_TIME_set(X509_getm_notBefore(certificate), time_t(now - 3600)) != nil
            && ASN1_TIME_set(X509_getm_notAfter(certificate), time_t(now + 397 * 86_400)) != nil
            && X509_set_pubkey(certificate, key.pointer) == 1
            && X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, "localhost", -1, -1, 0) == 1
            && X509_set_issuer_name(certificate, subject) == 1
            && Self.add(NID_subject_alt_name, "DNS:localhost,IP:127.0.0.1,IP:::1", to: certificate)
            && Self.add(NID_ext_key_usage, "serverAuth", to: certificate)
            && Self.add(NID_basic_constraints, "critical,CA:FALSE", to: certificate)
            && X509_sign(certificate, key.pointer, EVP_sha256()) > 0
        guard isMade else { throw .operationFailed("make a certificate") }
        return try unsafe MemoryOutput.collect { bio in unsafe PEM_write_bio_X509(bio, certificate) == 1 }.revealed()
    }

    private static func add(_ kind: Int32, _ value: String, to certificate: OpaquePointer) -> Bool {
        guard let addition = unsafe X509V3_EXT_conf_nid(nil, nil, kind, value) else { return false }
        defer { unsafe X509_EXTENSION_free(addition) }
        return unsafe X509_add_ext(certificate, addition, -1) == 1
    }
}
