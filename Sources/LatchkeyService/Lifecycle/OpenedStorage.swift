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
                maximumReaders: loaded.configuration.limits.loopCount,
                generationFile: loaded.configuration.keys.generationFile))
    }

    /// Requests wait for PostgreSQL on these loops.
    func recentKeys(on loops: [LoopContext]) -> RecentContentKeys {
        switch self {
        case .sqlite(let store): RecentContentKeys(source: store)
        case .postgreSQL(let store):
            RecentContentKeys(source: store, lifeInOutage: Self.keyLifeInOutage, patience: Patience(on: loops))
        }
    }

    /// What the file of `keys.generationFile` says against the database; nil if nothing.
    var keyLoss: (event: String, cause: String)? {
        guard case .sqlite(let store) = self else { return nil }
        switch try? store.keyGenerationStanding() {
        case nil, .unwatched, .complete: return nil
        case .restored(let missing):
            return (
                "keys_restored",
                "the database is older than the last key: up to \(missing) random keys are lost, and none is made until"
                    + " latchkey keys accept-restore"
            )
        case .unknown(let fault): return ("key_generation_unusable", StoreOutage.keyGeneration(fault).explanation)
        }
    }

    /// Where packagers get their keys, each recorded in the ledger.
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

    /// Which periods of live contents are served. Requests wait for PostgreSQL on these loops.
    func recentLivePeriods(on loops: [LoopContext]) -> RecentLivePeriods {
        switch self {
        case .sqlite(let store): RecentLivePeriods(source: store)
        case .postgreSQL(let store): RecentLivePeriods(source: store, patience: Patience(on: loops))
        }
    }

    /// Makes the keys of periods.
    func periodDesk(_ derivation: KeyDerivation?) -> PeriodDesk {
        switch self {
        case .sqlite(let store): PeriodDesk(store: store, provider: store, derivation: derivation)
        case .postgreSQL(let store): PeriodDesk(store: store, provider: store, derivation: derivation)
        }
    }

    /// What all nodes share; nil if there is one node.
    var shared: PostgreSQLStore? {
        switch self {
        case .sqlite: nil
        case .postgreSQL(let store): store
        }
    }
}
