import ByteCoding
import ContentKeys
import EventLoops
import KeyCrypto
import Licensing
import ServiceConfiguration
import StoragePostgreSQL
import StorageSQLite
import Telemetry

/// The database of content keys that a daemon serves from.
enum OpenedStorage {
    /// How long a key is given out that was found before PostgreSQL ceased to answer.
    private static let keyLifeInOutage: Duration = .seconds(3600)

    case sqlite(SQLiteKeyStore)
    /// It may be away when the daemon starts, and later.
    case postgreSQL(PostgreSQLStore)

    static func open(_ loaded: LoadedConfiguration, _ clock: TrustedClock) throws(DaemonError) -> OpenedStorage {
        guard let settings = loaded.postgreSQL else { return .sqlite(try openFile(loaded)) }
        return .postgreSQL(
            try wrap(
                DaemonError.postgreSQL,
                try PostgreSQLStore.open(
                    settings, keyRing: loaded.keyRing, secrets: loaded.sharedSecrets, mayBeAway: true
                ) { clock.note($0) }))
    }

    private static func openFile(_ loaded: LoadedConfiguration) throws(DaemonError) -> SQLiteKeyStore {
        return try wrap(
            { (error: StorageOpeningError) in DaemonError.store(path: loaded.databasePath, error) },
            try SQLiteKeyStore.open(
                path: loaded.databasePath, keyRing: loaded.keyRing,
                maximumReaders: loaded.configuration.limits.loopCount))
    }

    /// Requests wait for PostgreSQL on these loops.
    func recentKeys(on loops: [LoopContext]) -> RecentContentKeys {
        switch self {
        case .sqlite(let store): RecentContentKeys(source: store)
        case .postgreSQL(let store):
            RecentContentKeys(source: store, lifeInOutage: Self.keyLifeInOutage, patience: Patience(on: loops))
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
