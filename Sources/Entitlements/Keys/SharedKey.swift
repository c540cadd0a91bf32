import ByteCoding

/// A key that several issuers have, of which at least one publishes it at a URL.
package struct SharedKey: Hashable, Sendable {
    /// The ID under which the first of the issuers has the key.
    package let id: String
    /// The names of the issuers, in the order of the configuration.
    package let issuers: [String]
    /// Whether it is known to which issuer the key belongs. Otherwise tokens that name no issuer are refused.
    package let isDecided: Bool
}

/// Decides to which issuer a key belongs, of all that have it.
///
/// A key of the configuration or of a file belongs to its issuer. A key that only URLs have belongs to the issuer that
/// had it first. Entries with the same issuer name are one issuer. Another issuer that has the key may use it only for
/// tokens that name this issuer. If the order is not known, issuers whose tokens always name them do not count: no
/// token without a name is theirs.
struct KeyOwners {
    /// The keys that are configured, with the names of their issuers.
    private var configured: [[UInt8]: Set<[UInt8]>] = [:]
    /// The names of the issuers that may have had a key of a URL first, and whose tokens need not name them.
    private var first: [[UInt8]: Set<[UInt8]>] = [:]
    /// The issuers that have each key, by their indices.
    private var holders: [[UInt8]: [Int]] = [:]

    init(_ issuers: [Issuer], order: PublicationOrder?) {
        for (index, issuer) in issuers.enumerated() {
            for (position, key) in issuer.keys.enumerated() {
                holders[key.fingerprint, default: []].append(index)
                if position < issuer.configuredKeyCount {
                    configured[key.fingerprint, default: []].insert(issuer.nameBytes)
                } else if !issuer.dialect.namesIssuer,
                    order?.mayBeFirst(issuer.publisher, key.fingerprint) ?? true
                {
                    first[key.fingerprint, default: []].insert(issuer.nameBytes)
                }
            }
        }
    }

    /// Whether a key from an issuer's URL belongs to this issuer.
    func isOwn(_ key: VerificationKey, of issuer: Issuer) -> Bool {
        if let owners = configured[key.fingerprint] { return owners.contains(issuer.nameBytes) }
        return first[key.fingerprint] == [issuer.nameBytes]
    }

    /// The keys that several issuers have, sorted by their IDs.
    func sharedKeys(of issuers: [Issuer]) -> [SharedKey] {
        let shared = holders.compactMap { fingerprint, indices -> SharedKey? in
            let holders = indices.map { issuers[$0] }
            guard Set(holders.map(\.nameBytes)).count > 1, holders.contains(where: { $0.keySupply != .configured })
            else { return nil }
            var names: [String] = []
            for holder in holders where !names.contains(where: { $0.hasSameUTF8(as: holder.name) }) {
                names.append(holder.name)
            }
            return SharedKey(
                id: holders[0].keys.first { $0.fingerprint == fingerprint }?.id ?? "", issuers: names,
                isDecided: configured[fingerprint] != nil || (first[fingerprint]?.count ?? 0) < 2)
        }
        return shared.sorted { ($0.id, $0.issuers.joined()) < ($1.id, $1.issuers.joined()) }
    }
}

extension Issuer {
    fileprivate var nameBytes: [UInt8] { Array(name.utf8) }

    /// The issuer's URL.
    fileprivate var publisher: PublicationOrder.Publisher {
        PublicationOrder.Publisher(issuer: name, dialect: dialect)
    }
}
