import ByteCoding
package import KeyCrypto

/// What Apple issues for one deployment: certificates, their private keys, and what opens SK..R1 blocks.
package final class Credential: Sendable {
    package let name: String
    package let certificate1024: Certificate?
    package let certificate2048: Certificate?
    package let ladder: SessionKeyLadder
    /// Whether SPCs of version 3 are opened, which no vector from outside proves (protocol, section 1.2).
    package let servesVersion3: Bool
    /// What the hashes of this credential select.
    package let keys: [CredentialKey]

    /// A certificate with its private key.
    package struct KeyPair: Sendable {
        package let certificate: Certificate
        package let privateKey: RSAPrivateKey

        /// Throws `keyMismatch` unless the key belongs to the certificate.
        package init(certificate: Certificate, privateKey: RSAPrivateKey) throws(CredentialError) {
            guard certificate.publicKey.matches(privateKey) else { throw .keyMismatch(bits: certificate.keyBits) }
            self.certificate = certificate
            self.privateKey = privateKey
        }
    }

    /// Either pair may be absent, but not both. Throws `noCertificate`, `wrongKeySize`, `version3WithoutKey2048` or
    /// `cryptography`.
    package init(
        name: String, pair1024: KeyPair?, pair2048: KeyPair?, ladder: SessionKeyLadder, servesVersion3: Bool = false
    ) throws(CredentialError) {
        guard pair1024 != nil || pair2048 != nil else { throw .noCertificate }
        for (pair, bits) in [(pair1024, 1024), (pair2048, 2048)] {
            guard let pair, pair.certificate.keyBits != bits else { continue }
            throw .wrongKeySize(expected: bits, actual: pair.certificate.keyBits)
        }
        guard !servesVersion3 || pair2048 != nil else { throw .version3WithoutKey2048 }
        self.name = name
        self.ladder = ladder
        self.servesVersion3 = servesVersion3
        certificate1024 = pair1024?.certificate
        certificate2048 = pair2048?.certificate
        let subjects = CredentialSubjects(
            name: name, pair1024: pair1024, pair2048: pair2048, ladder: ladder, servesVersion3: servesVersion3)
        keys = try wrap(CredentialError.cryptography, try subjects.keys())
    }

    /// A copy of `other` on another ladder.
    private init(_ other: Credential, ladder: SessionKeyLadder) {
        name = other.name
        certificate1024 = other.certificate1024
        certificate2048 = other.certificate2048
        servesVersion3 = other.servesVersion3
        self.ladder = ladder
        keys = other.keys.map { $0.climbing(ladder) }
    }

    /// The same credential on another ladder.
    package func climbing(_ ladder: SessionKeyLadder) -> Credential {
        Credential(self, ladder: ladder)
    }

    /// The 1024-bit certificate followed by the 2048-bit one, or the only one there is: what an app gives to its
    /// player.
    package var bundle: [UInt8] {
        (certificate1024?.der ?? []) + (certificate2048?.der ?? [])
    }

    package var isDevelopmentMaterial: Bool {
        hasFixedDASk || [certificate1024, certificate2048].contains { $0?.isDevelopmentMaterial ?? false }
    }

    private var hasFixedDASk: Bool {
        switch ladder {
        case .applicationSecret(let ladder): ladder.kind == .fixedDASk
        case .module: false
        }
    }
}
