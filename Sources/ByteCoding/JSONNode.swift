/// A value of a JSON text, and its position.
package struct JSONNode: Sendable {
    /// The value itself.
    package let value: JSONValue
    /// The place of the value's first character.
    package let position: TextPosition

    /// A value and its place. Also for values that do not come from a text.
    package init(value: JSONValue, position: TextPosition) {
        self.value = value
        self.position = position
    }
}

/// A JSON value (RFC 8259 section 3).
package enum JSONValue: Sendable {
    case null
    case bool(Bool)
    case number(JSONNumber)
    case string(String)
    case array([JSONNode])
    case object(JSONObject)
}

/// The value as a Swift type: nil when it is of another kind. Values are never converted.
extension JSONNode {
    /// Whether the value is `null`.
    package var isNull: Bool {
        if case .null = value { true } else { false }
    }

    /// The value of `true` or `false`.
    package var bool: Bool? {
        if case .bool(let bool) = value { bool } else { nil }
    }

    /// The number; `JSONNumber` has the exact conversions.
    package var number: JSONNumber? {
        if case .number(let number) = value { number } else { nil }
    }

    /// The text. Compare it with `hasSameUTF8(as:)` if canonically equivalent strings must not count as equal.
    package var string: String? {
        if case .string(let string) = value { string } else { nil }
    }

    /// The elements, in order.
    package var array: [JSONNode]? {
        if case .array(let array) = value { array } else { nil }
    }

    /// The members, in order.
    package var object: JSONObject? {
        if case .object(let object) = value { object } else { nil }
    }
}

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
/// Names are equal when their UTF-8 is equal. Swift's own comparison uses canonical equivalence, under which U+212A
/// (the Kelvin sign) equals "K": a token could then carry a claim that only some readers see.
package struct JSONObject: Sendable {
    /// From this many members on, a set finds duplicates, so that a body with many names takes linear time.
    private static let searchedMemberCountMaximum = 16
    /// How many members an object first reserves room for. With more room, a text of many small objects would take too
    /// much memory.
    private static let roomAtFirst = 4

    /// The members, in the order of the text.
    package private(set) var members: [JSONMember] = []
    private var names: Set<[UInt8]> = []

    /// The value of the member with this name; the search is linear.
    package subscript(name: String) -> JSONNode? {
        index(of: name).map { members[$0].node }
    }

    /// Whether the object already has a member of this name.
    func contains(_ name: String) -> Bool {
        names.isEmpty ? index(of: name) != nil : names.contains(Array(name.utf8))
    }

    /// The place of a member's name; nil if there is no such member. The search is linear.
    func namePosition(of name: String) -> TextPosition? {
        index(of: name).map { members[$0].namePosition }
    }

    /// The first name that is not in the vocabulary; nil if there is none. The search is linear: for about 20 names, a
    /// set would be slower.
    package func firstName(outside vocabulary: [String]) -> String? {
        for index in members.indices {
            let name = members[index].name
            if !vocabulary.contains(where: name.hasSameUTF8) { return name }
        }
        return nil
    }

    private func index(of name: String) -> Int? {
        // Only the names are read, so that no member is copied.
        for index in members.indices where members[index].name.hasSameUTF8(as: name) { return index }
        return nil
    }

    /// Adds a member. The object must not have a member of this name yet.
    mutating func append(_ member: JSONMember) {
        if members.isEmpty { members.reserveCapacity(Self.roomAtFirst) }
        members.append(member)
        if members.count == Self.searchedMemberCountMaximum {
            names = Set(members.map { Array($0.name.utf8) })
        } else if members.count > Self.searchedMemberCountMaximum {
            names.insert(Array(member.name.utf8))
        }
    }

    /// Frees the set of names, which is needed only during parsing.
    mutating func finish() {
        names = []
    }
}
