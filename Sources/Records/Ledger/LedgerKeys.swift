package import KeyCrypto

/// The ledger keys of a node by their versions: one that seals, and older ones that still verify.
///
/// No seal names the version of its key. A reader tries the keys, and a batch is never sealed under an older key than
/// the batch before it.
package struct LedgerKeys: Sendable {
    /// A ledger key with its version.
    package struct Key: Sendable {
        /// From 1 on. A newer key has a higher version.
        package let version: UInt32
        /// The caller uses the key for nothing but ledgers.
        package let key: HMACSHA256Key

        package init(version: UInt32, key: HMACSHA256Key) {
            self.version = version
            self.key = key
        }
    }

    /// Seals what is recorded from now on.
    package let current: Key
    /// All keys, the oldest first.
    let inOrder: [Key]

    /// Returns nil if two keys have the same version, or an older key has a higher version than the current one.
    package init?(current: Key, older: [Key] = []) {
        let inOrder = (older + [current]).sorted { $0.version < $1.version }
        guard Set(inOrder.map(\.version)).count == inOrder.count, inOrder.last?.version == current.version else {
            return nil
        }
        self.current = current
        self.inOrder = inOrder
    }

    /// A single key, of version 1.
    package init(_ key: HMACSHA256Key) {
        current = Key(version: 1, key: key)
        inOrder = [current]
    }

    /// What proves each key in a ledger's file: an HMAC over a text that no ledger seals.
    package func proofs() throws(CryptoError) -> [SecretProof] {
        var proofs: [SecretProof] = []
        for entry in inOrder {
            proofs.append(try SecretProof(of: .ledgerKey, number: Int64(entry.version), key: entry.key))
        }
        return proofs
    }
}
