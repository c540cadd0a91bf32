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
