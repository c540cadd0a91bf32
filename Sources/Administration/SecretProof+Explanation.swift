package import Records

extension SecretProof.Name {
    /// What is wrong and what to do if a store was used with another secret of this name.
    package var explanation: String {
        switch self {
        case .pseudonymKey:
            "\(rawValue) is not the key that it was used with; with another key, revocations would be lifted and uses counted again; "
                + "configure the key that all nodes have"
        case .sessionKey:
            "\(rawValue) is not the key that it was used with; configure the key that all nodes have, and a key that it replaces in "
                + "entitlement.sessions.retiredKeys"
        case .ledgerKey:
            "\(rawValue) is not the key that it was used with under this version; give a new key a higher ledger.keyVersion, and name the "
                + "key before it in ledger.olderKeys"
        }
    }
}
