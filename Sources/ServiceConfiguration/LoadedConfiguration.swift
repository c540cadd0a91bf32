package import ContentKeys
package import Entitlements
package import FairPlay
package import KeyCrypto
package import PackagerAPI
package import Records
package import StoragePostgreSQL

/// A configuration together with the contents of its files: everything that the daemon needs to serve. It is immutable
/// and checked.
///
/// Private keys belong to their certificates, no two credentials have the same certificate hash, and no listener is
/// open to strangers by mistake.
package struct LoadedConfiguration: Sendable {
    package let configuration: Configuration
    /// Every field with its value in force.
    private let fields: [ConfigurationField]
    /// Digests of the files' contents, by the fields that name the files.
    private let digests: [String: FileDigest]
    /// The credentials. Instead of each module and each SDK library they have a placeholder, until
    /// `CredentialSet.connecting` replaces it.
    package let credentials: CredentialSet
    /// The settings for starting the modules, by the name of the credential.
    package let modules: [String: ExternalModuleSettings]
    /// The settings for starting the SDK libraries, in the order of the configuration.
    package let libraries: [LicenseLibrarySettings]
    /// The absolute path of the library that accelerates RSA; nil if it is off. With "auto" there may be no such file.
    package let acceleratorPath: String?
    /// The key that seals content keys in the store.
    package let keyEncryptionKey: AES256GCMKey
    /// The same key with the older ones, which still open what they have sealed.
    package let keyRing: KeyRing
    /// The secret from which keys are derived; nil if they are random.
    package let keyDerivation: KeyDerivation?
    /// The issuers, with the keys that the configuration and its files have.
    package let issuers: IssuerSet
    /// Where the daemon fetches further keys.
    package let keySources: [KeySource]
    package let expressPlay: ExpressPlaySettings
    /// The packagers, which may ask for content keys.
    package let packagers: PackagerDirectory
    /// Warnings about short tokens of administrators and secrets of packagers.
    package let shortSecrets: [ShortSecretWarning]
    /// Makes and verifies session tokens; nil if none are issued.
    package let sessions: SessionTokens?
    /// How to call the service that decides about tokens which only it can read; nil without such a service.
    package let callback: CallbackMaterial?
    /// The keys that seal the batches of this node's ledger.
    package let ledgerKeys: LedgerKeys
    /// The secrets that must be the same on all nodes, so that the store can check them.
    package let sharedSecrets: SharedSecrets
    /// Makes the names of devices, subjects and tokens in the store and the ledger.
    package let pseudonymizer: Pseudonymizer
    /// The public listeners, in the order of the configuration.
    package let publicListeners: [Listener]
    package let adminListeners: [Listener]
    /// The settings for PostgreSQL; nil if everything is stored in SQLite.
    package let postgreSQL: PostgreSQLSettings?
    /// The node's own SQLite file. It has content keys, decisions and the ledger; with PostgreSQL only the ledger.
    package let databasePath: String

    /// A listener with the contents of its files.
    package struct Listener: Sendable {
        package let address: ListenerAddress
        package let transport: Configuration.Transport
        package let tls: TLSMaterial?
        /// The credentials of operators. Empty on public listeners, and on loopback if no credential is configured.
        package let administrators: AdminCredentials
    }

    /// Reads every file that the configuration names, and checks that the files fit together.
    ///
    /// `environment` has the variables that sources of secrets name. Throws `ConfigurationError.invalid` with all
    /// problems.
    package static func load(
        _ file: ConfigurationFile, environment: [String: String]
    ) throws(ConfigurationError) -> LoadedConfiguration {
        var loader = ConfigurationLoader(file, environment: environment)
        return try load(&loader)
    }

    /// The files that a configuration names, as far as those that can be read tell: a file that is missing may hide
    /// others, such as the older keys beside it. Nothing is checked.
    package static func namedFiles(
        of file: ConfigurationFile, environment: [String: String], substitutes: [String: [SharedSecret]] = [:]
    ) -> [NamedFile] {
        var loader = ConfigurationLoader(file, environment: environment, substitutes: substitutes)
        _ = try? load(&loader)
        return loader.namedFiles
    }

    private static func load(_ loader: inout ConfigurationLoader) throws(ConfigurationError) -> LoadedConfiguration {
        let file = loader.file
        let publicListeners = loader.publicListeners()
        let adminListeners = loader.adminListeners()
        let credentials = loader.credentials()
        let modules = loader.modules()
        let acceleratorPath = loader.acceleratorPath()
        let keyEncryptionKey = loader.keyEncryptionKey()
        let keyRing = keyEncryptionKey.flatMap { loader.keyRing($0) }
        let keyDerivation = loader.keyDerivation()
        let issuers = loader.issuers()
        let keySources = loader.keySources()
        let expressPlay = issuers.flatMap { loader.expressPlay($0) }
        let sessions = loader.sessionTokens()
        let callback = loader.callback()
        let ledgerKeys = loader.ledgerKeys()
        let sharedSecrets = loader.sharedSecrets()
        let pseudonymizer = loader.pseudonymizer()
        let postgreSQL = loader.postgreSQL()
        let packagers = loader.packagers()
        if let credentials { loader.checkListeners(with: credentials.set) }

        if let error = loader.error { throw error }
        guard let credentials, let keyEncryptionKey, let keyRing, let issuers, let expressPlay, let packagers,
            let ledgerKeys, let sharedSecrets, let pseudonymizer
        else {
            preconditionFailure("the loader reports what it does not load")
        }
        return LoadedConfiguration(
            configuration: file.configuration, fields: file.fields, digests: loader.digests,
            credentials: credentials.set, modules: modules, libraries: credentials.libraries,
            acceleratorPath: acceleratorPath,
            keyEncryptionKey: keyEncryptionKey, keyRing: keyRing, keyDerivation: keyDerivation,
            issuers: issuers, keySources: keySources, expressPlay: expressPlay, packagers: packagers,
            shortSecrets: loader.shortSecrets, sessions: sessions, callback: callback, ledgerKeys: ledgerKeys,
            sharedSecrets: sharedSecrets, pseudonymizer: pseudonymizer,
            publicListeners: publicListeners, adminListeners: adminListeners,
            postgreSQL: postgreSQL, databasePath: file.configuration.storage.databasePath)
    }

    /// Whether another configuration has the same values and the same contents of files in one section.
    package func isSame(as other: LoadedConfiguration, under path: String) -> Bool {
        func isWithin(_ name: String) -> Bool { name == path || name.hasPrefix(path + ".") }
        return fields.filter { isWithin($0.path) } == other.fields.filter { isWithin($0.path) }
            && digests.filter { isWithin($0.key) } == other.digests.filter { isWithin($0.key) }
    }

    /// The sorted paths of the fields that differ in another configuration and need a restart. A field differs by its
    /// value or by the contents of the file that it names.
    package func fieldsThatNeedRestart(toBecome other: LoadedConfiguration) -> [String] {
        fieldsThatDiffer(from: other) { $0.effect == .restart }
    }

    /// The sorted paths of the fields of one section that differ in another configuration, by their values or by the
    /// contents of their files.
    package func fieldsThatDiffer(from other: LoadedConfiguration, under path: String) -> [String] {
        fieldsThatDiffer(from: other) { $0.path.hasPrefix(path) }
    }

    private func fieldsThatDiffer(
        from other: LoadedConfiguration, _ isMeant: (ConfigurationField) -> Bool
    ) -> [String] {
        let (own, others) = (fields.filter(isMeant), other.fields.filter(isMeant))
        // If only one configuration reads a file, another field differs, and that field is named.
        let files = Set((own + others).map(\.path)).filter { path in
            let (before, after) = (fileDigests(of: path), other.fileDigests(of: path))
            return !before.isEmpty && !after.isEmpty && before != after
        }
        return files.union(own.pathsThatDiffer(from: others)).sorted()
    }

    /// The digests of the file that a field names, and of the files that this file names.
    private func fileDigests(of field: String) -> [String: FileDigest] {
        digests.filter { path, _ in path == field || path.hasPrefix(field + ConfigurationLoader.pathIntoFile) }
    }

    /// Reads only the files of the credentials and their SDK libraries.
    package static func loadLibraries(
        _ file: ConfigurationFile, environment: [String: String]
    ) throws(ConfigurationError) -> LoadedLibraries {
        var loader = ConfigurationLoader(file, environment: environment)
        let loaded = loader.credentials()
        if let error = loader.error { throw error }
        guard let loaded else { preconditionFailure("the loader reports what it does not load") }
        return LoadedLibraries(credentials: loaded.set, libraries: loaded.libraries)
    }

    /// Reads only the files of the credentials, their modules and SDK libraries. Returns the good credentials, and an
    /// error with the problems of the others.
    package static func loadCredentials(
        _ file: ConfigurationFile, environment: [String: String]
    ) -> (credentials: [Credential], error: ConfigurationError?) {
        var loader = ConfigurationLoader(file, environment: environment)
        let loaded = loader.eachCredential()
        let entries = loaded.flatMap(\.entries)
        if loaded.isComplete { _ = loader.credentialSet(entries) }
        _ = loader.modules()
        return (entries.compactMap(\.credential), loader.error)
    }
}

/// The credentials of a configuration with the settings of their SDK libraries.
package struct LoadedLibraries: Sendable {
    /// They have a placeholder instead of each library, until `CredentialSet.connecting` replaces it.
    package let credentials: CredentialSet
    /// In the order of the configuration.
    package var libraries: [LicenseLibrarySettings]
}
