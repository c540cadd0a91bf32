package import ContentKeys
package import KeyCrypto

extension ConfigurationLoader {
    /// The key-encryption keys, with `current` as the one that seals.
    package mutating func keyRing(_ current: AES256GCMKey) -> KeyRing? {
        let keys = configuration.keys
        var older: [KeySealing] = []
        for (index, entry) in keys.olderKeyEncryptionKeys.enumerated() {
            guard let key = keyEncryptionKey(entry.key, "keys.olderKeyEncryptionKeys[\(index)].key") else { continue }
            older.append(KeySealing(keyEncryptionKey: key, version: entry.version))
        }
        guard older.count == keys.olderKeyEncryptionKeys.count else { return nil }
        let sealing = KeySealing(keyEncryptionKey: current, version: keys.keyEncryptionKeyVersion)
        guard let ring = KeyRing(current: sealing, older: older) else {
            preconditionFailure("the versions of a configuration differ")
        }
        return ring
    }

    /// What derives keys; nil if they are random, or if a problem was reported.
    package mutating func keyDerivation() -> KeyDerivation? {
        let keys = configuration.keys
        guard keys.material == .derived, let source = keys.masterSecret,
            let secret = secret(source, size: KeyDerivation.secretSize, "keys.masterSecret")
        else { return nil }
        do throws(CryptoError) {
            return try KeyDerivation(masterSecret: SharedSecret(secret), version: keys.masterSecretVersion)
        } catch {
            report("keys.masterSecret", .cryptography(error))
            return nil
        }
    }
}
