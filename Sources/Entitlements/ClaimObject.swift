import ByteCoding

/// The members of one JSON object of a token, read by type and named in errors.
///
/// A member that is there must have the right type: null, a number in quotes or a boolean is refused rather than taken for absent.
struct ClaimObject {
    /// The most bytes that a string may have.
    static let stringSizeMaximum = 200

    /// Where in a token an object stands.
    enum Place {
        case token
        /// An element of `rights`.
        case right(index: Int)
        /// A value of the `tracks` of such an element; its label is text of the token, and stays out of errors.
        case track(rightIndex: Int)
    }

    private let object: JSONObject
    private let place: Place

    init(_ object: JSONObject, at place: Place = .token) {
        self.object = object
        self.place = place
    }

    subscript(name: String) -> JSONNode? { object[name] }

    func invalid(_ name: String) -> EntitlementError {
        .claimInvalid(path(of: name))
    }

    func required<Value>(_ name: String, _ value: Value?) throws(EntitlementError) -> Value {
        guard let value else { throw invalid(name) }
        return value
    }

    /// A text of 1 to 200 bytes.
    func string(_ name: String) throws(EntitlementError) -> String? {
        guard let member = object[name] else { return nil }
        guard let text = member.string, (1...Self.stringSizeMaximum).contains(text.utf8.count) else {
            throw invalid(name)
        }
        return text
    }

    /// A text of 1 to 200 characters of printable ASCII without space, as identifiers of content are.
    func contentText(_ name: String) throws(EntitlementError) -> String? {
        guard let text = try string(name) else { return nil }
        guard Self.isIdentifier(text) else { throw invalid(name) }
        return text
    }

    /// Whether a text is printable ASCII without space, as identifiers of content and labels of tracks are.
    static func isIdentifier(_ text: String) -> Bool {
        text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    /// One of a closed list of words.
    func word<Word: RawRepresentable>(_ name: String) throws(EntitlementError) -> Word? where Word.RawValue == String {
        guard let text = try string(name) else { return nil }
        return try required(name, Word(rawValue: text))
    }

    /// The value of a member of `tracks`, for the right that this object is.
    func track(_ member: JSONMember) throws(EntitlementError) -> ClaimObject {
        guard case .right(let index) = place else { preconditionFailure("a right has tracks") }
        return ClaimObject(try required("tracks", member.node.object), at: .track(rightIndex: index))
    }

    /// A whole number of seconds, at least 1: zero would tell a device that there is no limit.
    func seconds(_ name: String) throws(EntitlementError) -> Int64? {
        guard let member = object[name] else { return nil }
        guard let seconds = member.number?.signed, seconds > 0 else { throw invalid(name) }
        return seconds
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

    /// Refuses members that would restrict what this server cannot restrict.
    func refuse(_ names: [String]) throws(EntitlementError) {
        for name in names where object[name] != nil { throw .claimUnsupported(path(of: name)) }
    }

    /// Refuses members that are not in the vocabulary: a misspelt limit would else grant more than was meant.
    func refuseStrangers(to vocabulary: Set<String>) throws(EntitlementError) {
        for member in object.members where !vocabulary.contains(member.name) {
            // The name itself is text of the token and stays out of the error.
            throw .claimUnsupported(path(of: "(an unknown member)"))
        }
    }

    private func path(of name: String) -> String {
        switch place {
        case .token: name
        case .right(let index): "rights[\(index)].\(name)"
        case .track(let index): "rights[\(index)].tracks.\(name)"
        }
    }
}
