import ByteCoding
package import KeyCrypto

/// The credential that Apple issues for one deployment: certificates, their private keys, and the ladder that opens
/// SK..R1 blocks.
package final class Credential: Sendable {
    package let name: String
    package let stage: CredentialStage
    package let certificate1024: Certificate?
    package let certificate2048: Certificate?
    package let ladder: SessionKeyLadder
    /// Whether SPCs of version 3 are opened. No published test vector proves this version (protocol, section 1.2).
    package let servesVersion3: Bool
    /// The keys that the certificate hashes of this credential select.
    package let keys: [CredentialKey]
    /// Counts the SPCs that name this credential.
    package let use: CredentialUse

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

    /// Makes a credential with one or two key pairs.
    ///
    /// Throws `noCertificate`, `wrongKeySize`, `version3WithoutKey2048` or `cryptography`.
    package init(
        name: String, stage: CredentialStage = .serving, pair1024: KeyPair?, pair2048: KeyPair?,
        ladder: SessionKeyLadder, servesVersion3: Bool = false
    ) throws(CredentialError) {
        guard pair1024 != nil || pair2048 != nil else { throw .noCertificate }
        for (pair, bits) in [(pair1024, 1024), (pair2048, 2048)] {
            guard let pair, pair.certificate.keyBits != bits else { continue }
            throw .wrongKeySize(expected: bits, actual: pair.certificate.keyBits)
        }
        guard !servesVersion3 || pair2048 != nil else { throw .version3WithoutKey2048 }
        self.name = name
        self.stage = stage
        self.ladder = ladder
        self.servesVersion3 = servesVersion3
        use = CredentialUse()
        certificate1024 = pair1024?.certificate
        certificate2048 = pair2048?.certificate
        let subjects = CredentialSubjects(
            name: name, pair1024: pair1024, pair2048: pair2048, ladder: ladder, use: use,
            servesVersion3: servesVersion3)
        keys = try wrap(CredentialError.cryptography, try subjects.keys())
    }

    /// Makes a copy of `other` with another ladder or another count.
    private init(_ other: Credential, ladder: SessionKeyLadder, use: CredentialUse) {
        name = other.name
        stage = other.stage
        certificate1024 = other.certificate1024
        certificate2048 = other.certificate2048
        servesVersion3 = other.servesVersion3
        self.ladder = ladder
        self.use = use
        keys = other.keys.map { $0.with(ladder: ladder, use: use) }
    }

    /// Returns the same credential with another ladder.
    package func climbing(_ ladder: SessionKeyLadder) -> Credential {
        Credential(self, ladder: ladder, use: use)
    }

    /// The same credential, which counts on in `use`.
    package func counting(in use: CredentialUse) -> Credential {
        Credential(self, ladder: ladder, use: use)
    }

    /// The file that an app gives to its player: the 1024-bit certificate followed by the 2048-bit one, or the only
    /// certificate.
    package var bundle: [UInt8] {
        (certificate1024?.der ?? []) + (certificate2048?.der ?? [])
    }

    package var isDevelopmentMaterial: Bool {
        hasFixedDASk || [certificate1024, certificate2048].contains { $0?.isDevelopmentMaterial ?? false }
    }

    private var hasFixedDASk: Bool {
        switch ladder {
        case .applicationSecret(let ladder): ladder.kind == .fixedDASk
        case .module, .library: false
        }
    }
}

/// Why files cannot be used as a credential.
package enum CredentialError: Error, Equatable, Sendable {
    case noCertificate
    case wrongKeySize(expected: Int, actual: Int)
    case keyMismatch(bits: Int)
    /// SPC version 3 is enabled, but there is no 2048-bit key for it.
    case version3WithoutKey2048
    case cryptography(CryptoError)
    /// Two credentials have the same certificate hash for the same version.
    case duplicateHash(first: String, second: String)
}

/// The means to open the SK..R1 blocks of a credential: a secret in this process, a module outside it (protocol,
/// sections 3.1 and 3.5), or a library outside it that writes the whole CKC.
package enum SessionKeyLadder: Sendable {
    case applicationSecret(ApplicationSecretKeyLadder)
    case module(any LadderModule)
    case library(any LicenseLibrary)
}

/// All active credentials; an SPC's version and certificate hash select one.
package struct CredentialSet: Sendable {
    private struct Selector: Hashable {
        let version: SPCVersion
        let hash: CertificateHash
    }

    package let credentials: [Credential]
    /// The supported container versions: 1 and 2, and also 3 if a credential enables it.
    package let servedVersions: Set<SPCVersion>
    private let keys: [Selector: CredentialKey]

    /// Throws `duplicateHash` if two credentials have the same hash for the same version.
    package init(_ credentials: [Credential]) throws(CredentialError) {
        var keys: [Selector: CredentialKey] = [:]
        for key in credentials.flatMap(\.keys) {
            let selector = Selector(version: key.version, hash: key.hash)
            if let other = keys.updateValue(key, forKey: selector) {
                throw .duplicateHash(first: other.credentialName, second: key.credentialName)
            }
        }
        self.init(credentials, keys)
    }

    private init(_ credentials: [Credential], _ keys: [Selector: CredentialKey]) {
        self.credentials = credentials
        self.keys = keys
        servedVersions = credentials.contains(where: \.servesVersion3) ? [.v1, .v2, .v3] : [.v1, .v2]
    }

    /// Returns the key for an SPC. Throws `unknownCertificate`.
    package func key(for envelope: SPCEnvelope) throws(SPCError) -> CredentialKey {
        guard let key = key(version: envelope.version, hash: envelope.certificateHash) else {
            throw .unknownCertificate(hash: envelope.certificateHash)
        }
        return key
    }

    /// Returns the key for SPCs of this version and certificate hash; nil if the credential has no such key.
    package func key(version: SPCVersion, hash: CertificateHash) -> CredentialKey? {
        keys[Selector(version: version, hash: hash)]
    }

    /// Returns the certificate hashes that SPCs of a version can have, in the order of the credentials.
    package func hashes(for version: SPCVersion) -> [CertificateHash] {
        credentials.flatMap(\.keys).filter { $0.version == version }.map(\.hash)
    }

    /// Returns the same set, in which the credentials with these names have these ladders.
    package func connecting(_ ladders: [String: SessionKeyLadder]) -> CredentialSet {
        replacing { credential in ladders[credential.name].map(credential.climbing) ?? credential }
    }

    /// The same set, but each credential counts on where the one of its name in the older set has stopped.
    package func countingOn(from older: CredentialSet) -> CredentialSet {
        let uses = Dictionary(older.credentials.map { ($0.name, $0.use) }) { first, _ in first }
        return replacing { credential in uses[credential.name].map { credential.counting(in: $0) } ?? credential }
    }

    /// `copy` must keep names and certificates.
    private func replacing(_ copy: (Credential) -> Credential) -> CredentialSet {
        let copies = credentials.map(copy)
        let byName = Dictionary(copies.map { ($0.name, $0) }) { first, _ in first }
        return CredentialSet(
            copies,
            keys.mapValues { key in byName[key.credentialName].map { key.with(ladder: $0.ladder, use: $0.use) } ?? key }
        )
    }
}
