private import COpenSSL
import Glibc
import HTTPServing
import KeyCrypto

/// A certificate made for a test, with its key.
@safe
final class TestCertificate: @unchecked Sendable {
    enum Algorithm: Sendable {
        case ecdsa
        case rsa
        case weakRSA
    }

    // Safe to share: nothing changes after `init`.
    fileprivate let certificate: OpaquePointer
    fileprivate let key: OpaquePointer
    private let issuer: TestCertificate?
    private let extraCount: Int

    /// Makes a certificate for these DNS names, valid from yesterday for 90 days, and signed by `issuer` or by
    /// itself. `padding` makes it larger by so many bytes. A client presents it with `extraCount` copies of it.
    init(
        _ names: String..., algorithm: Algorithm = .ecdsa, isAuthority: Bool = false, issuer: TestCertificate? = nil,
        padding: Int = 0, extraCount: Int = 0
    ) {
        self.issuer = issuer
        self.extraCount = extraCount
        // Safe here and below: this object owns the OpenSSL objects. The calls fail only if memory is exhausted, which
        // ends the test.
        guard let key = unsafe Self.makeKey(algorithm), let certificate = unsafe X509_new() else {
            preconditionFailure("no certificate")
        }
        unsafe self.key = key
        unsafe self.certificate = certificate
        unsafe X509_set_version(certificate, 2)
        unsafe ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), UInt64.random(in: 1..<1 << 62))
        unsafe ASN1_TIME_set(X509_getm_notBefore(certificate), time(nil) - 86_400)
        unsafe ASN1_TIME_set(X509_getm_notAfter(certificate), time(nil) + 89 * 86_400)
        unsafe X509_set_pubkey(certificate, key)
        let subject = unsafe X509_get_subject_name(certificate)
        let commonName = names.first ?? "nameless"
        unsafe X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_UTF8, commonName, -1, -1, 0)
        unsafe X509_set_issuer_name(certificate, X509_get_subject_name(issuer?.certificate ?? certificate))
        if isAuthority { unsafe Self.add(NID_basic_constraints, "critical,CA:TRUE", to: certificate) }
        if !names.isEmpty && !isAuthority {
            let list = names.map { "DNS:\($0)" }.joined(separator: ",")
            unsafe Self.add(NID_subject_alt_name, list, to: certificate)
        }
        if padding > 0 {
            unsafe Self.add(NID_netscape_comment, String(repeating: "a", count: padding), to: certificate)
        }
        unsafe X509_sign(certificate, issuer?.key ?? key, EVP_sha256())
    }

    private static func makeKey(_ algorithm: Algorithm) -> OpaquePointer? {
        switch algorithm {
        case .ecdsa: unsafe latchkey_p256_generate()
        case .rsa: unsafe latchkey_rsa_generate(2048)
        case .weakRSA: unsafe latchkey_rsa_generate(1024)
        }
    }

    deinit {
        unsafe X509_free(certificate)
        unsafe EVP_PKEY_free(key)
    }

    private static func add(_ nid: Int32, _ value: String, to certificate: OpaquePointer) {
        let addition = unsafe X509V3_EXT_conf_nid(nil, nil, nid, value)
        unsafe X509_add_ext(certificate, addition, -1)
        unsafe X509_EXTENSION_free(addition)
    }

    /// The certificate and its issuers except the last, in PEM.
    var chainPEM: [UInt8] { pem + (issuer?.issuer == nil ? [] : issuer?.chainPEM ?? []) }

    var pem: [UInt8] {
        unsafe Self.write { bio in unsafe PEM_write_bio_X509(bio, certificate) }
    }

    var keyPEM: [UInt8] {
        unsafe Self.write { bio in unsafe PEM_write_bio_PKCS8PrivateKey(bio, key, nil, nil, 0, nil, nil) }
    }

    /// Makes a client's session present this certificate.
    func install(in session: OpaquePointer) {
        unsafe SSL_use_certificate(session, certificate)
        unsafe SSL_use_PrivateKey(session, key)
        for _ in 0..<extraCount {
            unsafe SSL_ctrl(session, SSL_CTRL_CHAIN_CERT, 1, UnsafeMutableRawPointer(certificate))
        }
    }

    func identity() throws(TLSError) -> TLSIdentity {
        try TLSIdentity(chain: chainPEM, privateKey: SecretBytes(copying: keyPEM))
    }

    private static func write(_ body: (OpaquePointer?) -> Int32) -> [UInt8] {
        let bio = unsafe BIO_new(BIO_s_mem())
        defer { unsafe BIO_free(bio) }
        precondition(unsafe body(bio) == 1, "PEM cannot be written")
        var start: UnsafeMutablePointer<CChar>?
        let count = unsafe latchkey_bio_memory(bio, &start)
        return unsafe Array(UnsafeRawBufferPointer(start: start, count: count))
    }
}
