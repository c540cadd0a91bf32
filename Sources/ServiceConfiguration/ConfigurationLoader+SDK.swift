import ByteCoding
package import FairPlay
package import KeyCrypto
package import POSIXSockets

extension ConfigurationLoader {
    /// Loads the credentials of an SDK: one for each entry of its file. One faulty entry is a problem of the whole
    /// configuration.
    mutating func sdkCredential(
        _ configured: Configuration.Credential, _ sdk: Configuration.SDK, _ path: String
    ) -> ConfiguredCredential {
        let problemCount = problems.count
        let library = library(sdk.library, "\(path).sdk.library")
        let user = user(of: sdk.workers, "\(path).sdk")
        let privateKeys = privateKeys(of: configured, path)
        let place = "\(path).sdk.certificates"
        guard let certificates = sdkCertificates(sdk.certificates, place), var privateKeys else {
            return ConfiguredCredential([])
        }
        var entries: [ConfiguredCredential.Entry] = []
        var provisioned: [ProvisionedCredential] = []
        for (index, entry) in certificates.entries.enumerated() {
            let reading = SDKEntryPlace(
                name: certificates.entries.count == 1 ? configured.name : "\(configured.name)/\(index + 1)",
                path: "\(place)\(Self.pathIntoFile)\(SDKCertificates.place(of: index))", file: sdk.certificates)
            let material = entry.flatMap { self.material(of: $0, reading, &privateKeys) }
            let credential = material.flatMap { self.credential(of: $0, reading, configured) }
            entries.append(.init(path: reading.path, credential: credential))
            if let material, let credential, let data = material.provisioningData {
                provisioned.append(
                    ProvisionedCredential(number: index + 1, credential: credential, material: material, data: data))
            }
        }
        // If a key could not be read, the passphrase may be for that one.
        guard problems.count == problemCount, isPassphraseNeeded(by: privateKeys), let library, let user,
            let files = libraryFiles(provisioned, place)
        else { return ConfiguredCredential(entries) }
        let settings = LicenseLibrarySettings(
            name: configured.name, library: library, files: files, workers: sdk.workers.count,
            callDeadline: sdk.workers.callDeadline,
            memoryLimit: sdk.workers.memoryLimit, user: user, credentials: provisioned.map(\.credential.name),
            certificateHashes: provisioned.flatMap { $0.credential.keys.map(LicenseLibrarySettings.Hash.init) })
        return ConfiguredCredential(entries, library: settings)
    }

    /// Reads the file with the entries. If it has application secrets, it must have the permissions of a secret's file.
    private mutating func sdkCertificates(_ source: SecretSource, _ path: String) -> SDKCertificates? {
        guard let contents = publicFile(source, path) else { return nil }
        do throws(JSONError) {
            let certificates = try SDKCertificates(parsing: contents)
            if certificates.holdsSecrets, secret(source, path) == nil { return nil }
            for fault in certificates.faults {
                report(fault.place.isEmpty ? path : "\(path)\(Self.pathIntoFile)\(fault.place)", fault.fault)
            }
            return certificates
        } catch {
            report(path, .notJSON(error))
            return nil
        }
    }

    // MARK: Entries

    private mutating func credential(
        of material: SDKEntryMaterial, _ place: SDKEntryPlace, _ configured: Configuration.Credential
    ) -> Credential? {
        credential(
            named: place.name, configured, pair1024: material.pair1024, pair2048: material.pair2048, material.ladder,
            place.path)
    }

    /// Reads the files of an entry.
    private mutating func material(
        of entry: SDKCertificates.Entry, _ place: SDKEntryPlace, _ keys: inout PrivateKeys
    ) -> SDKEntryMaterial? {
        switch entry.kind {
        case .provisioned(let privateKey2048, let provisioningData):
            let bundle = source(entry.certificate, .certificate, place)
                .flatMap { entryBundle($0, place.path(of: .certificate)) }
            let small = privateKey(entry.privateKey1024, .privateKey1024, bits: 1024, at: place, &keys)
            let large = privateKey(privateKey2048, .privateKey2048, bits: 2048, at: place, &keys)
            let data = data(provisioningData, place)
            guard let bundle, let small, let large, let data else { return nil }
            let pair1024 = pair(bundle.certificate1024, small, .privateKey1024, at: place)
            let pair2048 = pair(bundle.certificate2048, large, .privateKey2048, at: place)
            guard let pair1024, let pair2048 else { return nil }
            return SDKEntryMaterial(
                pair1024: pair1024, pair2048: pair2048, ladder: .library(UnconnectedLibrary()), provisioningData: data)
        case .applicationSecret(let secret):
            let certificate = source(entry.certificate, .certificate, place)
                .flatMap { entryCertificate($0, place.path(of: .certificate)) }
            let privateKey = privateKey(entry.privateKey1024, .privateKey1024, bits: 1024, at: place, &keys)
            let ladder = ladder(.applicationSecret, secret.bytes.copy(), place.path(of: .secret))
            guard let certificate, let privateKey, let ladder,
                let pair = pair(certificate, privateKey, .privateKey1024, at: place)
            else { return nil }
            return SDKEntryMaterial(pair1024: pair, pair2048: nil, ladder: ladder, provisioningData: nil)
        }
    }

    /// The source of a file that an entry names.
    private mutating func source(
        _ name: String, _ member: SDKCertificates.Member, _ place: SDKEntryPlace
    ) -> SecretSource? {
        if let source = place.file.neighbor(name, environment: environment) { return source }
        report(
            place.path(of: member),
            .invalidValue(expected: "a file's path, from the folder of this file", example: "\"fairplay.bin\""))
        return nil
    }

    private mutating func privateKey(
        _ name: String, _ member: SDKCertificates.Member, bits: Int, at place: SDKEntryPlace, _ keys: inout PrivateKeys
    ) -> RSAPrivateKey? {
        guard let source = source(name, member, place) else { return nil }
        return privateKey(source, bits: bits, &keys, place.path(of: member))
    }

    private mutating func data(_ name: String, _ place: SDKEntryPlace) -> SharedSecret? {
        guard let source = source(name, .provisioningData, place),
            let data = secret(
                source, sizeMaximum: ExternalModuleSettings.dataSizeMaximum, place.path(of: .provisioningData))
        else { return nil }
        return SharedSecret(data)
    }

    private mutating func pair(
        _ certificate: Certificate, _ privateKey: RSAPrivateKey, _ member: SDKCertificates.Member,
        at place: SDKEntryPlace
    ) -> Credential.KeyPair? {
        pair(
            certificate, privateKey, named: SDKCertificates.Member.certificate.rawValue, place.path(of: member))
    }

    private mutating func entryBundle(_ source: SecretSource, _ path: String) -> CertificateBundle? {
        guard let contents = publicFile(source, path) else { return nil }
        do throws(CertificateBundleError) {
            return try contents.withWipedArray { bytes throws(CertificateBundleError) in
                try CertificateBundle(parsing: bytes)
            }
        } catch .wrongCount(let count) {
            report(path, .wrongCertificateCount(count))
        } catch {
            report(path, .notACertificateBundle(error))
        }
        return nil
    }

    private mutating func entryCertificate(_ source: SecretSource, _ path: String) -> Certificate? {
        guard let certificates = certificates(source, path) else { return nil }
        let certificate = certificates[0]
        if certificates.count > 1 {
            report(path, .wrongCertificateCount(certificates.count))
        } else if certificate.keyBits != 1024 {
            report(path, .wrongKeySize(expected: 1024, actual: certificate.keyBits))
        } else {
            return certificate
        }
        return nil
    }

    // MARK: Files for the library

    /// Returns the files that the library reads: one like certificates.json, and those that it names. Returns nil if
    /// there is nothing for the library, or if a problem was reported.
    ///
    /// This server writes them itself. One entry that the library does not like makes it refuse everything, and it
    /// cannot open encrypted keys.
    private mutating func libraryFiles(
        _ credentials: [ProvisionedCredential], _ path: String
    ) -> [(name: String, contents: SharedSecret)]? {
        guard !credentials.isEmpty else { return nil }
        var files: [(name: String, contents: SharedSecret)] = []
        do throws(CryptoError) {
            for credential in credentials { files += try credential.files() }
        } catch {
            report(path, .cryptography(error))
            return nil
        }
        let text = JSONWriter.object { writer in
            writer.objects("certificates", credentials) { writer, credential in
                for member in ProvisionedCredential.members {
                    writer.member(member.rawValue, credential.name(of: member))
                }
            }
        }
        files.insert(("certificates.json", SharedSecret(SecretBytes(copying: text))), at: 0)
        return files
    }
}

/// Where an entry of an SDK's file stands, and the name that its credential gets.
private struct SDKEntryPlace {
    let name: String
    let path: String
    /// The file with the entry.
    let file: SecretSource

    func path(of member: SDKCertificates.Member) -> String { "\(path).\(member.rawValue)" }
}

/// An entry of an SDK's file with the contents of its own files.
private struct SDKEntryMaterial {
    let pair1024: Credential.KeyPair
    let pair2048: Credential.KeyPair?
    let ladder: SessionKeyLadder
    /// Nil if the entry has an application secret.
    let provisioningData: SharedSecret?
}

/// A credential that the library of an SDK serves.
private struct ProvisionedCredential {
    /// The number of its entry, from 1 on.
    let number: Int
    let credential: Credential
    let material: SDKEntryMaterial
    let data: SharedSecret

    /// The members of its entry that name files.
    static let members: [SDKCertificates.Member] = [
        .certificate, .privateKey1024, .privateKey2048, .provisioningData,
    ]

    /// The name of the file for a member.
    func name(of member: SDKCertificates.Member) -> String { "\(member.rawValue)-\(number)" }

    func files() throws(CryptoError) -> [(name: String, contents: SharedSecret)] {
        guard let privateKey2048 = material.pair2048?.privateKey else { return [] }
        return [
            (name(of: .certificate), SharedSecret(SecretBytes(copying: credential.bundle))),
            (name(of: .privateKey1024), SharedSecret(try material.pair1024.privateKey.privateDER())),
            (name(of: .privateKey2048), SharedSecret(try privateKey2048.privateDER())),
            (name(of: .provisioningData), data),
        ]
    }
}

/// The settings for the workers of an SDK library. One library serves all entries of its file with provisioning data.
package struct LicenseLibrarySettings: Sendable {
    /// The name in the configuration.
    package let name: String
    /// The absolute path of the shared library.
    package let library: String
    /// The files that the library reads. The first one is its certificates.json, which names the others.
    ///
    /// It has each other name once, between quotation marks, so that it can be replaced by the name of a descriptor.
    /// Certificates are in DER, one after the other. Private keys are in the DER of PKCS#1, and not encrypted.
    package let files: [(name: String, contents: SharedSecret)]
    /// How many processes run the library, each with one call at a time; at least one.
    package let workers: Int
    /// How long one call may take before its worker is ended.
    package let callDeadline: Duration
    /// The limit of the address space of one worker, in bytes.
    package let memoryLimit: UInt64
    /// The user that the workers become; nil for the daemon's own user.
    package let user: SystemUser?
    /// The names of the credentials that the library serves; at least one.
    package let credentials: [String]
    /// Every certificate hash that the library must know.
    package let certificateHashes: [Hash]

    /// A certificate hash with what it takes to make an SPC that names it.
    package struct Hash: Sendable {
        package let credential: String
        package let version: SPCVersion
        package let subject: CredentialKey.Subject
        /// The hash with the digest of the version.
        package let hash: CertificateHash
        /// The key to which SPCs with this hash are encrypted.
        package let publicKey: RSAPublicKey

        init(_ key: CredentialKey) {
            credential = key.credentialName
            version = key.version
            subject = key.subject
            hash = key.hash
            publicKey = key.privateKey.publicKey
        }
    }
}

/// A placeholder for the library of a credential. Checking a configuration starts no process; the daemon connects the
/// real library when it starts.
struct UnconnectedLibrary: LicenseLibrary {
    func answer(_ order: LibraryOrder) async throws(LadderModuleError) -> LibraryAnswer {
        throw .unavailable
    }
}
