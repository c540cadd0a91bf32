import COpenSSL
import Glibc

extension Certificate {
    /// A self-signed development certificate for `key`, valid for ten years from `now` (seconds since 1970).
    ///
    /// Its organization is `developmentOrganization`, by which the daemon refuses it where strangers could reach it.
    package static func makeDevelopment(
        for key: RSAPrivateKey, commonName: String, now: Int64
    ) throws(CryptoError) -> Certificate {
        guard let certificate = unsafe X509_new() else { throw .operationFailed("make a certificate") }
        defer { unsafe X509_free(certificate) }
        let serial = try RandomBytes.generateUInt64() >> 1
        let filled =
            unsafe X509_set_version(certificate, 2) == 1
            && ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial) == 1
            && ASN1_TIME_set(X509_getm_notBefore(certificate), time_t(now)) != nil
            && ASN1_TIME_set(X509_getm_notAfter(certificate), time_t(now + 10 * 365 * 86_400)) != nil
            && X509_set_pubkey(certificate, key.key.pointer) == 1
            && name(X509_get_subject_name(certificate), commonName)
            && X509_set_issuer_name(certificate, X509_get_subject_name(certificate)) == 1
            && X509_sign(certificate, key.key.pointer, EVP_sha256()) > 0
        guard filled else { throw .operationFailed("make a certificate") }
        let size = unsafe i2d_X509(certificate, nil)
        var der = [UInt8](repeating: 0, count: Int(max(0, size)))
        unsafe der.withUnsafeMutableBufferPointer { buffer in
            var cursor = buffer.baseAddress
            _ = unsafe i2d_X509(certificate, &cursor)
        }
        return try Certificate(parsing: der)
    }

    private static func name(_ name: OpaquePointer?, _ commonName: String) -> Bool {
        unsafe X509_NAME_add_entry_by_txt(name, "O", MBSTRING_UTF8, developmentOrganization, -1, -1, 0) == 1
            && X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, commonName, -1, -1, 0) == 1
    }
}
