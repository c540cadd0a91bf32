/// All active credentials; an SPC's version and certificate hash select one.
package struct CredentialSet: Sendable {
    private struct Selector: Hashable {
        let version: SPCVersion
        let hash: CertificateHash
    }

    package let credentials: [Credential]
    /// The container versions that are read at all: 1 and 2, and 3 if a credential enables it.
    package let servedVersions: Set<SPCVersion>
    private let keys: [Selector: CredentialKey]

    /// Throws `duplicateHash` if an SPC could mean two credentials.
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

    /// Throws `unknownCertificate`.
    package func key(for envelope: SPCEnvelope) throws(SPCError) -> CredentialKey {
        guard let key = key(version: envelope.version, hash: envelope.certificateHash) else {
            throw .unknownCertificate(hash: envelope.certificateHash)
        }
        return key
    }

    /// What opens an SPC of this version and certificate hash, or nil.
    package func key(version: SPCVersion, hash: CertificateHash) -> CredentialKey? {
        keys[Selector(version: version, hash: hash)]
    }

    /// The certificate hashes by which SPCs of a version name these credentials, in the order of the credentials.
    package func hashes(for version: SPCVersion) -> [CertificateHash] {
        credentials.flatMap(\.keys).filter { $0.version == version }.map(\.hash)
    }

    /// The same set, but the credentials of these names climb their ladders in these modules.
    package func connecting(_ modules: [String: any LadderModule]) -> CredentialSet {
        CredentialSet(
            credentials.map { credential in
                modules[credential.name].map { credential.climbing(.module($0)) } ?? credential
            },
            keys.mapValues { key in modules[key.credentialName].map { key.climbing(.module($0)) } ?? key })
    }
}
