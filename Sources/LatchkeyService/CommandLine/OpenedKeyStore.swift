import ByteCoding
import ContentKeys
import KeyCrypto
import StorageSQLite

/// The store of content keys that a configuration names, opened by a command while the daemon may be using it too.
///
/// Reads the configuration and the key-encryption key, and no other secret.
struct OpenedKeyStore {
    private let store: SQLiteKeyStore
    private let path: String
    private let ring: KeyRing
    let file: ConfigurationFile
    /// What makes keys; nil where they are random.
    let derivation: KeyDerivation?

    init(configuration path: String, _ context: CommandContext) throws(CommandError) {
        (file, ring, derivation) = try Self.read(path, context)
        self.path = file.configuration.storage.databasePath
        store = try Self.open(self.path, ring)
    }

    /// A connection for work on many keys, or on what no request needs.
    func maintenance() throws(CommandError) -> SQLiteKeyMaintenance {
        do throws(StorageOpeningError) {
            return try SQLiteKeyMaintenance.open(path: path, keyRing: ring)
        } catch {
            throw .failed("cannot open the database \(path): \(error.explanation)")
        }
    }

    /// Runs what a store can refuse.
    static func attempt<Result: ~Copyable>(
        _ body: () throws(StoreError) -> Result
    ) throws(CommandError) -> Result {
        do throws(StoreError) {
            return try body()
        } catch {
            throw .failed(error.explanation)
        }
    }

    /// Stores a key and lets the aliases name it. A key that is there already gets the aliases too.
    func insert(_ record: ContentKeyRecord) async throws(CommandError) -> StoreOutcome {
        do throws(StoreError) {
            return try await store.insert(record)
        } catch {
            throw .failed(error.explanation)
        }
    }

    /// Registers aliases up to the first one that another key has; gives what went wrong, since the key itself is stored by now.
    func addAliases(_ aliases: [AssetID], to keyID: KeyID) async -> CommandError? {
        do throws(StoreError) {
            for alias in aliases { _ = try await store.addAlias(alias, to: keyID) }
            return nil
        } catch {
            return .failed(error.explanation)
        }
    }

    /// All keys, page by page, in the order of their content ids.
    func list(of contentID: ContentID?) async throws(CommandError) -> [ContentKeyAttributes] {
        var keys: [ContentKeyAttributes] = []
        do throws(StoreError) {
            while true {
                let page = try await store.list(of: contentID, after: keys.last, limit: SQLiteKeyStore.pageSizeMaximum)
                keys += page
                if page.count < SQLiteKeyStore.pageSizeMaximum { return keys }
            }
        } catch {
            throw .failed(error.explanation)
        }
    }

    /// The URL by which a playlist names the key.
    func assetURL(of keyID: KeyID) -> String {
        file.configuration.keys.skdTemplate.replacing("{kid}", with: keyID.description)
    }

    private static func read(
        _ path: String, _ context: CommandContext
    ) throws(CommandError) -> (ConfigurationFile, KeyRing, KeyDerivation?) {
        do throws(ConfigurationError) {
            let file = try ConfigurationFile(path: path, environment: context.environment)
            var loader = ConfigurationLoader(file, environment: context.environment)
            let ring = loader.keyEncryptionKey().flatMap { loader.keyRing($0) }
            let derivation = loader.keyDerivation()
            if let ring, loader.error == nil { return (file, ring, derivation) }
            throw loader.error ?? .invalid(path: path, [])
        } catch {
            throw .failed(error.description)
        }
    }

    private static func open(
        _ path: String, _ ring: KeyRing
    ) throws(CommandError) -> SQLiteKeyStore {
        do throws(StorageOpeningError) {
            return try SQLiteKeyStore.open(path: path, keyRing: ring, maximumReaders: 1)
        } catch {
            throw .failed("cannot open the database \(path): \(error.explanation)")
        }
    }
}
