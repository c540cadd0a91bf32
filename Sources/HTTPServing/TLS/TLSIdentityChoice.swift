/// The identities that serve each name. An `SSL_CTX` can have one identity of each algorithm, so each name has a group
/// of one or two identities.
struct TLSIdentityChoice {
    /// The groups, as positions in the list of identities. Each group needs a context; the first group is the default.
    private(set) var groups: [[Int]] = []
    /// The position of the group of each name.
    private(set) var names = TLSServerNames<Int>()

    /// Makes the groups. If several identities have the same name and algorithm, the first one is used.
    init(_ identities: [TLSIdentity]) {
        self.init(identities.map { ($0.names, $0.algorithm) })
    }

    init(_ identities: [(names: [String], algorithm: TLSIdentity.Algorithm)]) {
        var positions: [[Int]: Int] = [:]
        for (index, identity) in identities.enumerated() {
            // A certificate without names can only be the default.
            let groupsOfNames = identity.names.map { name in (name, Self.group(of: name, identities)) }
            for (name, group) in groupsOfNames where group.contains(index) {
                let position = positions[group] ?? groups.count
                if position == groups.count { groups.append(group) }
                positions[group] = position
                names.insert(position, for: name)
            }
            if index == 0 && groups.isEmpty { groups.append([0]) }
        }
    }

    /// Returns the first identity of each algorithm that has this name, in the order of the list.
    private static func group(
        of name: String, _ identities: [(names: [String], algorithm: TLSIdentity.Algorithm)]
    ) -> [Int] {
        let having = identities.indices.filter { index in
            identities[index].names.contains { $0.lowercased() == name.lowercased() }
        }
        let first = having.first.map { [$0] } ?? []
        let other = having.first { index in first.allSatisfy { identities[$0].algorithm != identities[index].algorithm }
        }
        return first + (other.map { [$0] } ?? [])
    }
}

/// Finds the value for the host name that a client sends (RFC 6066 section 3, RFC 9525 section 6.3).
struct TLSServerNames<Value: Sendable>: Sendable {
    private var exact: [String: Value] = [:]
    /// The values of wildcards, by the domain after `*.`.
    private var wildcards: [String: Value] = [:]

    /// Adds a value for a name of a certificate: a host, or `*.` and a domain. If the name has a value already, that
    /// one stays.
    mutating func insert(_ value: Value, for name: String) {
        let name = Self.normalize(name)
        if name.hasPrefix("*.") {
            let domain = String(name.dropFirst(2))
            if wildcards[domain] == nil { wildcards[domain] = value }
        } else if exact[name] == nil {
            exact[name] = value
        }
    }

    /// Returns the value for a host: the value for its exact name, or for the wildcard that replaces its first label.
    func value(for host: String) -> Value? {
        let host = Self.normalize(host)
        if let value = exact[host] { return value }
        guard let dot = host.firstIndex(of: "."), dot > host.startIndex else { return nil }
        return wildcards[String(host[host.index(after: dot)...])]
    }

    /// Returns a name in lower case and without the dot of the root domain.
    private static func normalize(_ name: String) -> String {
        let name = name.lowercased()
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }
}
