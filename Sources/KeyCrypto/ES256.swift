import COpenSSL
import Glibc
import Synchronization

/// An ECDSA P-256 public key, for JWT signatures of the kind ES256 (RFC 7518, section 3.4).
package final class ES256PublicKey: Sendable {
    /// The size of a signature: r and s of 32 bytes each.
    package static let signatureSize = 64

    let key: OpenSSLKey
    /// The coordinates of the point in the form of an accelerator: x and then y, each as four little-endian words.
    /// Empty if OpenSSL does not tell them.
    let pointWords: [UInt64]
    /// Whether an accelerator can use the key.
    var fitsLanes: Bool { pointWords.count == 8 }
    private let verifications: VerificationPool

    init(_ key: OpenSSLKey) {
        self.key = key
        pointWords = key.p256PointWords
        verifications = VerificationPool(key)
    }

    /// Reads a SubjectPublicKeyInfo in PEM or DER. Throws `notAKey`.
    package convenience init(parsing bytes: [UInt8]) throws(CryptoError) {
        guard let key = OpenSSLKey.publicKey(from: bytes), key.isP256 else {
            throw .notAKey("a P-256 public key in PEM or DER")
        }
        self.init(key)
    }

    /// Makes a key from the coordinates of its point, 32 bytes each (RFC 7518, section 6.2.1).
    ///
    /// Throws `wrongSize`, and `notAKey` for a point that is not on the curve.
    package convenience init(x: [UInt8], y: [UInt8]) throws(CryptoError) {
        for coordinate in [x, y] where coordinate.count != 32 {
            throw .wrongSize(expected: 32, actual: coordinate.count)
        }
        try self.init(parsing: PublicKeyEncoding.p256(x: x, y: y))
    }

    /// Whether `signature` (r ‖ s, 64 bytes) over the SHA-256 of `message` was made by the private key; nil if OpenSSL
    /// fails and cannot tell.
    package func verify(_ signature: ArraySlice<UInt8>, for message: ArraySlice<UInt8>) -> Bool? {
        guard signature.count == Self.signatureSize else { return false }
        return verifications.verify(ECDSASignature.encode(signature), message)
    }

    /// The same for a message whose digest is known.
    func verify(_ check: ES256Check) -> Bool? {
        verifications.verify(ECDSASignature.encode(check.signature), digest: check.digest)
    }

    /// Whether OpenSSL finds that the signature was made by the private key.
    package func isValidSignature(_ signature: ArraySlice<UInt8>, for message: ArraySlice<UInt8>) -> Bool {
        verify(signature, for: message) == true
    }

    package func publicPEM() throws(CryptoError) -> [UInt8] {
        try key.publicPEM()
    }
}

/// An ECDSA P-256 private key, for minting tokens.
package final class ES256PrivateKey: Sendable {
    let key: OpenSSLKey

    private init(_ key: OpenSSLKey) {
        self.key = key
    }

    /// Reads an unencrypted key in PEM or DER. Throws `notAKey` or `passphraseMissing`.
    package convenience init(parsing bytes: [UInt8]) throws(CryptoError) {
        guard let reading = try PrivateKeyReader.read(bytes, passphrase: nil), reading.key.isP256 else {
            throw .notAKey("a P-256 private key in PEM or DER")
        }
        self.init(reading.key)
    }

    package static func generate() throws(CryptoError) -> ES256PrivateKey {
        guard let key = unsafe OpenSSLKey(owning: latchkey_p256_generate()) else {
            throw .operationFailed("generate a P-256 key")
        }
        return ES256PrivateKey(key)
    }

    package var publicKey: ES256PublicKey { ES256PublicKey(key) }

    package func privatePEM() throws(CryptoError) -> SecretBytes {
        try key.privatePEM()
    }

    /// Returns the signature over the SHA-256 of `message`: r ‖ s, 64 bytes.
    package func signature(for message: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard let context = unsafe EVP_MD_CTX_new() else { throw .operationFailed("sign") }
        defer { unsafe EVP_MD_CTX_free(context) }
        // A DER signature of P-256 has at most 72 bytes.
        var encoded = [UInt8](repeating: 0, count: 80)
        var size = encoded.count
        let signed =
            unsafe EVP_DigestSignInit_ex(context, nil, "SHA256", nil, nil, key.pointer, nil) == 1
            && EVP_DigestSign(context, &encoded, &size, message, message.count) == 1
        guard signed, let raw = ECDSASignature.decode(encoded.prefix(size)) else { throw .operationFailed("sign") }
        return raw
    }
}

extension OpenSSLKey {
    fileprivate var isP256: Bool {
        var name = [CChar](repeating: 0, count: 32)
        var length = 0
        guard isKind("EC"), unsafe EVP_PKEY_get_group_name(pointer, &name, name.count, &length) == 1 else {
            return false
        }
        return name.prefix(length).map { UInt8(bitPattern: $0) } == Array("prime256v1".utf8)
    }

    /// The coordinates of the point of a P-256 key, each as four little-endian words; empty if OpenSSL fails.
    fileprivate var p256PointWords: [UInt64] {
        defer { ERR_clear_error() }
        var words: [UInt64] = []
        for name in [OSSL_PKEY_PARAM_EC_PUB_X, OSSL_PKEY_PARAM_EC_PUB_Y] {
            var number: OpaquePointer?
            guard unsafe EVP_PKEY_get_bn_param(pointer, name, &number) == 1 else { return [] }
            defer { unsafe BN_free(number) }
            var bytes = [UInt8](repeating: 0, count: 32)
            guard unsafe BN_bn2lebinpad(number, &bytes, 32) == 32 else { return [] }
            for start in stride(from: 0, to: 32, by: 8) {
                words.append(bytes[start..<start + 8].reversed().reduce(0) { $0 << 8 | UInt64($1) })
            }
        }
        return words
    }
}

/// Converts signatures between the raw form of JWTs (r ‖ s) and the DER form of OpenSSL.
private enum ECDSASignature {
    /// Encodes 64 bytes as ECDSA-Sig-Value (RFC 3279, section 2.2.3): a sequence of two integers, each as short as
    /// possible.
    static func encode(_ raw: ArraySlice<UInt8>) -> [UInt8] {
        precondition(raw.count == 64, "a raw signature has 64 bytes")
        var encoded: [UInt8] = [0x30, 0]
        encoded.reserveCapacity(72)
        append(raw.prefix(32), to: &encoded)
        append(raw.suffix(32), to: &encoded)
        encoded[1] = UInt8(encoded.count - 2)
        return encoded
    }

    private static func append(_ number: ArraySlice<UInt8>, to encoded: inout [UInt8]) {
        let first = number.firstIndex { $0 != 0 } ?? number.endIndex
        // A leading 1 bit would mean a negative number. The number zero needs one byte.
        let isPadded = first == number.endIndex || number[first] >= 0x80
        encoded.append(0x02)
        encoded.append(UInt8(number.endIndex - first + (isPadded ? 1 : 0)))
        if isPadded { encoded.append(0) }
        encoded.append(contentsOf: number[first...])
    }

    static func decode(_ encoded: ArraySlice<UInt8>) -> [UInt8]? {
        let parsed = unsafe encoded.withUnsafeBufferPointer { bytes in
            var cursor = bytes.baseAddress
            return unsafe d2i_ECDSA_SIG(nil, &cursor, bytes.count)
        }
        guard let signature = unsafe parsed else { return nil }
        defer { unsafe ECDSA_SIG_free(signature) }
        var raw = [UInt8](repeating: 0, count: 64)
        let padded = unsafe raw.withUnsafeMutableBufferPointer { buffer in
            guard let base = buffer.baseAddress else { return false }
            return unsafe BN_bn2binpad(ECDSA_SIG_get0_r(signature), base, 32) == 32
                && BN_bn2binpad(ECDSA_SIG_get0_s(signature), base + 32, 32) == 32
        }
        return padded ? raw : nil
    }
}

/// A pool of contexts that are prepared to verify with one key, for concurrent threads.
///
/// To prepare a context, OpenSSL looks up digest and signature by their names, which takes locks and several
/// microseconds.
private final class VerificationPool: Sendable {
    /// The most contexts that are kept. If more threads verify concurrently, their contexts are not kept.
    private static let countMaximum = 64

    private let key: OpenSSLKey
    private let idle = Mutex<[Verification]>([])

    init(_ key: OpenSSLKey) {
        self.key = key
    }

    func verify(_ encoded: [UInt8], _ message: ArraySlice<UInt8>) -> Bool? {
        use { $0.verify(encoded, message) }
    }

    func verify(_ encoded: [UInt8], digest: [UInt8]) -> Bool? {
        use { $0.verify(encoded, digest: digest) }
    }

    private func use(_ verify: (Verification) -> Bool?) -> Bool? {
        defer { ERR_clear_error() }
        guard let verification = idle.withLock({ $0.popLast() }) ?? Verification(key) else { return nil }
        let isValid = verify(verification)
        idle.withLock { if $0.count < Self.countMaximum { $0.append(verification) } }
        return isValid
    }
}

/// A context that verifies signatures one after the other. It owns its OpenSSL objects.
@safe
private final class Verification: @unchecked Sendable {
    // Safe to send: only the thread that has taken it from the pool uses it.
    private let digest: DigestContext
    private let context: OpaquePointer

    init?(_ key: OpenSSLKey) {
        guard let digest = DigestContext("SHA2-256"),
            let context = unsafe EVP_PKEY_CTX_new_from_pkey(nil, key.pointer, nil)
        else { return nil }
        guard unsafe EVP_PKEY_verify_init(context) == 1 else {
            unsafe EVP_PKEY_CTX_free(context)
            return nil
        }
        self.digest = digest
        unsafe self.context = context
    }

    deinit {
        unsafe EVP_PKEY_CTX_free(context)
    }

    func verify(_ encoded: [UInt8], _ message: ArraySlice<UInt8>) -> Bool? {
        guard let hash = unsafe try? digest.digest(message.span.bytes) else { return nil }
        return verify(encoded, digest: hash)
    }

    func verify(_ encoded: [UInt8], digest: [UInt8]) -> Bool? {
        // A negative number says that OpenSSL could not check the signature.
        switch unsafe EVP_PKEY_verify(context, encoded, encoded.count, digest, digest.count) {
        case 1: true
        case 0: false
        default: nil
        }
    }
}

extension ES256PrivateKey {
    /// Makes a self-signed TLS certificate of this key for this machine: `localhost`, 127.0.0.1 and ::1.
    ///
    /// It is in PEM, and valid for 397 days from `now` (seconds since 1970), because clients refuse certificates that
    /// are valid for much longer. Throws `operationFailed`.
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
