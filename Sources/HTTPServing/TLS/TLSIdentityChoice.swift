/// Which identities serve which names: an `SSL_CTX` holds one of each algorithm, so each name has a group of one or
/// two.
struct TLSIdentityChoice {
    /// Positions in the list of identities, one context each; the first is the default.
    private(set) var groups: [[Int]] = []
    /// The position of a name's group.
    private(set) var names = TLSServerNames<Int>()

    /// Of several identities with the same name and algorithm the first serves.
    init(_ identities: [TLSIdentity]) {
        self.init(identities.map { ($0.names, $0.algorithm) })
    }

    init(_ identities: [(names: [String], algorithm: TLSIdentity.Algorithm)]) {
        var positions: [[Int]: Int] = [:]
        for (index, identity) in identities.enumerated() {
            // A certificate without names serves as the default only.
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

    /// The first identity of each algorithm that has this name, in the order of the list.
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

/// Which of several things belongs to the name that a client asks for (RFC 6066 section 3, RFC 9525 section 6.3).
struct TLSServerNames<Value: Sendable>: Sendable {
    private var exact: [String: Value] = [:]
    /// By what follows `*.`.
    private var wildcards: [String: Value] = [:]

    /// Files a value under a name of a certificate: a host, or `*.` and a domain. The first one of a name stays.
    mutating func insert(_ value: Value, for name: String) {
        let name = Self.normalize(name)
        if name.hasPrefix("*.") {
            let domain = String(name.dropFirst(2))
            if wildcards[domain] == nil { wildcards[domain] = value }
        } else if exact[name] == nil {
            exact[name] = value
        }
    }

    /// The value for a host: of its exact name, or of the wildcard that stands for its first label alone.
    func value(for host: String) -> Value? {
        let host = Self.normalize(host)
        if let value = exact[host] { return value }
        guard let dot = host.firstIndex(of: "."), dot > host.startIndex else { return nil }
        return wildcards[String(host[host.index(after: dot)...])]
    }

    /// Lower case, without the dot of the root.
    private static func normalize(_ name: String) -> String {
        let name = name.lowercased()
        return name.hasSuffix(".") ? String(name.dropLast()) : name
    }
}
