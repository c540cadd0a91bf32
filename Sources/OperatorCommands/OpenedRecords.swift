import Administration
import ByteCoding
import CommandLineKit
import CommandSupport
import ContentKeys
import Entitlements
import Foundation
import Licensing
import Records
import ServiceConfiguration
import StoragePostgreSQL
import StorageSQLite

/// The revocations, accounts and ledger of a node, opened by a command. A daemon may use them at the same time.
final class OpenedRecords: Sendable {
    private let desk: RevocationDesk
    private let accounts: AccountDesk
    private let names: RevocationNames
    /// Makes the pseudonyms of subjects and rentals.
    let pseudonyms: Pseudonymizer
    private let ledger: SQLiteDecisionStore
    private let shared: PostgreSQLStore?

    init(_ file: ConfigurationFile, _ context: CommandContext) throws(CommandError) {
        var loader = ConfigurationLoader(file, environment: context.environment)
        let (keys, pseudonymizer, settings) = (loader.ledgerKeys(), loader.pseudonymizer(), loader.postgreSQL())
        let secrets = loader.pseudonymSecret()
        let ring = settings == nil ? nil : loader.keyEncryptionKey().flatMap { loader.keyRing($0) }
        if let error = loader.error { throw .failed(error.description) }
        guard let keys, let secrets, let pseudonymizer else {
            preconditionFailure("the loader reports what it does not load")
        }

        ledger = try Self.openLedger(
            LedgerFile(path: file.configuration.storage.databasePath, keys: keys), secrets)
        if let settings, let ring {
            shared = try wrap(
                CommandError.shared, try PostgreSQLStore.open(settings, keyRing: ring, secrets: secrets))
        } else {
            shared = nil
        }
        names = RevocationNames(pseudonymizer)
        pseudonyms = pseudonymizer
        if let shared {
            let all = SharedRevocations(shared: shared, pending: ledger)
            desk = RevocationDesk(store: all, records: all, names: names)
            accounts = AccountDesk(
                store: shared, records: SharedAccountRecords(shared: shared, ledger: ledger), pseudonyms: pseudonymizer)
        } else {
            desk = RevocationDesk(store: ledger, records: ledger, names: names)
            accounts = AccountDesk(store: ledger, records: ledger, pseudonyms: pseudonymizer)
        }
    }

    /// The store that has the rentals.
    var accountStore: any AccountStore { shared ?? ledger }

    deinit {
        shared?.close()
        ledger.stop()
    }

    /// Runs `body` on revocations, and turns an error of the store into an error of the command.
    func attempt<Result>(
        _ body: (RevocationDesk) async throws(StoreError) -> Result
    ) async throws(CommandError) -> Result {
        return try await wrapAsync(CommandError.store, try await body(desk))
    }

    /// Runs `body` on accounts, and turns an error of the store into an error of the command.
    func attemptAccounts<Result>(
        _ body: (AccountDesk) async throws(StoreError) -> Result
    ) async throws(CommandError) -> Result {
        return try await wrapAsync(CommandError.store, try await body(accounts))
    }

    /// The revocations in force now, in the form in which requests are checked.
    ///
    /// It is empty if the node has no database yet. Then no database is made.
    static func view(
        of file: ConfigurationFile, _ context: CommandContext
    ) async throws(CommandError) -> RevocationView {
        let storage = file.configuration.storage
        if case .sqlite = storage.url, !FileManager.default.fileExists(atPath: storage.databasePath) {
            return RevocationView()
        }
        let opened = try OpenedRecords(file, context)
        let revocations = try await opened.attempt { desk throws(StoreError) in try await desk.all(at: context.now) }
        return opened.names.view(of: revocations)
    }

    /// Opens the node's database without the ledger's lock, which a running daemon holds.
    private static func openLedger(
        _ file: LedgerFile, _ secrets: SharedSecrets
    ) throws(CommandError) -> SQLiteDecisionStore {
        var options = SQLiteDecisionStore.Options()
        options.locksLedger = false
        return try wrap(
            CommandError.opening(file.path),
            try SQLiteDecisionStore.open(path: file.path, chain: file.prepare(secrets), options: options))
    }
}
