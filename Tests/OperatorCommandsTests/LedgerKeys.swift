import Records
import ServiceConfiguration
import Testing

/// The keys that a configuration names for its ledger, as the daemon reads them.
struct LedgerKeys {
    let chain: LedgerChain
    let pseudonymizer: Pseudonymizer

    init(of configuration: String) throws {
        var loader = ConfigurationLoader(
            try ConfigurationFile(path: configuration, environment: [:]), environment: [:])
        let (chain, pseudonymizer) = (loader.ledgerChain(), loader.pseudonymizer())
        self.chain = try #require(chain)
        self.pseudonymizer = try #require(pseudonymizer)
    }
}
