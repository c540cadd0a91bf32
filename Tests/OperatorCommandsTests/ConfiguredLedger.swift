import Records
import ServiceConfiguration
import StorageSQLite
import Testing

/// The ledger in a configuration, made as the daemon makes it at its start, and the pseudonyms of its subjects.
struct ConfiguredLedger {
    let chain: LedgerChain
    let pseudonymizer: Pseudonymizer

    init(of configuration: String) throws {
        let file = try ConfigurationFile(path: configuration, environment: [:])
        var loader = ConfigurationLoader(file, environment: [:])
        let (keys, pseudonymizer) = (loader.ledgerKeys(), loader.pseudonymizer())
        self.pseudonymizer = try #require(pseudonymizer)
        chain = try LedgerFile(path: file.configuration.storage.databasePath, keys: #require(keys)).prepare(.none)
    }
}
