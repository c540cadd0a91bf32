import ContentKeys
import KeyCrypto
package import Records

extension ConfigurationLoader {
    /// What seals this node's ledger.
    package mutating func ledgerChain() -> LedgerChain? {
        guard let key = hmacKey(configuration.ledger.key, "ledger.key") else { return nil }
        do throws(IdentifierError) {
            return LedgerChain(key: key, node: try NodeID(configuration.node))
        } catch {
            // The configuration's own rule for the name of a node is stricter.
            preconditionFailure("a configured node has a name")
        }
    }

    /// What names devices and subjects.
    package mutating func pseudonymizer() -> Pseudonymizer? {
        hmacKey(configuration.ledger.pseudonymKey, "ledger.pseudonymKey").map { Pseudonymizer(key: $0) }
    }

    mutating func hmacKey(_ source: SecretSource, _ path: String) -> HMACSHA256Key? {
        guard let secret = secret(source, size: Configuration.Ledger.keySize, path) else { return nil }
        do throws(CryptoError) {
            return try HMACSHA256Key(secret)
        } catch {
            report(path, .cryptography(error))
            return nil
        }
    }
}
