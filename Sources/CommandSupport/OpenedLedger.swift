import Administration
import ByteCoding
package import CommandLineKit
package import ContentKeys
import KeyCrypto
package import Records
package import ServiceConfiguration
package import StoragePostgreSQL
package import StorageSQLite

/// Opens the ledger that a configuration names, and its keys, for commands.
package enum OpenedLedger {
    package static func configuration(_ path: String, _ context: CommandContext) throws(CommandError)
        -> ConfigurationFile
    {
        return try wrap(
            CommandError.configuration,
            try ConfigurationFile(path: path, environment: context.environment))
    }

    package static func keys(_ file: ConfigurationFile, _ context: CommandContext) throws(CommandError) -> LedgerKeys {
        var loader = ConfigurationLoader(file, environment: context.environment)
        guard let keys = loader.ledgerKeys() else { throw failure(of: loader) }
        return keys
    }

    /// The file of this node's ledger.
    package static func ledger(_ file: ConfigurationFile, _ context: CommandContext) throws(CommandError) -> LedgerFile
    {
        LedgerFile(path: file.configuration.storage.databasePath, keys: try keys(file, context))
    }

    /// The chain that seals rows of this node's ledger. The ledger is made if it does not exist yet, because its first
    /// row must have the ledger's own id.
    package static func prepared(_ file: ConfigurationFile, _ context: CommandContext) throws(CommandError)
        -> LedgerChain
    {
        let ledger = try ledger(file, context)
        return try wrap(CommandError.opening(ledger.path), try ledger.prepare(.none))
    }

    /// Throws if the configuration names no database that all nodes share.
    package static func requireShared(_ file: ConfigurationFile) throws(CommandError) {
        guard file.configuration.storage.sharedAddress == nil else { return }
        throw .failed("there is no copy of the ledger: storage.url does not name a PostgreSQL database")
    }

    /// The database that all nodes share. Throws if the configuration names none.
    package static func shared(_ file: ConfigurationFile, _ context: CommandContext) throws(CommandError)
        -> PostgreSQLStore
    {
        try requireShared(file)
        var loader = ConfigurationLoader(file, environment: context.environment)
        let settings = loader.postgreSQL()
        let ring = loader.keyEncryptionKey().flatMap { loader.keyRing($0) }
        guard let settings, let ring, loader.error == nil else { throw failure(of: loader) }
        return try wrap(CommandError.shared, try PostgreSQLStore.open(settings, keyRing: ring))
    }

    package static func pseudonym(
        ofSubject subject: String, of issuer: String, _ file: ConfigurationFile, _ context: CommandContext
    ) throws(CommandError) -> Pseudonym {
        var loader = ConfigurationLoader(file, environment: context.environment)
        guard let pseudonymizer = loader.pseudonymizer() else { throw failure(of: loader) }
        return try wrap(
            { (error: CryptoError) in CommandError.failed("OpenSSL could not make a pseudonym (\(error))") },
            try pseudonymizer.subject(issuer: issuer, subject))
    }

    /// Turns an error of the ledger's file into an error of the command. A command's own error stays as it is.
    package static func explain(_ error: any Error, _ path: String) -> CommandError {
        switch error {
        case let error as CommandError: error
        case let error as StorageOpeningError: CommandError.opening(path)(error)
        case let error as StoreError: .failed("cannot read the ledger in \(path): \(error.explanation)")
        default: .failed("cannot read the ledger in \(path): a cryptographic operation failed")
        }
    }

    private static func failure(of loader: ConfigurationLoader) -> CommandError {
        .failed((loader.error ?? .invalid(path: loader.file.path, [])).description)
    }
}

extension CommandError {
    /// An open store has failed.
    package static func store(_ error: StoreError) -> CommandError { .failed(error.explanation) }

    /// The database that all nodes share cannot be used.
    package static func shared(_ error: PostgreSQLOpeningError) -> CommandError {
        .failed("cannot use the database of storage.url: \(error.explanation)")
    }

    /// The database at a path cannot be opened.
    package static func opening(_ path: String) -> (StorageOpeningError) -> CommandError {
        { error in .failed("cannot open the database \(path): \(error.explanation)") }
    }
}
