import Administration
import ByteCoding
import CommandLineKit
import ContentKeys
import KeyCrypto
import Records
import ServiceConfiguration
import StorageSQLite

/// What commands need of the ledger that a configuration names.
enum OpenedLedger {
    static func configuration(_ path: String, _ context: CommandContext) throws(CommandError) -> ConfigurationFile {
        return try wrap(
            CommandError.configuration,
            try ConfigurationFile(path: path, environment: context.environment))
    }

    static func chain(_ file: ConfigurationFile, _ context: CommandContext) throws(CommandError) -> LedgerChain {
        var loader = ConfigurationLoader(file, environment: context.environment)
        guard let chain = loader.ledgerChain() else { throw failure(of: loader) }
        return chain
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
