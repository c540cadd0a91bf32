import Administration
import ByteCoding
import CommandLineKit
import ContentKeys
import KeyCrypto
import Records
import ServiceConfiguration
import StoragePostgreSQL
import StorageSQLite

/// What commands need of the ledger that a configuration names.
enum OpenedLedger {
    static func configuration(_ path: String, _ context: CommandContext) throws(CommandError) -> ConfigurationFile {
        return try wrap(
            CommandError.configuration,
            try ConfigurationFile(path: path, environment: context.environment))
    }

    static func keys(_ file: ConfigurationFile, _ context: CommandContext) throws(CommandError) -> LedgerKeys {
        var loader = ConfigurationLoader(file, environment: context.environment)
        guard let keys = loader.ledgerKeys() else { throw failure(of: loader) }
        return keys
    }

    /// What verifies this node's ledger. A ledger that is not there yet has the node's label for an id.
    static func chain(_ file: ConfigurationFile, _ context: CommandContext) throws(CommandError) -> LedgerChain {
        let keys = try keys(file, context)
        let (path, label) = (file.configuration.storage.databasePath, file.configuration.nodeLabel)
        do throws(StorageOpeningError) {
            return try LedgerFile(path: path, keys: keys, label: label).chain()
        } catch .store(.unavailable(.notWritable)) {
            return LedgerChain(keys: keys, node: label)
        } catch {
            throw explain(error, path)
        }
    }

    /// What seals rows of this node's ledger, which is made if it is not there yet: the first row must have the
    /// ledger's own id.
    static func prepared(_ file: ConfigurationFile, _ context: CommandContext) throws(CommandError) -> LedgerChain {
        let keys = try keys(file, context)
        let (path, label) = (file.configuration.storage.databasePath, file.configuration.nodeLabel)
        do throws(StorageOpeningError) {
            return try LedgerFile(path: path, keys: keys, label: label).prepare(.none)
        } catch {
            throw explain(error, path)
        }
    }

    /// The versions of ledger keys that have sealed batches, and for which no key is configured.
    static func missingKeyVersions(
        _ file: ConfigurationFile, _ context: CommandContext
    ) throws(CommandError) -> [Int64] {
        let keys = try keys(file, context)
        let (path, label) = (file.configuration.storage.databasePath, file.configuration.nodeLabel)
        do throws(StorageOpeningError) {
            return try LedgerFile(path: path, keys: keys, label: label).missingKeyVersions()
        } catch .store(.unavailable(.notWritable)) {
            return []
        } catch {
            throw explain(error, path)
        }
    }

    /// The database that all nodes share. Throws if the configuration names none.
    static func shared(_ file: ConfigurationFile, _ context: CommandContext) throws(CommandError) -> PostgreSQLStore {
        var loader = ConfigurationLoader(file, environment: context.environment)
        let settings = loader.postgreSQL()
        let ring = loader.keyEncryptionKey().flatMap { loader.keyRing($0) }
        if loader.error != nil { throw failure(of: loader) }
        guard let settings, let ring else {
            throw .failed("there is no copy of the ledger: storage.url names no PostgreSQL")
        }
        return try wrap(
            { (error: PostgreSQLOpeningError) in
                CommandError.failed("cannot use the database of storage.url: \(error.explanation)")
            }, try PostgreSQLStore.open(settings, keyRing: ring))
    }

    static func pseudonym(
        ofSubject subject: String, of issuer: String, _ file: ConfigurationFile, _ context: CommandContext
    ) throws(CommandError) -> Pseudonym {
        var loader = ConfigurationLoader(file, environment: context.environment)
        guard let pseudonymizer = loader.pseudonymizer() else { throw failure(of: loader) }
        return try wrap(
            { (error: CryptoError) in CommandError.failed("OpenSSL made no pseudonym (\(error))") },
            try pseudonymizer.pseudonym(of: .subject, Array(issuer.utf8), Array(subject.utf8)))
    }

    /// What is wrong with a ledger's file, in words; an error of the command's own stays as it is.
    static func explain(_ error: any Error, _ path: String) -> CommandError {
        switch error {
        case let error as CommandError: error
        case let error as StorageOpeningError: .failed("cannot open the database \(path): \(error.explanation)")
        case let error as StoreError: .failed("cannot read the ledger in \(path): \(error.explanation)")
        default: .failed("cannot read the ledger in \(path): a cryptographic operation failed")
        }
    }

    private static func failure(of loader: ConfigurationLoader) -> CommandError {
        .failed((loader.error ?? .invalid(path: loader.file.path, [])).description)
    }
}
