import Administration
import ByteCoding
import ContentKeys
import EventLoops
import KeyCrypto
import Licensing
import Records
import ServiceConfiguration
import StoragePostgreSQL
import StorageSQLite
import Telemetry
import Upkeep

/// The database from which a daemon serves content keys.
enum OpenedStorage {
    /// The time for which a key that is in memory is still served after PostgreSQL has stopped answering.
    private static let keyLifeInOutage: Duration = .seconds(3600)

    case sqlite(SQLiteKeyStore)
    /// PostgreSQL may be unreachable when the daemon starts, and later.
    case postgreSQL(PostgreSQLStore)

    static func open(
        _ loaded: LoadedConfiguration, _ clock: TrustedClock, _ logger: Logger
    ) throws(DaemonError) -> OpenedStorage {
        guard let settings = loaded.postgreSQL else { return .sqlite(try openFile(loaded)) }
        return .postgreSQL(
            try wrap(
                DaemonError.postgreSQL,
                try PostgreSQLStore.open(
                    settings, keyRing: loaded.keyRing, secrets: loaded.sharedSecrets, mayBeAway: true,
                    noteTime: { clock.note($0) },
                    noteUnconfigured: { _ in
                        logger.warning(
                            "configuration", [.string("warning", "\(RandomKeysWarning.besideDerivedKeys)")])
                    })))
    }

    private static func openFile(_ loaded: LoadedConfiguration) throws(DaemonError) -> SQLiteKeyStore {
        return try wrap(
            { (error: StorageOpeningError) in DaemonError.store(path: loaded.databasePath, error) },
            try SQLiteKeyStore.open(
                path: loaded.databasePath, keyRing: loaded.keyRing,
                maximumReaders: loaded.configuration.limits.loopCount))
    }

    /// The content keys, of which recent ones are kept in memory. Requests wait for PostgreSQL on these loops.
    func recentKeys(_ forms: AssetForms, on loops: [LoopContext]) -> RecentContentKeys {
        switch self {
        case .sqlite(let store): RecentContentKeys(source: store, forms: forms)
        case .postgreSQL(let store):
            RecentContentKeys(
                source: store, forms: forms, lifeInOutage: Self.keyLifeInOutage, patience: Patience(on: loops))
        }
    }

    /// Gives packagers their keys, and records each delivery in the ledger.
    func keyDesk(_ loaded: LoadedConfiguration, ledger: any Ledger) -> KeyDesk {
        let mode = DecisionRecorder.Mode(loaded.configuration.ledger.mode)
        return switch self {
        case .sqlite(let store): KeyDesk(store: store, ledger: ledger, mode: mode, derivation: loaded.keyDerivation)
        case .postgreSQL(let store):
            KeyDesk(
                store: store, ledger: ledger, mode: mode, derivation: loaded.keyDerivation,
                lifeInOutage: Self.keyLifeInOutage)
        }
    }

    /// Knows which periods of live contents are served. Requests wait for PostgreSQL on these loops.
    func recentLivePeriods(on loops: [LoopContext]) -> RecentLivePeriods {
        switch self {
        case .sqlite(let store): RecentLivePeriods(source: store)
        case .postgreSQL(let store): RecentLivePeriods(source: store, patience: Patience(on: loops))
        }
    }

    /// Lists contents and keys for operators.
    var contentDesk: ContentDesk {
        switch self {
        case .sqlite(let store): ContentDesk(store)
        case .postgreSQL(let store): ContentDesk(store)
        }
    }

    /// Makes the keys of periods.
    func periodDesk(_ derivation: KeyDerivation?) -> PeriodDesk {
        switch self {
        case .sqlite(let store): PeriodDesk(store: store, provider: store, derivation: derivation)
        case .postgreSQL(let store): PeriodDesk(store: store, provider: store, derivation: derivation)
        }
    }

    /// The database that all nodes share; nil if this node works alone.
    var shared: PostgreSQLStore? {
        switch self {
        case .sqlite: nil
        case .postgreSQL(let store): store
        }
    }
}
