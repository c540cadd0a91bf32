/// A named value of a JSON object.
package struct JSONMember: Sendable {
    /// The name, unescaped.
    package let name: String
    /// The place of the name's first character or quote.
    package let namePosition: TextPosition
    /// The value.
    package let node: JSONNode
}

/// The members of a JSON object in the order of the text; no name occurs twice.
///
/// Names are equal when their UTF-8 is. Swift's own comparison follows canonical equivalence, by which U+212A (the
/// Kelvin sign) equals "K": a token could then carry a claim that only some readers see.
package struct JSONObject: Sendable {
    /// From this many members on a set finds duplicates, so that a body full of names costs linear time.
    private static let searchedMemberCountMaximum = 16
    /// Room for more would let a text of small objects take too much memory.
    private static let roomAtFirst = 4

    /// The members as the text has them.
    package private(set) var members: [JSONMember] = []
    private var names: Set<[UInt8]> = []

    /// The value of the member with this name; the search is linear.
    package subscript(name: String) -> JSONNode? {
        index(of: name).map { members[$0].node }
    }

    /// Whether a member of this name is there already.
    func contains(_ name: String) -> Bool {
        names.isEmpty ? index(of: name) != nil : names.contains(Array(name.utf8))
    }

    /// Whether every name is among these. Swift compares them by canonical equivalence: a name of ASCII has no other
    /// spelling of as many bytes, and no reader finds a member by a spelling of more.
    package func isWithin(_ vocabulary: Set<String>) -> Bool {
        for index in members.indices where !vocabulary.contains(members[index].name) { return false }
        return true
    }

    private func index(of name: String) -> Int? {
        let count = name.utf8.count
        for index in members.indices
        where members[index].name.utf8.count == count && members[index].name.hasSameUTF8(as: name) {
            return index
        }
        return nil
    }

    /// Adds a member whose name is not there yet.
    mutating func append(_ member: JSONMember) {
        if members.isEmpty { members.reserveCapacity(Self.roomAtFirst) }
        members.append(member)
        if members.count == Self.searchedMemberCountMaximum {
            names = Set(members.map { Array($0.name.utf8) })
        } else if members.count > Self.searchedMemberCountMaximum {
            names.insert(Array(member.name.utf8))
        }
    }

    /// Forgets what only reading needed.
    mutating func finish() {
        names = []
    }
}
