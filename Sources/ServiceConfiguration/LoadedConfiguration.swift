package import ContentKeys
package import Entitlements
package import FairPlay
package import KeyCrypto
package import PackagerAPI
package import Records
package import StoragePostgreSQL

/// A configuration together with what its files hold: all that the daemon needs to serve, immutable and checked.
///
/// Private keys belong to their certificates, no two credentials answer to one certificate hash, and no listener is
/// open to strangers that should not be.
package struct LoadedConfiguration: Sendable {
    package let configuration: Configuration
    /// Every field with its value in force, and what the files hold that fields name.
    private let fields: [ConfigurationField]
    private let digests: [String: FileDigest]
    /// A module among them answers nothing until the real one takes its place, by `CredentialSet.connecting`.
    package let credentials: CredentialSet
    /// What it takes to start the modules, by the name of the credential.
    package let modules: [String: ExternalModuleSettings]
    /// Seals content keys in the store.
    package let keyEncryptionKey: AES256GCMKey
    /// The same key among the older ones, which still open what they sealed.
    package let keyRing: KeyRing
    /// What makes keys; nil if they are random.
    package let keyDerivation: KeyDerivation?
    package let issuers: IssuerSet
    package let expressPlay: ExpressPlaySettings
    /// Who may ask for content keys.
    package let packagers: PackagerDirectory
    /// What signs session tokens; nil if none are given.
    package let sessions: SessionTokens?
    /// How to call the service that decides about tokens which only it can read; nil without such a service.
    package let callback: CallbackMaterial?
    /// Seal the batches of this node's ledger.
    package let ledgerKeys: LedgerKeys
    /// What a store proves of the secrets that all nodes share.
    package let sharedSecrets: SharedSecrets
    /// Names devices, subjects and tokens in the store and the ledger.
    package let pseudonymizer: Pseudonymizer
    /// In the order of the configuration.
    package let publicListeners: [Listener]
    package let adminListeners: [Listener]
    /// How to reach PostgreSQL; nil if SQLite holds everything.
    package let postgreSQL: PostgreSQLSettings?
    /// The node's own SQLite file: content keys, decisions and ledger, or beside PostgreSQL the ledger alone.
    package let databasePath: String

    /// A listener, and what its files hold.
    package struct Listener: Sendable {
        package let address: ListenerAddress
        package let transport: Configuration.Transport
        package let tls: TLSMaterial?
        /// What operators must present behind `Authorization: Bearer`: one of these. Empty on public listeners, and on
        /// loopback if no token is configured.
        package let tokens: [AdminToken]
    }

    /// A token of an operator or a program.
    package struct AdminToken: Sendable {
        /// As the ledger names its holder.
        package let name: String
        package let secret: SharedSecret

        package init(name: String, secret: SharedSecret) {
            self.name = name
            self.secret = secret
        }
    }

    /// Reads every file that the configuration names and checks them against one another.
    ///
    /// `environment` is where the sources of secrets look. Throws `ConfigurationError.invalid` with all problems at
    /// once.
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
        let keyEncryptionKey = loader.keyEncryptionKey()
        let keyRing = keyEncryptionKey.flatMap { loader.keyRing($0) }
        let keyDerivation = loader.keyDerivation()
        let issuers = loader.issuers()
        let expressPlay = issuers.flatMap { loader.expressPlay($0) }
        let sessions = loader.sessionTokens()
        let callback = loader.callback()
        let ledgerKeys = loader.ledgerKeys()
        let sharedSecrets = loader.sharedSecrets()
        let pseudonymizer = loader.pseudonymizer()
        let postgreSQL = loader.postgreSQL()
        let packagers = loader.packagers()
        if let credentials { loader.checkListeners(with: credentials) }

        if let error = loader.error { throw error }
        guard let credentials, let keyEncryptionKey, let keyRing, let issuers, let expressPlay, let packagers,
            let ledgerKeys, let sharedSecrets, let pseudonymizer
        else {
            preconditionFailure("the loader reports what it does not load")
        }
        return LoadedConfiguration(
            configuration: file.configuration, fields: file.fields, digests: loader.digests, credentials: credentials,
            modules: modules,
            keyEncryptionKey: keyEncryptionKey, keyRing: keyRing, keyDerivation: keyDerivation,
            issuers: issuers, expressPlay: expressPlay, packagers: packagers,
            sessions: sessions, callback: callback, ledgerKeys: ledgerKeys, sharedSecrets: sharedSecrets,
            pseudonymizer: pseudonymizer,
            publicListeners: publicListeners, adminListeners: adminListeners,
            postgreSQL: postgreSQL, databasePath: file.configuration.storage.databasePath)
    }

    /// Whether another configuration has the same values, and files of the same contents, in one section.
    package func isSame(as other: LoadedConfiguration, under path: String) -> Bool {
        func isWithin(_ name: String) -> Bool { name == path || name.hasPrefix(path + ".") }
        return fields.filter { isWithin($0.path) } == other.fields.filter { isWithin($0.path) }
            && digests.filter { isWithin($0.key) } == other.digests.filter { isWithin($0.key) }
    }

    /// The fields that another configuration changes and that only a restart puts in force: by their values, and by the
    /// contents of the files that they name. Sorted.
    package func fieldsThatNeedRestart(toBecome other: LoadedConfiguration) -> [String] {
        fieldsThatDiffer(from: other) { $0.effect == .restart }
    }

    /// The fields of one section that another configuration changes, by their values and by the contents of their
    /// files. Sorted.
    package func fieldsThatDiffer(from other: LoadedConfiguration, under path: String) -> [String] {
        fieldsThatDiffer(from: other) { $0.path.hasPrefix(path) }
    }

    private func fieldsThatDiffer(
        from other: LoadedConfiguration, _ isMeant: (ConfigurationField) -> Bool
    ) -> [String] {
        let (own, others) = (fields.filter(isMeant), other.fields.filter(isMeant))
        // A file that only one of both reads is read because of another field, which is named.
        let files = Set((own + others).map(\.path)).filter { path in
            guard let before = digests[path], let after = other.digests[path] else { return false }
            return before != after
        }
        return files.union(own.pathsThatDiffer(from: others)).sorted()
    }

    /// Reads the files of the credentials and their modules alone, and gives those that are good together with what is
    /// wrong with the others.
    package static func loadCredentials(
        _ file: ConfigurationFile, environment: [String: String]
    ) -> (credentials: [Credential], error: ConfigurationError?) {
        var loader = ConfigurationLoader(file, environment: environment)
        let loaded = loader.eachCredential()
        let credentials = loaded.compactMap(\.self)
        if credentials.count == loaded.count { _ = loader.credentialSet(credentials) }
        _ = loader.modules()
        return (credentials, loader.error)
    }
}
