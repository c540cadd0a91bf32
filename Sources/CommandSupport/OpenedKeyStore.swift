package import Administration
package import ByteCoding
package import CommandLineKit
package import ContentKeys
import KeyCrypto
import Records
package import ServiceConfiguration
import StoragePostgreSQL
import StorageSQLite

/// The store of content keys that a configuration names. A daemon may use it at the same time.
///
/// Of the configuration's secrets, it reads only the key-encryption key, the master secret for derived keys, and the
/// password of the database.
package struct OpenedKeyStore {
    private enum Database {
        case sqlite(SQLiteKeyStore, path: String)
        case postgreSQL(ClosedAfterUse)
    }

    private let database: Database
    private let ring: KeyRing
    /// Both databases have pages of this size.
    private static let pageSize = min(SQLiteKeyStore.pageSizeMaximum, PostgreSQLStore.pageSizeMaximum)

    package let file: ConfigurationFile
    /// Derives new keys; nil if they are random.
    package let derivation: KeyDerivation?

    /// - Parameter derivesKeys: Whether the command derives new keys. Only then the proof of a new master secret is
    ///   stored. With a wrong file, any other command would otherwise make the nodes refuse the right one.
    package init(
        configuration path: String, _ context: CommandContext, derivesKeys: Bool = false
    ) throws(CommandError) {
        var secrets = try Self.read(path, context)
        if !derivesKeys { secrets.proved = secrets.proved.onlyCompared }
        (file, ring, derivation) = (secrets.file, secrets.ring, secrets.derivation)
        if let settings = secrets.postgreSQL {
            database = .postgreSQL(try Self.open(settings, ring, secrets.proved))
        } else {
            let path = file.configuration.storage.databasePath
            database = .sqlite(try Self.open(path, ring, secrets.proved), path: path)
        }
    }

    private var store: any ContentKeyStore & KeyProvider {
        switch database {
        case .sqlite(let store, _): store
        case .postgreSQL(let opened): opened.store
        }
    }

    /// Opens the store for maintenance: for work on many keys, or work that no request needs.
    ///
    /// Must not be used after this store is gone.
    package func maintenance() throws(CommandError) -> any KeyMaintenance {
        switch database {
        case .postgreSQL(let opened): return opened.store
        case .sqlite(_, let path):
            return try wrap(CommandError.opening(path), try SQLiteKeyMaintenance.open(path: path, keyRing: ring))
        }
    }

    /// Makes the keys of periods. Must not be used after this store is gone.
    package var periodDesk: PeriodDesk {
        switch database {
        case .sqlite(let store, _): PeriodDesk(store: store, provider: store, derivation: derivation)
        case .postgreSQL(let opened):
            PeriodDesk(store: opened.store, provider: opened.store, derivation: derivation)
        }
    }

    /// Runs `body`, and turns an error of the store into an error of the command.
    package static func attempt<Result>(
        _ body: () async throws(StoreError) -> Result
    ) async throws(CommandError) -> Result {
        return try await wrapAsync(CommandError.store, try await body())
    }

    /// Stores a key. Returns whether it was new, or was stored already.
    ///
    /// If `isOnly` is set and the content has another live key, it stores nothing and returns nil.
    package func insert(_ record: ContentKeyRecord, isOnly: Bool) async throws(CommandError) -> StoreOutcome? {
        return try await wrapAsync(CommandError.store, try await stored(record, isOnly: isOnly))
    }

    private func stored(_ record: ContentKeyRecord, isOnly: Bool) async throws(StoreError) -> StoreOutcome? {
        if isOnly { return try await store.insertOnly(record) }
        return try await store.insert(record)
    }

    /// Stores a new key as `insert` does. Returns false if its key id is taken, so that another one is needed.
    package func insertUnlessTaken(_ record: ContentKeyRecord, isOnly: Bool) async throws(CommandError) -> Bool? {
        do throws(StoreError) {
            guard let outcome = try await stored(record, isOnly: isOnly) else { return nil }
            return outcome == .stored
        } catch {
            guard error.takenKeyID == record.keyID else { throw .failed(error.explanation) }
            return false
        }
    }

    /// Stores aliases up to the first one that fails, and returns the new ones and the error.
    ///
    /// It does not throw, because the key itself is already stored.
    package func addAliases(_ aliases: [AssetID], to keyID: KeyID) async -> NewAliases {
        var new = NewAliases()
        do throws(StoreError) {
            for alias in aliases {
                if try await store.addAlias(alias, to: keyID) == .stored { new.aliases.append(alias) }
            }
        } catch {
            new.error = .failed(error.explanation)
        }
        return new
    }

    /// Calls `body` with all keys in the order of their content ids, at most 1,000 at a time.
    ///
    /// So the memory that it needs does not grow with the number of keys.
    package func forEachPage(
        of contentID: ContentID?, _ body: ([ContentKeyAttributes]) async throws(CommandError) -> Void
    ) async throws(CommandError) {
        var last: ContentKeyAttributes?
        while true {
            let position = last
            let page = try await Self.attempt { () async throws(StoreError) in
                try await store.list(of: contentID, after: position, limit: Self.pageSize)
            }
            try await body(page)
            guard page.count == Self.pageSize else { return }
            last = page.last
        }
    }

    /// The first page of a content's keys, with withdrawn ones.
    package func keys(of contentID: ContentID) async throws(StoreError) -> [ContentKeyAttributes] {
        try await store.list(of: contentID, after: nil, limit: Self.pageSize)
    }

    /// The forms by which the daemon of this configuration reads asset ids.
    package var assetForms: AssetForms { file.configuration.assetForms }

    /// The URL by which a playlist names the key.
    ///
    /// Nil if `keys.skdTemplate` gives no URL for it, for example if the template has `{period}` and the key has none.
    package func assetURL(of record: ContentKeyRecord) -> String? {
        let names = SKDNames(of: record, authority: file.configuration.publicAuthority)
        return try? file.configuration.keys.skdTemplate.url(for: names)
    }

    /// The URL of a key in a list.
    ///
    /// Its record is read only if the URL has the initialization vector, which is sealed.
    package func assetURL(
        of key: ContentKeyAttributes, _ maintenance: any KeyMaintenance
    ) async throws(CommandError) -> String? {
        let template = file.configuration.keys.skdTemplate
        guard template.needsIV else {
            let names = SKDNames(
                contentID: key.contentID, keyID: key.keyID, iv: .zero, periodIndex: key.periodIndex,
                trackLabel: key.trackLabel, authority: file.configuration.publicAuthority)
            return try? template.url(for: names)
        }
        let found = try await Self.attempt { () async throws(StoreError) in try await maintenance.key(key.keyID) }
        return found.flatMap { assetURL(of: $0.record) }
    }

    /// The parts of the configuration and its files that a command needs.
    private struct Secrets {
        let file: ConfigurationFile
        let ring: KeyRing
        let derivation: KeyDerivation?
        /// The master secret, which the store compares with its proof.
        var proved: SharedSecrets
        let postgreSQL: PostgreSQLSettings?
    }

    private static func read(_ path: String, _ context: CommandContext) throws(CommandError) -> Secrets {
        do throws(ConfigurationError) {
            let file = try ConfigurationFile(path: path, environment: context.environment)
            var loader = ConfigurationLoader(file, environment: context.environment)
            let key = loader.keyEncryptionKey()
            let ring = key.flatMap { loader.keyRing($0) }
            let derivation = loader.keyDerivation()
            let proved = loader.masterSecret()
            let postgreSQL = loader.postgreSQL()
            if let ring, let proved, loader.error == nil {
                return Secrets(
                    file: file, ring: ring, derivation: derivation, proved: proved, postgreSQL: postgreSQL)
            }
            throw loader.error ?? .invalid(path: path, [])
        } catch {
            throw .failed(error.description)
        }
    }

    private static func open(
        _ settings: PostgreSQLSettings, _ ring: KeyRing, _ secrets: SharedSecrets
    ) throws(CommandError) -> ClosedAfterUse {
        ClosedAfterUse(
            store: try wrap(
                CommandError.shared, try PostgreSQLStore.open(settings, keyRing: ring, secrets: secrets)))
    }

    private static func open(
        _ path: String, _ ring: KeyRing, _ secrets: SharedSecrets
    ) throws(CommandError) -> SQLiteKeyStore {
        try wrap(
            CommandError.opening(path),
            try SQLiteKeyStore.open(path: path, keyRing: ring, secrets: secrets, maximumReaders: 1))
    }
}

/// The result of storing aliases of a key.
package struct NewAliases {
    /// The aliases that were not stored before.
    var aliases: [AssetID] = []
    /// Why not all were stored; nil if all were.
    package var error: CommandError?

    /// The actions to record in the ledger, one for each new alias.
    package func deeds(on keyID: KeyID, _ contentID: ContentID?) -> [KeyRecords.Deed] {
        aliases.map { alias in
            KeyRecords.Deed(
                kind: .keyAliased, keyID: keyID, contentID: contentID, detail: AssetIDText.text(of: alias))
        }
    }
}

extension OpenedKeyStore: ContentKeySource {
    package func record(for reference: AssetReference) async throws(StoreError) -> ContentKeyRecord? {
        try await store.record(for: reference)
    }
}

/// The connections of one command, closed when the last reference to this object is gone.
private final class ClosedAfterUse: Sendable {
    let store: PostgreSQLStore

    init(store: PostgreSQLStore) {
        self.store = store
    }

    deinit {
        store.close()
    }
}

/// The content keys of a configuration, for commands that ask which key an asset id names.
///
/// It changes nothing, and returns no keys.
package struct ConfiguredKeys {
    /// The option that names the configuration, for commands that work without one too.
    package static let config = CommandOption(
        "--config", .value("FILE"), help: "the daemon's configuration, to look each key up in its store")

    private let store: OpenedKeyStore

    package init(configuration path: String, _ context: CommandContext) throws(CommandError) {
        store = try OpenedKeyStore(configuration: path, context)
    }

    /// The key that the daemon finds for an SPC with this asset id, or, if it finds none, the reason as far as ids show
    /// it.
    package func resolve(_ assetID: AssetID) async throws(CommandError) -> AssetResolution {
        let reference = AssetReference(assetID, store.assetForms)
        do throws(StoreError) {
            if let record = try await store.record(for: reference) { return .live(record.attributes, iv: record.iv) }
        } catch .contentAmbiguous(let contentID) {
            return .ambiguous(contentID)
        } catch {
            throw .failed(error.explanation)
        }
        let maintenance = try store.maintenance()
        return try await OpenedKeyStore.attempt { () async throws(StoreError) in
            for case .keyID(let keyID) in reference.candidates where try await maintenance.key(keyID) != nil {
                return .withdrawn(keyID)
            }
            for candidate in reference.candidates {
                guard let contentID = candidate.contentID else { continue }
                let withdrawn = try await store.keys(of: contentID).first { key in
                    key.state == .withdrawn && candidate.fits(key)
                }
                if let withdrawn { return .withdrawn(withdrawn.keyID) }
            }
            return .unknown
        }
    }
}
