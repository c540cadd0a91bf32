import ByteCoding

/// Reads the members of one JSON object of a token by type, and names them in errors.
///
/// A member that is present must have the right type. A member of another type, null included, is refused and not
/// treated as absent.
struct ClaimObject {
    /// The most bytes that a string may have.
    static let stringSizeMaximum = 200

    /// The position of an object in a token.
    ///
    /// Names that the issuer chooses, such as the labels of `tracks`, are not part of it, so that errors never show
    /// them.
    indirect enum Place {
        case token
        /// The object is the value of this member.
        case member(String, of: Place)
        /// The object is an element of the array in this member.
        case element(Int, in: String, of: Place)
    }

    /// The unknown member for which a token is refused. Its name is text of the token, so only the operator may see it.
    final class Stranger {
        fileprivate(set) var path: String?
        /// The names of the members that are known at its place.
        fileprivate(set) var vocabulary: [String] = []
    }

    private let object: JSONObject
    private let place: Place
    private let stranger: Stranger?

    /// A refusal notes an unknown member in `stranger`.
    init(_ object: JSONObject, at place: Place = .token, noting stranger: Stranger? = nil) {
        self.object = object
        self.place = place
        self.stranger = stranger
    }

    subscript(name: String) -> JSONNode? { object[name] }

    func invalid(_ name: String) -> EntitlementError {
        .claimInvalid(path(of: name))
    }

    func required<Value>(_ name: String, _ value: Value?) throws(EntitlementError) -> Value {
        guard let value else { throw invalid(name) }
        return value
    }

    // MARK: Texts

    /// A text of 1 to `sizeMaximum` bytes.
    func string(_ name: String, sizeMaximum: Int = stringSizeMaximum) throws(EntitlementError) -> String? {
        guard let member = object[name] else { return nil }
        guard let text = member.string, (1...sizeMaximum).contains(text.utf8.count) else { throw invalid(name) }
        return text
    }

    /// An identifier of content: 1 to 200 characters of printable ASCII without space.
    func contentText(_ name: String) throws(EntitlementError) -> String? {
        guard let text = try string(name) else { return nil }
        guard Self.isIdentifier(text) else { throw invalid(name) }
        return text
    }

    /// Whether a text is printable ASCII without space, as identifiers of content and labels of tracks must be.
    static func isIdentifier(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// One of a closed list of words.
    func word<Word: RawRepresentable>(_ name: String) throws(EntitlementError) -> Word? where Word.RawValue == String {
        guard let text = try string(name) else { return nil }
        return try required(name, Word(rawValue: text))
    }

    /// A list of 1 to `countMaximum` texts, each converted by `read`, which returns nil for a text that it refuses.
    func list<Value>(
        _ name: String, countMaximum: Int, _ read: (String) -> Value?
    ) throws(EntitlementError) -> [Value]? {
        guard let member = object[name] else { return nil }
        guard let elements = member.array, (1...countMaximum).contains(elements.count) else { throw invalid(name) }
        var values: [Value] = []
        for element in elements {
            values.append(try required(name, element.string.flatMap(read)))
        }
        return values
    }

    // MARK: Numbers

    func bool(_ name: String) throws(EntitlementError) -> Bool? {
        guard let member = object[name] else { return nil }
        return try required(name, member.bool)
    }

    /// A whole number of seconds, at least 1. A device would take zero for "no limit".
    func seconds(_ name: String) throws(EntitlementError) -> Int64? {
        guard let member = object[name] else { return nil }
        guard let seconds = member.number?.signed, seconds > 0 else { throw invalid(name) }
        return seconds
    }

    /// A maximum count of things; at least 1.
    func count(_ name: String) throws(EntitlementError) -> UInt32? {
        guard let member = object[name] else { return nil }
        guard let count = member.number?.unsigned, count > 0 else { throw invalid(name) }
        return try required(name, UInt32(exactly: count))
    }

    /// A number of seconds since 1970.
    func numericDate(_ name: String) throws(EntitlementError) -> NumericDate? {
        guard let member = object[name] else { return nil }
        return try required(name, member.number.flatMap { NumericDate($0) })
    }

    /// A number of seconds since 1970, or a time in RFC 3339.
    func date(_ name: String) throws(EntitlementError) -> NumericDate? {
        guard let text = object[name]?.string else { return try numericDate(name) }
        return try required(name, NumericDate(rfc3339: text))
    }

    /// A time in RFC 3339 and nothing else.
    func time(_ name: String) throws(EntitlementError) -> NumericDate? {
        guard let text = try string(name) else { return nil }
        return try required(name, NumericDate(rfc3339: text))
    }

    // MARK: Objects

    func object(_ name: String) throws(EntitlementError) -> ClaimObject? {
        guard let member = object[name] else { return nil }
        return ClaimObject(
            try required(name, member.object), at: .member(name, of: place), noting: stranger)
    }

    /// The value of a member of the object `name`. Errors do not show the member's own name.
    func value(of member: JSONMember, in name: String) throws(EntitlementError) -> ClaimObject {
        ClaimObject(
            try required(name, member.node.object), at: .member(name, of: place), noting: stranger)
    }

    /// An array of objects.
    func objects(_ name: String, countMaximum: Int) throws(EntitlementError) -> [ClaimObject]? {
        guard let member = object[name] else { return nil }
        guard let elements = member.array, elements.count <= countMaximum else { throw invalid(name) }
        var objects: [ClaimObject] = []
        objects.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            objects.append(
                ClaimObject(
                    try required(name, element.object), at: .element(index, in: name, of: place),
                    noting: stranger))
        }
        return objects
    }

    // MARK: Unsupported and unknown members

    func unsupported(_ name: String) -> EntitlementError {
        .claimUnsupported(path(of: name))
    }

    /// Refuses members that demand a restriction that this server does not have.
    func refuse(_ names: [String]) throws(EntitlementError) {
        for name in names where object[name] != nil { throw unsupported(name) }
    }

    /// Refuses members that are not in the vocabulary. If a misspelt limit were ignored, the token would grant more
    /// than its issuer meant.
    func refuseStrangers(to vocabulary: [String]) throws(EntitlementError) {
        guard let name = object.firstName(outside: vocabulary) else { return }
        stranger?.path = path(of: name)
        stranger?.vocabulary = vocabulary
        // The error does not show the name, because the issuer chose it.
        throw unsupported("(an unknown member)")
    }

    // MARK: For explanations

    /// The names of all members.
    var names: [String] { object.members.map(\.name) }

    /// The member at a path as errors write it, for example `session.groups[0].max`; nil if the member is absent.
    func node(at path: String) -> JSONNode? {
        var node: JSONNode?
        var object: JSONObject? = object
        for step in path.split(separator: ".") {
            let parts = step.split { $0 == "[" || $0 == "]" }
            node = parts.first.flatMap { object?[String($0)] }
            if parts.count == 2 {
                let index = Int(parts[1]) ?? -1
                node = node?.array.flatMap { $0.indices.contains(index) ? $0[index] : nil }
            }
            object = node?.object
        }
        return node
    }

    /// The member whose name is near to that of the absent member at a path; nil if no name is near.
    func misspelling(of path: String) -> String? {
        let steps = path.split(separator: ".")
        guard let name = steps.last else { return nil }
        let parent = steps.count == 1 ? object : node(at: steps.dropLast().joined(separator: "."))?.object
        return NearestName.of(String(name), among: parent?.members.map(\.name) ?? [])
    }

    private func path(of name: String) -> String {
        place.prefix + name
    }
}

extension ClaimObject.Place {
    fileprivate var prefix: String {
        switch self {
        case .token: ""
        case .member(let name, let place): "\(place.prefix)\(name)."
        case .element(let index, let name, let place): "\(place.prefix)\(name)[\(index)]."
        }
    }
}
