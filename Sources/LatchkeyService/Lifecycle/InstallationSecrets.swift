import Administration
import Records
import ServiceConfiguration
import StoragePostgreSQL
import StorageSQLite
import Synchronization
import Telemetry

/// Updates the proofs of the shared secrets in the stores when a reload replaces the session key.
///
/// A node does not start with a secret that the stores do not know. A reload is different, because it is an operator's
/// order: by it an operator replaces a session key whose tokens must no longer be valid.
final class InstallationSecrets: Sendable {
    private let records: LicenseRecords
    private let shared: PostgreSQLStore?
    private let logger: Logger
    private let path: String
    private let secrets: Mutex<SharedSecrets>

    init(_ loaded: LoadedConfiguration, _ records: LicenseRecords, shared: PostgreSQLStore?, logger: Logger) {
        self.records = records
        self.shared = shared
        self.logger = logger
        path = loaded.databasePath
        secrets = Mutex(loaded.sharedSecrets)
    }

    /// Compares the secrets of a new configuration with this node's database if one of `fields` is about them: these
    /// fields wait for a restart, and the restart would refuse a secret that the database does not know.
    ///
    /// Throws only if a secret differs. The keys of a PostgreSQL database are not compared.
    func checkRestart(with new: LoadedConfiguration, _ fields: [String]) throws(DaemonError) {
        guard fields.contains(where: { $0.hasPrefix("keys.") || $0.hasPrefix("ledger.") }) else { return }
        let file = LedgerFile(path: new.databasePath, keys: new.ledgerKeys)
        // A reload may replace the session key.
        let fixed = new.sharedSecrets.taking(.sessionKey, from: .none)
        do throws(StorageOpeningError) {
            try file.check(fixed, new.postgreSQL == nil ? new.keyRing : nil)
        } catch {
            guard error.isAboutSecrets else { return }
            throw .store(path: new.databasePath, error)
        }
    }

    /// Adopts the session key of a new configuration. All other secrets need a restart.
    func adopt(_ new: LoadedConfiguration) throws(DaemonError) {
        let old = secrets.withLock { $0 }
        let taken = old.taking(.sessionKey, from: new.sharedSecrets)
        guard taken != old else { return }
        try wrapped { () throws(StorageOpeningError) in try records.replaceSecrets(taken) }
        secrets.withLock { $0 = taken }
        do throws(PostgreSQLOpeningError) {
            try shared?.replaceSecrets(taken)
        } catch {
            // The next connection stores the proof.
            logger.warning("postgresql_away", [.string("cause", error.explanation)])
        }
    }

    private func wrapped(_ body: () throws(StorageOpeningError) -> Void) throws(DaemonError) {
        do throws(StorageOpeningError) { try body() } catch { throw .store(path: path, error) }
    }
}
