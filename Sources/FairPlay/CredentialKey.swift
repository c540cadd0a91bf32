package import KeyCrypto

/// The private key and the ladder that open the SPCs of one version and one certificate hash.
package struct CredentialKey: Sendable {
    /// The byte string whose hash an SPC contains.
    package enum Subject: String, Sendable, CaseIterable {
        /// The DER encoding of the 1024-bit certificate.
        case certificate1024
        /// The DER encoding of the 2048-bit certificate.
        case certificate2048
        /// The 1024-bit certificate followed by the 2048-bit one: the file that apps get.
        case bundle
    }

    package let credentialName: String
    package let version: SPCVersion
    package let subject: Subject
    /// The hash of the byte string, with the digest of the SPC's version.
    package let hash: CertificateHash
    /// The SHA-1 of the same byte string, which external modules use. It equals `hash`, except in version 3.
    package let sha1: CertificateHash
    package let privateKey: RSAPrivateKey
    package let ladder: SessionKeyLadder
    /// Of the whole credential.
    package let use: CredentialUse

    /// Returns the same key with another ladder and another count.
    func with(ladder: SessionKeyLadder, use: CredentialUse) -> CredentialKey {
        CredentialKey(
            credentialName: credentialName, version: version, subject: subject, hash: hash, sha1: sha1,
            privateKey: privateKey, ladder: ladder, use: use)
    }
}

/// The byte strings of one credential whose hashes SPCs contain, and the keys that these hashes select.
struct CredentialSubjects {
    let name: String
    let pair1024: Credential.KeyPair?
    let pair2048: Credential.KeyPair?
    let ladder: SessionKeyLadder
    let use: CredentialUse
    let servesVersion3: Bool

    /// Returns a key for each version and hash (protocol, sections 1.1 and 1.2).
    ///
    /// Version 1 has the hash of the 1024-bit certificate or of the bundle. Version 2 has the hash of the 2048-bit
    /// certificate. Version 3 has the hash of any of the three, and always uses the 2048-bit key.
    func keys() throws(CryptoError) -> [CredentialKey] {
        let crypto = try CryptoContext()
        var keys: [CredentialKey] = []
        for (subject, bytes) in subjects {
            let sha1 = try CertificateHash(.sha1, of: bytes, using: crypto)
            if let (version, privateKey) = classicKey(for: subject) {
                keys.append(key(version, subject, hash: sha1, sha1: sha1, privateKey))
            }
            if servesVersion3, let pair2048 {
                let sha256 = try CertificateHash(.sha256, of: bytes, using: crypto)
                keys.append(key(.v3, subject, hash: sha256, sha1: sha1, pair2048.privateKey))
            }
        }
        return keys
    }

    private var subjects: [(CredentialKey.Subject, [UInt8])] {
        let der1024 = pair1024?.certificate.der
        let der2048 = pair2048?.certificate.der
        var subjects: [(CredentialKey.Subject, [UInt8])] = []
        if let der1024 { subjects.append((.certificate1024, der1024)) }
        if let der2048 { subjects.append((.certificate2048, der2048)) }
        if let der1024, let der2048 { subjects.append((.bundle, der1024 + der2048)) }
        return subjects
    }

    /// Returns the version below 3 in which SPCs contain the hash of this byte string, and the private key for it.
    private func classicKey(for subject: CredentialKey.Subject) -> (SPCVersion, RSAPrivateKey)? {
        switch subject {
        case .certificate1024, .bundle: pair1024.map { (.v1, $0.privateKey) }
        case .certificate2048: pair2048.map { (.v2, $0.privateKey) }
        }
    }

    private func key(
        _ version: SPCVersion, _ subject: CredentialKey.Subject, hash: CertificateHash, sha1: CertificateHash,
        _ privateKey: RSAPrivateKey
    ) -> CredentialKey {
        CredentialKey(
            credentialName: name, version: version, subject: subject, hash: hash, sha1: sha1, privateKey: privateKey,
            ladder: ladder, use: use)
    }
}
