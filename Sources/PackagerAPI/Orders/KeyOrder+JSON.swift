import ByteCoding
package import ContentKeys
import KeyCrypto

/// A fault in an order in JSON. It names the member and never repeats its value, which may be a key.
package struct KeyOrderFault: Error, Equatable, Sendable, CustomStringConvertible {
    /// The path to the member, such as `tracks[1].iv`; nil if the fault is not about one known member.
    package let member: String?
    /// What is wrong, without a full stop.
    package let text: String

    init(_ member: String?, _ text: String) {
        self.member = member
        self.text = text
    }

    package var description: String { member.map { "\($0) \(text)" } ?? text }
}

extension KeyOrder {
    /// The size of the largest order, in bytes.
    package static let jsonSizeMaximum = 65_536

    private static let contentMembers = ["contentId", "tracks", "scheme", "period"]

    /// Reads an order:
    ///
    ///     { "contentId": "movie-1", "scheme": "cbcs", "period": 7,
    ///       "tracks": ["VIDEO", { "track": "4K", "contentType": "uhd", "kid": UUID, "iv": HEX, "key": HEX }] }
    ///
    /// `scheme` is `cbcs` by default. A track that is a string has one of SPEKE's names; `ALL` stands for every track.
    /// Any other name needs `contentType`. `hdcp` and `securityLevel` are the least that the key demands. `iv` and
    /// `key` have 32 hexadecimal digits, and `key` needs `iv` beside it.
    package init(parsing body: [UInt8]) throws(KeyOrderFault) {
        // Keys are taken out first, so that the JSON parser makes no strings of them.
        var hidden = HiddenKeys(in: body)
        let root: JSONNode
        do throws(JSONError) {
            root = try JSONReader.parse(
                hidden.bytes, limits: JSONLimits(sizeMaximum: Self.jsonSizeMaximum, depthMaximum: 4))
        } catch {
            throw KeyOrderFault(nil, "The body is not JSON: \(error)")
        }
        guard let object = root.object else { throw KeyOrderFault(nil, "The body is not a JSON object") }
        try object.refuseOthers(than: Self.contentMembers, at: "")
        guard let text = object["contentId"]?.string, let contentID = try? ContentID(text) else {
            throw KeyOrderFault("contentId", "must be 1 to 200 printable ASCII characters without space")
        }
        let scheme: EncryptionScheme = try object.word("scheme", at: "scheme") ?? .cbcs
        let period = try object.period()
        guard let tracks = object["tracks"]?.array, (1...Self.keyCountMaximum).contains(tracks.count) else {
            throw KeyOrderFault("tracks", "must be a list of 1 to \(Self.keyCountMaximum) tracks")
        }
        var keys: [Key] = []
        for (index, node) in tracks.enumerated() {
            var key = try Key(node, at: "tracks[\(index)]", &hidden)
            key.scheme = scheme
            key.periodIndex = period
            keys.append(key)
        }
        guard hidden.isEmpty else { throw KeyOrderFault("tracks", "must have each key as a member of its track") }
        try Self.requireDistinct(keys)
        self.init(contentID: contentID, keys: keys)
    }

    private static func requireDistinct(_ keys: [Key]) throws(KeyOrderFault) {
        var keyIDs: Set<KeyID> = []
        var labels: Set<TrackLabel?> = []
        let labelsWithKeyID = Set(keys.filter { $0.keyID != nil }.map(\.track.label))
        for (index, key) in keys.enumerated() {
            if let keyID = key.keyID, !keyIDs.insert(keyID).inserted {
                throw KeyOrderFault("tracks[\(index)].kid", "is the kid of another track too")
            }
            let label = key.track.label
            // An order that names a track with and without a kid would say nothing definite about the second key.
            if key.keyID == nil, labelsWithKeyID.contains(label) || !labels.insert(label).inserted {
                throw KeyOrderFault("tracks[\(index)]", "names the same track as another entry; give each a kid")
            }
        }
    }

    /// Whether the order contains the bytes of every key.
    package var importsAll: Bool { keys.allSatisfy { $0.key != nil } }
}

extension KeyOrder.Key {
    private static let members = ["track", "contentType", "kid", "iv", "key", "hdcp", "securityLevel"]

    fileprivate init(_ node: JSONNode, at place: String, _ hidden: inout HiddenKeys) throws(KeyOrderFault) {
        if let name = node.string {
            self.init(track: try Track(name, nil, at: place))
            return
        }
        guard let object = node.object else { throw KeyOrderFault(place, "must be a text or an object") }
        try object.refuseOthers(than: Self.members, at: place + ".")
        let type: ContentType? = try object.word("contentType", at: "\(place).contentType")
        guard let name = object["track"]?.string else { throw KeyOrderFault("\(place).track", "must be a text") }
        self.init(track: try Track(name, type, at: place))
        if let node = object.given("kid") {
            guard let keyID = node.string.flatMap({ try? KeyID(parsing: $0) }) else {
                throw KeyOrderFault("\(place).kid", "must be a UUID or 32 hexadecimal digits")
            }
            self.keyID = keyID
        }
        if let node = object.given("iv") {
            guard let digits = node.string, digits.utf8.count == 32, let bytes = try? Hexadecimal.decode(digits),
                let iv = Bytes16(bytes)
            else { throw KeyOrderFault("\(place).iv", "must be 32 hexadecimal digits") }
            self.iv = iv
        }
        if let node = object.given("key") {
            guard node.string != nil, let key = hidden.next() else {
                throw KeyOrderFault("\(place).key", "must be 32 hexadecimal digits")
            }
            guard iv != nil else { throw KeyOrderFault("\(place).iv", "is needed with key") }
            self.key = key
        }
        leastHDCP = try object.word("hdcp", at: "\(place).hdcp")
        leastSecurityLevel = try object.word("securityLevel", at: "\(place).securityLevel")
    }
}

extension Track {
    /// Makes a track from a name of SPEKE or of this server, or from the packager's own name and a content type.
    package init(ordered name: String, _ type: ContentType?) throws(TrackError) {
        let label = name == UsageRuleName.allTracks ? nil : try? TrackLabel(name)
        guard label != nil || name == UsageRuleName.allTracks else { throw .contentTypeMissing }
        try self.init(label: label, contentType: type ?? label?.contentType ?? UsageRuleName.contentType(of: name))
    }

    fileprivate init(_ name: String, _ type: ContentType?, at place: String) throws(KeyOrderFault) {
        guard (try? TrackLabel(name)) != nil else {
            throw KeyOrderFault(place, "must have 1 to 64 printable ASCII characters without space as its track")
        }
        do throws(TrackError) {
            try self.init(ordered: name, type)
        } catch {
            switch error {
            case .contentTypeMissing: throw KeyOrderFault("\(place).contentType", "is needed for this track")
            case .contentTypeContradicted(let meant):
                throw KeyOrderFault("\(place).contentType", "must be \(meant.rawValue), as the name of the track says")
            }
        }
    }
}

extension JSONObject {
    fileprivate func refuseOthers(than names: [String], at place: String) throws(KeyOrderFault) {
        for member in members where !names.contains(member.name) {
            throw KeyOrderFault(
                nil,
                "There is an unknown member at \(place.isEmpty ? "the top" : String(place.dropLast())); it takes "
                    + names.joined(separator: ", "))
        }
    }

    /// The member with this name; nil if it is missing or null.
    fileprivate func given(_ name: String) -> JSONNode? {
        self[name].flatMap { $0.isNull ? nil : $0 }
    }

    fileprivate func word<Word: RawRepresentable & CaseIterable>(
        _ name: String, at place: String
    ) throws(KeyOrderFault) -> Word? where Word.RawValue == String {
        guard let node = given(name) else { return nil }
        guard let word = node.string.flatMap({ Word(rawValue: $0) }) else {
            throw KeyOrderFault(place, "must be one of " + Word.allCases.map(\.rawValue).joined(separator: ", "))
        }
        return word
    }

    fileprivate func period() throws(KeyOrderFault) -> UInt32? {
        guard let node = given("period") else { return nil }
        guard let period = node.number?.signed.flatMap({ UInt32(exactly: $0) }) else {
            throw KeyOrderFault("period", "must be a whole number from 0 to \(UInt32.max)")
        }
        return period
    }
}

/// The keys of an order in JSON, in the order of the text. They are removed from the body before the JSON parser reads
/// it.
private struct HiddenKeys {
    /// The body with zeros in place of each key.
    private(set) var bytes: [UInt8]
    private var keys: [ContentKey?]

    init(in body: [UInt8]) {
        bytes = body
        keys = []
        for member in JSONMemberScanner.members(in: body, named: ["key"]) {
            keys.append(Self.key(in: body[member.value]))
            for place in member.value { bytes[place] = UInt8(ascii: "0") }
        }
        keys.reverse()
    }

    /// Nil for digits that are no key.
    private static func key(in digits: ArraySlice<UInt8>) -> ContentKey? {
        guard var decoded = try? Hexadecimal.decode(Array(digits)) else { return nil }
        defer { decoded.wipe() }
        // A secret has at least one byte.
        return decoded.isEmpty ? nil : try? ContentKey(SecretBytes(copying: decoded))
    }

    var isEmpty: Bool { keys.isEmpty }

    /// Returns the key of the next member `key`. Returns nil if its value is not a key, or if its name was written with
    /// escapes.
    mutating func next() -> ContentKey? { keys.popLast() ?? nil }
}
