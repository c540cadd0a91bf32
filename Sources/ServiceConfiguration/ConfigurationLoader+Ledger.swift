import ContentKeys
import KeyCrypto
package import Records

extension ConfigurationLoader {
    /// Loads the key that seals this node's ledger, and the earlier keys.
    package mutating func ledgerKeys() -> LedgerKeys? {
        let ledger = configuration.ledger
        var older: [LedgerKeys.Key] = []
        for (index, entry) in ledger.olderKeys.enumerated() {
            guard let key = hmacKey(entry.key, "ledger.olderKeys[\(index)].key") else { continue }
            older.append(.init(version: entry.version, key: key))
        }
        guard let key = hmacKey(ledger.key, "ledger.key"), older.count == ledger.olderKeys.count else { return nil }
        guard let keys = LedgerKeys(current: .init(version: ledger.keyVersion, key: key), older: older) else {
            preconditionFailure("the versions of a configuration differ, and those of older keys are lower")
        }
        return keys
    }

    /// Loads the key that makes the pseudonyms of devices and subjects.
    package mutating func pseudonymizer() -> Pseudonymizer? {
        hmacKey(configuration.ledger.pseudonymKey, "ledger.pseudonymKey").map { Pseudonymizer(key: $0) }
    }

    /// Loads the secrets that must be the same on all nodes, so that the store can check them. Returns nil if a problem
    /// was reported.
    package mutating func sharedSecrets() -> SharedSecrets? {
        guard var secrets = masterSecret(),
            let pseudonymKey = hmacKey(configuration.ledger.pseudonymKey, "ledger.pseudonymKey")
        else { return nil }
        do throws(CryptoError) {
            try secrets.add(.pseudonymKey, current: pseudonymKey)
            guard let sessions = configuration.entitlement.sessions else { return secrets }
            let retired = sessions.retiredKeys.compactMap { hmacKey($0, "entitlement.sessions.retiredKeys") }
            guard let key = hmacKey(sessions.key, "entitlement.sessions.key"),
                retired.count == sessions.retiredKeys.count
            else { return nil }
            try secrets.add(.sessionKey, current: key, retired: retired)
            return secrets
        } catch {
            report("ledger.pseudonymKey", .cryptography(error))
            return nil
        }
    }

    /// Loads the master secret alone, on which new keys depend. Returns no secrets if keys are random, and nil if a
    /// problem was reported.
    package mutating func masterSecret() -> SharedSecrets? {
        let keys = configuration.keys
        guard let source = keys.masterSecret else { return SharedSecrets.none }
        guard let key = hmacKey(source, "keys.masterSecret") else { return nil }
        var secrets = SharedSecrets()
        do throws(CryptoError) {
            try secrets.add(.masterSecret, current: key, version: keys.masterSecretVersion)
            return secrets
        } catch {
            report("keys.masterSecret", .cryptography(error))
            return nil
        }
    }

    /// Loads the pseudonym key alone, on which revocations and the subjects of a ledger depend.
    package mutating func pseudonymSecret() -> SharedSecrets? {
        guard let key = hmacKey(configuration.ledger.pseudonymKey, "ledger.pseudonymKey") else { return nil }
        var secrets = SharedSecrets()
        do throws(CryptoError) {
            try secrets.add(.pseudonymKey, current: key)
            return secrets
        } catch {
            report("ledger.pseudonymKey", .cryptography(error))
            return nil
        }
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
