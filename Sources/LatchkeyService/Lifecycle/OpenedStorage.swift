import ByteCoding
import ContentKeys
import KeyCrypto
import Licensing
import ServiceConfiguration
import StoragePostgreSQL
import StorageSQLite

/// The database of content keys that a daemon serves from.
enum OpenedStorage {
    /// How long a key is given out that was found before PostgreSQL ceased to answer.
    private static let keyLifeInOutage: Duration = .seconds(3600)

    case sqlite(SQLiteKeyStore)
    /// It may be away when the daemon starts, and later.
    case postgreSQL(PostgreSQLStore)

    /// `whenRefused` is called if PostgreSQL was away at first, and then turns out to be of nodes with other secrets.
    static func open(
        _ loaded: LoadedConfiguration, whenRefused: @escaping @Sendable (PostgreSQLOpeningError) -> Void
    ) throws(DaemonError) -> OpenedStorage {
        guard let settings = loaded.postgreSQL else { return .sqlite(try openFile(loaded)) }
        do throws(PostgreSQLOpeningError) {
            return .postgreSQL(
                try PostgreSQLStore.open(
                    settings, keyRing: loaded.keyRing, secrets: loaded.sharedSecrets, whenRefused: whenRefused))
        } catch {
            throw .postgreSQL(error)
        }
    }

    private static func openFile(_ loaded: LoadedConfiguration) throws(DaemonError) -> SQLiteKeyStore {
        return try wrap(
            { (error: StorageOpeningError) in DaemonError.store(path: loaded.databasePath, error) },
            try SQLiteKeyStore.open(
                path: loaded.databasePath, keyRing: loaded.keyRing,
                maximumReaders: loaded.configuration.limits.loopCount))
    }

    func recentKeys() -> RecentContentKeys {
        switch self {
        case .sqlite(let store): RecentContentKeys(source: store)
        case .postgreSQL(let store): RecentContentKeys(source: store, lifeInOutage: Self.keyLifeInOutage)
        }
    }

    /// What all nodes share; nil where there is one node.
    var shared: PostgreSQLStore? {
        switch self {
        case .sqlite: nil
        case .postgreSQL(let store): store
        }
    }
}
