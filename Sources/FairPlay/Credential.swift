import ByteCoding
package import KeyCrypto

/// What Apple issues for one deployment: certificates, their private keys, and the secret that opens SK..R1 blocks.
package final class Credential: Sendable {
    package let name: String
    package let certificate1024: Certificate?
    package let certificate2048: Certificate?
    package let ladder: ApplicationSecretKeyLadder
    /// What the hashes of this credential select.
    package let keys: [CredentialKey]

    /// A certificate with its private key.
    package struct KeyPair {
        package let certificate: Certificate
        package let privateKey: RSAPrivateKey

        /// Throws `keyMismatch` unless the key belongs to the certificate.
        package init(certificate: Certificate, privateKey: RSAPrivateKey) throws(CredentialError) {
            guard certificate.publicKey.matches(privateKey) else { throw .keyMismatch(bits: certificate.keyBits) }
            self.certificate = certificate
            self.privateKey = privateKey
        }
    }

    /// Either pair may be absent, but not both. Throws `noCertificate` or `wrongKeySize`.
    package init(
        name: String, pair1024: KeyPair?, pair2048: KeyPair?, ladder: ApplicationSecretKeyLadder
    ) throws(CredentialError) {
        guard pair1024 != nil || pair2048 != nil else { throw .noCertificate }
        for (pair, bits) in [(pair1024, 1024), (pair2048, 2048)] {
            guard let pair, pair.certificate.keyBits != bits else { continue }
            throw .wrongKeySize(expected: bits, actual: pair.certificate.keyBits)
        }
        self.name = name
        self.ladder = ladder
        certificate1024 = pair1024?.certificate
        certificate2048 = pair2048?.certificate
        do throws(CryptoError) {
            keys = try Self.keys(credential: name, pair1024: pair1024, pair2048: pair2048, ladder: ladder)
        } catch {
            throw .cryptography(error)
        }
    }

    /// The 1024-bit certificate followed by the 2048-bit one, or the only one there is: what an app gives to its player.
    package var bundle: [UInt8] {
        (certificate1024?.der ?? []) + (certificate2048?.der ?? [])
    }

    package var isDevelopmentMaterial: Bool {
        ladder.kind == .fixedDASk
            || [certificate1024, certificate2048].contains { $0?.isDevelopmentMaterial ?? false }
    }

    /// Protocol, section 1.1: version 1 with the hash of the 1024-bit certificate or of the whole bundle, version 2 with that of the 2048-bit one.
    private static func keys(
        credential: String, pair1024: KeyPair?, pair2048: KeyPair?, ladder: ApplicationSecretKeyLadder
    ) throws(CryptoError) -> [CredentialKey] {
        let crypto = try CryptoContext()
        var keys: [CredentialKey] = []
        if let pair1024 {
            let der = pair1024.certificate.der
            keys.append(
                CredentialKey(
                    credential, .v1, try CertificateHash(.sha1, of: der, using: crypto), pair1024.privateKey, ladder))
            if let pair2048 {
                let bundle = der + pair2048.certificate.der
                keys.append(
                    CredentialKey(
                        credential, .v1, try CertificateHash(.sha1, of: bundle, using: crypto), pair1024.privateKey,
                        ladder))
            }
        }
        if let pair2048 {
            let der = pair2048.certificate.der
            keys.append(
                CredentialKey(
                    credential, .v2, try CertificateHash(.sha1, of: der, using: crypto), pair2048.privateKey, ladder))
        }
        return keys
    }
}

/// Why files do not make a credential.
package enum CredentialError: Error, Equatable, Sendable {
    case noCertificate
    case wrongKeySize(expected: Int, actual: Int)
    case keyMismatch(bits: Int)
    case cryptography(CryptoError)
    /// Two credentials have the same certificate hash for the same version.
    case duplicateHash(first: String, second: String)
}

/// What opens the SPCs of one version and one certificate hash.
package struct CredentialKey: Sendable {
    package let credentialName: String
    package let version: SPCVersion
    package let hash: CertificateHash
    package let privateKey: RSAPrivateKey
    package let ladder: ApplicationSecretKeyLadder

    init(
        _ credentialName: String, _ version: SPCVersion, _ hash: CertificateHash, _ privateKey: RSAPrivateKey,
        _ ladder: ApplicationSecretKeyLadder
    ) {
        self.credentialName = credentialName
        self.version = version
        self.hash = hash
        self.privateKey = privateKey
        self.ladder = ladder
    }
}

/// All active credentials; an SPC's version and certificate hash select one.
package struct CredentialSet: Sendable {
    private struct Selector: Hashable {
        let version: SPCVersion
        let hash: CertificateHash
    }

    package let credentials: [Credential]
    private let keys: [Selector: CredentialKey]

    /// Throws `duplicateHash` where an SPC could mean two credentials.
    package init(_ credentials: [Credential]) throws(CredentialError) {
        var keys: [Selector: CredentialKey] = [:]
        for key in credentials.flatMap(\.keys) {
            let selector = Selector(version: key.version, hash: key.hash)
            if let other = keys.updateValue(key, forKey: selector) {
                throw .duplicateHash(first: other.credentialName, second: key.credentialName)
            }
        }
        self.credentials = credentials
        self.keys = keys
    }

    /// Throws `unknownCertificate`.
    package func key(for envelope: SPCEnvelope) throws(SPCError) -> CredentialKey {
        let selector = Selector(version: envelope.version, hash: envelope.certificateHash)
        guard let key = keys[selector] else { throw .unknownCertificate(hash: envelope.certificateHash) }
        return key
    }
}
