import COpenSSL

/// What a file of certificates and keys has, in the forms in which Apple, authorities and Keychain Access give them:
/// PEM or DER, one or several, plain or encrypted, and PKCS#12.
///
/// The daemon reads only certificates and private keys. This reader takes a file apart once, when a set-up is made.
package struct KeyMaterialFile: Sendable {
    package let certificates: [HeldCertificate]
    /// The private key; nil if the file has none. Of a PEM text with several, the first one.
    package let privateKey: HeldKey?
    /// The public key (SubjectPublicKeyInfo); nil if the file has certificates or a private key.
    package let publicKey: HeldKey?

    package var isEmpty: Bool { certificates.isEmpty && privateKey == nil && publicKey == nil }

    /// Reads the file. Throws `passphraseMissing` and `passphraseWrong` for an encrypted one, and `operationFailed` for
    /// PKCS#12 whose cipher OpenSSL does not know.
    package init(parsing bytes: [UInt8], passphrase: SharedSecret?) throws(CryptoError) {
        if let read = try Self.readPKCS12(bytes, passphrase) {
            certificates = read.certificates.map(HeldCertificate.init)
            privateKey = read.key.map(HeldKey.init)
            publicKey = nil
            return
        }
        certificates = OpenSSLCertificate.readAll(bytes, countMaximum: 16).map(HeldCertificate.init)
        privateKey = try PrivateKeyReader.read(bytes, passphrase: passphrase).map { HeldKey($0.key) }
        publicKey =
            certificates.isEmpty && privateKey == nil ? OpenSSLKey.publicKey(from: bytes).map(HeldKey.init) : nil
    }

    /// Returns nil if the bytes are not PKCS#12.
    private static func readPKCS12(
        _ bytes: [UInt8], _ passphrase: SharedSecret?
    ) throws(CryptoError) -> (certificates: [OpenSSLCertificate], key: OpenSSLKey?)? {
        defer { ERR_clear_error() }
        let parsed = unsafe MemoryInput.read(bytes) { bio in unsafe d2i_PKCS12_bio(bio, nil) }
        guard let parsed = unsafe parsed else { return nil }
        defer { unsafe PKCS12_free(parsed) }
        // Keychain Access still writes RC2, which OpenSSL keeps in a provider of old ciphers. A system may lack it.
        _ = unsafe OSSL_PROVIDER_try_load(nil, "legacy", 1)
        let word = passphrase?.bytes.revealed() ?? []
        return try unsafe (word + [0]).withUnsafeBufferPointer { (buffer) throws(CryptoError) in
            // Safe: the text ends with a zero byte, and exists during the calls.
            let text = unsafe UnsafeRawPointer(buffer.baseAddress!).assumingMemoryBound(to: CChar.self)
            guard unsafe PKCS12_verify_mac(parsed, text, Int32(word.count)) == 1 else {
                throw passphrase == nil ? .passphraseMissing : .passphraseWrong
            }
            var (key, certificate, others) = unsafe (OpaquePointer?.none, OpaquePointer?.none, OpaquePointer?.none)
            guard unsafe PKCS12_parse(parsed, text, &key, &certificate, &others) == 1 else {
                throw .operationFailed("open the PKCS#12 file, whose cipher it does not know")
            }
            var found = unsafe [OpenSSLCertificate(owning: certificate)].compactMap(\.self)
            // Safe: taking from the stack passes the certificate to its new owner, and the stack itself is freed.
            while let next = unsafe OpenSSLCertificate(owning: latchkey_take_certificate(others)) { found.append(next) }
            unsafe latchkey_free_certificates(others)
            return unsafe (found, OpenSSLKey(owning: key))
        }
    }
}

/// A certificate of any kind in a `KeyMaterialFile`.
package struct HeldCertificate: Sendable {
    private let certificate: OpenSSLCertificate

    init(_ certificate: OpenSSLCertificate) { self.certificate = certificate }

    /// The DER encoding; empty if OpenSSL has no memory for it.
    package var der: [UInt8] { certificate.der ?? [] }

    /// The size of the modulus in bits; nil for a key that is not RSA.
    package var rsaBits: Int? {
        certificate.publicKey.flatMap { $0.isKind("RSA") ? $0.size * 8 : nil }
    }

    /// The subject's first organizational unit. Apple puts the ID of the developer's team there.
    package var organizationalUnit: String? { certificate.organizationalUnit }

    /// Algorithm and size of its key, such as "an RSA key of 2048 bits".
    package var keySummary: String { certificate.publicKey?.summary ?? "an unknown key" }

    /// Whether it names the hosts of a server (subjectAltName).
    package var isForServer: Bool { certificate.extensionValue("2.5.29.17") != nil }

    /// Whether it may issue others (basicConstraints).
    package var isAuthority: Bool { unsafe X509_check_ca(certificate.pointer) == 1 }

    package func isIssued(by other: HeldCertificate) -> Bool {
        defer { ERR_clear_error() }
        return unsafe X509_check_issued(other.certificate.pointer, certificate.pointer) == X509_V_OK
    }

    package func belongs(to key: HeldKey) -> Bool { certificate.publicKey?.hasSamePublicPart(as: key.key) ?? false }
}

/// A private or public key of any kind in a `KeyMaterialFile`.
package struct HeldKey: Sendable {
    let key: OpenSSLKey

    init(_ key: OpenSSLKey) { self.key = key }

    /// The key as unencrypted PKCS#8 PEM.
    package func privatePEM() throws(CryptoError) -> SecretBytes { try key.privatePEM() }

    package func publicPEM() throws(CryptoError) -> [UInt8] { try key.publicPEM() }

    /// Algorithm and size, such as "an RSA key of 2048 bits".
    package var summary: String { key.summary }

    /// Whether the other key has the same public part.
    package func hasSamePublicPart(as other: HeldKey) -> Bool { key.hasSamePublicPart(as: other.key) }

    /// The algorithm of tokens that the public part verifies, as the configuration names it; nil for another kind.
    package var tokenAlgorithm: String? {
        guard let pem = try? key.publicPEM() else { return nil }
        // Errors are ignored, because each `try?` only asks whether the key has this kind.
        if (try? ES256PublicKey(parsing: pem)) != nil { return "ES256" }
        if (try? Ed25519PublicKey(parsing: pem)) != nil { return "EdDSA" }
        return (try? RS256PublicKey(parsing: pem)) != nil ? "RS256" : nil
    }
}
