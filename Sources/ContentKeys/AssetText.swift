import ByteCoding

/// An asset id as text, in the forms that `skd:` URLs and players use (packagers, section 4).
///
///     form                                     what it names
///     UUID, or 32 hexadecimal digits           the key; also with ":" and an IV of 32 digits, which is not read
///     22 or 24 characters of Base64            the key, if they are 16 bytes
///     any text, percent-decoded once           the content
///     host/path/NAME, host/;NAME, NAME/        the key or the content of the last part
///     NAME?…                                   the same, if the query names nothing else
///     …KEY/TEXT, KEY:TEXT, KEY,TEXT, KEY#TEXT  the key; the last one in the path
///     …?cid=NAME, or only cid=NAME             the key or the content; also assetId, contentId
///     …?cid=NAME&track=LABEL                   the key of the track; also variantId, label, trackType; also period
///     …?kid=KEY, or only kid=KEY               the key; also keyId
///     Base64 of {"KeyId": …, "ContentId": …}   the key, or the content
///
/// Names in a query are compared without case, hyphens and underscores. Each form may begin with `skd:` and slashes.
/// The Base64 of a key id may itself begin with a slash. The text is UTF-16LE if the size is even and every odd byte is
/// 0; otherwise it is UTF-8. Characters beyond ASCII are not converted. No key id or content id has such characters, so
/// such a text names nothing.
///
/// The forms of the installation (`AssetForms`) are read first, and say what the path means.
///
/// An explicit key id binds. A text with one names only that key, a content with the same characters as the key id, or
/// a content with the same characters as the whole text. It does not name the content that stands beside the key id.
/// What a form reads as the name of a content is no explicit key id, unless it is the value of `kid=`.
struct AssetText {
    /// The whole text.
    private let whole: [UInt8]
    /// The text after `skd:` and its slashes; the whole text if it does not begin with `skd:`.
    private let identifier: [UInt8]
    /// `identifier` percent-decoded once; nil if it cannot be decoded.
    private let decoded: [UInt8]?
    /// The text after `skd://` if a slash follows, because the Base64 of a key id may begin with one; otherwise nil.
    private let literalKeyID: [UInt8]?

    init(_ assetID: AssetID) {
        whole = Self.narrowed(assetID.bytes) ?? assetID.bytes
        identifier = Self.withoutScheme(whole)
        decoded = PercentEncoding.decode(identifier)
        let behindMark = Array(whole.dropFirst("skd://".utf8.count))
        literalKeyID = identifier.count < behindMark.count ? behindMark : nil
    }

    /// The names that were read from a text.
    struct Names {
        /// What a form of the installation names.
        var formed: [AssetCandidate] = []
        /// Everything else that the text may name, the most likely first.
        var candidates: [AssetCandidate] = []
        /// What the text says explicitly; nil if it has no explicit key id.
        var binding: AssetReference.Binding?
    }

    /// Whether all bytes are characters of a name.
    var isPrintable: Bool { whole.allSatisfy { (0x21...0x7E).contains($0) } }

    /// Reads the text, by the forms of the installation first.
    ///
    /// The text is also tried as a content id without decoding. An asset id that equals a content id therefore finds
    /// the content even if it has percent signs.
    func names(_ forms: AssetForms) -> Names {
        let formed = forms.names(in: Self.withoutAnyScheme(whole))
        if let keyID = formed.keyID { return names(of: keyID, written: formed.keyText, beside: formed.contents) }
        var names = names(reading: formed.contents)
        guard let binding = names.binding else {
            names.formed = formed.contents
            return names
        }
        let contentIDs = formed.contents.compactMap(\.contentID)
        names.binding = AssetReference.Binding(keyIDs: binding.keyIDs, contentIDs: contentIDs + binding.contentIDs)
        // Beside an explicit key id, only a content with the same characters counts.
        let wholes = wholes(isBound: false).map(\.contentID)
        let place = names.candidates.firstIndex { $0.contentID != nil } ?? names.candidates.endIndex
        names.candidates.insert(contentsOf: formed.contents.filter { wholes.contains($0.contentID) }, at: place)
        return names
    }

    /// The names of a text in which a form has found a key id. A pair of the query with another key id contradicts it.
    private func names(of keyID: KeyID, written text: ContentID?, beside contents: [AssetCandidate]) -> Names {
        let query = hasQuery ? self.query : Part()
        // A content beside the key may have an id that looks like a key id.
        let named = query.keyIDs.filter(\.isNamed)
        let isAlone = named.allSatisfy { $0.keyID == keyID }
        let keyIDs = Self.distinct([keyID] + named.compactMap(\.keyID))
        let contentIDs = (contents + query.others).compactMap(\.contentID)
        return Names(
            formed: isAlone ? [.keyID(keyID)] : [],
            candidates: wholes(isBound: true) + (text.map { [.contentID($0)] } ?? []),
            binding: AssetReference.Binding(keyIDs: keyIDs, contentIDs: contentIDs))
    }

    /// The contents that have the same characters as the whole text.
    ///
    /// A step of a path may have encoded slashes, as Base64 has them. Decoded, the whole text is another path, and a
    /// content with that name must not stand beside an explicit key id.
    private func wholes(isBound: Bool) -> [AssetCandidate] {
        var texts: [[UInt8]] = [identifier, whole].filter { $0 != decoded }
        if let decoded, !isBound || Self.slashCount(decoded) == Self.slashCount(identifier) {
            texts.insert(decoded, at: 0)
        }
        return texts.compactMap { Self.contentID($0).map { .contentID($0) } }
    }

    private static func distinct(_ keyIDs: [KeyID]) -> [KeyID] {
        keyIDs.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// Reads the text without the forms of the installation, which have read these contents. If they have read any, a
    /// key id in one of several steps of the path does not bind.
    private func names(reading contents: [AssetCandidate]) -> Names {
        let pathIsRead = !contents.isEmpty
        var ownNames: [AssetCandidate] = []
        var explicit: [KeyID] = []
        // Base64 without padding may be the name of a content, so only the padded form is read behind three slashes.
        if let literalKeyID, let keyID = Self.explicitKeyID(literalKeyID) {
            ownNames.append(.keyID(keyID))
            explicit.append(keyID)
        }
        if let decoded {
            if let keyID = Self.keyID(decoded) { ownNames.append(.keyID(keyID)) }
            if let keyID = Self.explicitKeyID(decoded) { explicit.append(keyID) }
        }
        let query = pathIsRead && !hasQuery ? Part() : self.query
        let path = path(beside: query)
        let parts = pathIsRead ? [query, object] : [query, path, object]
        let formed = contents.map(\.contentID)
        let isContent = { (name: Part.KeyName) in
            !name.isNamed && name.candidates.contains { $0.contentID != nil && formed.contains($0.contentID) }
        }
        let keyNames = parts.flatMap(\.keyIDs).filter { !isContent($0) }
        explicit += keyNames.compactMap(\.keyID)
        guard !explicit.isEmpty || !keyNames.isEmpty else {
            let read = (query.keyIDs + (pathIsRead ? path.keyIDs : [])).flatMap(\.candidates)
            return Names(candidates: ownNames + wholes(isBound: false) + parts.flatMap(\.others) + read)
        }
        let distinct = Self.distinct(explicit)
        let contents = parts.flatMap(\.others).compactMap(\.contentID)
        let binding = AssetReference.Binding(keyIDs: distinct, contentIDs: contents)
        // Two key ids that differ name no key, because the license can be for one key only.
        guard distinct.count <= 1 else { return Names(candidates: wholes(isBound: true), binding: binding) }
        let candidates = ownNames + wholes(isBound: true) + keyNames.flatMap(\.candidates)
        return Names(candidates: candidates, binding: binding)
    }

    /// The key id or content id that the whole text is.
    var ownNames: [AssetCandidate] { decoded.map(Self.named) ?? [] }

    /// The names in one part of a text.
    fileprivate struct Part {
        /// An explicit key id, with everything that its text may name.
        struct KeyName {
            /// Nil if the text is not a key id, for example in `kid=movie-1`.
            let keyID: KeyID?
            var candidates: [AssetCandidate]
            /// Whether the name of its pair says that it is a key id.
            var isNamed = false
        }

        var keyIDs: [KeyName] = []
        /// What the part names without an explicit key id.
        var others: [AssetCandidate] = []
        /// The track and the period of a query.
        var label: TrackLabel?
        var periodIndex: UInt32?

        /// Whether a pair has a name that is read, whatever its value.
        var hasName = false

        var namesOnlyTrack: Bool { hasTrack && keyIDs.isEmpty && others.isEmpty }

        var hasTrack: Bool { label != nil || periodIndex != nil }

        /// Gives the contents of this part the track of a query. The id of a content may look like a key id.
        mutating func add(trackOf query: Part) {
            guard query.hasTrack else { return }
            let withTrack = { (name: AssetCandidate) -> AssetCandidate in
                guard case .contentID(let contentID) = name else { return name }
                return .track(NamedTrack(contentID, label: query.label, periodIndex: query.periodIndex))
            }
            others = others.map(withTrack)
            for index in keyIDs.indices where !keyIDs[index].isNamed {
                keyIDs[index].candidates = keyIDs[index].candidates.map(withTrack)
            }
        }
    }

    /// Whether the text has a query, so that a form has not read it as a path.
    private var hasQuery: Bool { identifier.contains(UInt8(ascii: "?")) }

    /// The names in the query of a link, such as `entitlement.example?cid=movie-1`, or in a text that is only a query.
    private var query: Part {
        var part = Part()
        let sides = identifier.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let query = sides.last else { return part }
        var contents: [[UInt8]?] = []
        for pair in query.split(separator: UInt8(ascii: "&")) {
            let sides = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = PairName(sides[0]) else { continue }
            part.hasName = true
            guard sides.count == 2, !sides[1].isEmpty else { continue }
            let value = PercentEncoding.decode(Array(sides[1]))
            switch name {
            case .key:
                let keyID = value.flatMap(Self.keyID) ?? Self.keyID(before: sides[1])
                let contentID = value.flatMap(Self.contentID)
                part.keyIDs.append(
                    Part.KeyName(
                        keyID: keyID,
                        candidates: (keyID.map { [.keyID($0)] } ?? []) + (contentID.map { [.contentID($0)] } ?? []),
                        isNamed: true))
            case .content: contents.append(value)
            case .track:
                part.label = part.label ?? value.flatMap { try? TrackLabel(String(decoding: $0, as: UTF8.self)) }
            case .period:
                part.periodIndex = part.periodIndex ?? value.flatMap { UInt32(String(decoding: $0, as: UTF8.self)) }
            }
        }
        // Of several contents the first one is meant. A key id counts in any place, unless another pair names the key.
        let hasKeyID = !part.keyIDs.isEmpty
        for (index, value) in contents.enumerated() {
            guard let value else { continue }
            if hasKeyID {
                if index == 0 { part.others += Self.contentID(value).map { [.contentID($0)] } ?? [] }
            } else if index == 0 || Self.explicitKeyID(value) != nil {
                part.add(value)
            }
        }
        part.add(trackOf: part)
        return part
    }

    /// The names of pairs in a query, without case, hyphens and underscores.
    private enum PairName {
        case key
        /// A key or a content.
        case content
        case track
        case period

        init?(_ text: ArraySlice<UInt8>) {
            guard text.count <= 16 else { return nil }
            let letters = text.lazy.map(ASCII.lowercased).filter { !ASCII.has("-_", $0) }
            switch String(decoding: Array(letters), as: UTF8.self) {
            case "kid", "keyid": self = .key
            case "cid", "assetid", "contentid": self = .content
            case "track", "tracktype", "label", "variantid": self = .track
            case "period", "periodindex": self = .period
            default: return nil
            }
        }
    }

    /// The names in a path: in its last step, such as `host/path/KID`, `host/;KID` or `NAME/`, or else the last key id
    /// in any step. A key id in an earlier step does not count besides one in the query, because it may be the name of
    /// a customer.
    private func path(beside query: Part) -> Part {
        var part = Part()
        let sides = identifier.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let steps = sides.first?.split(whereSeparator: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ";") }),
            let last = steps.last, let value = PercentEncoding.decode(Array(last))
        else { return part }
        // A single name counts only if a slash follows, or if a query follows that names nothing, because some players
        // write a host in this form. A key id cannot be the host of a server.
        let isLink = steps.count > 1 || (sides.count == 1 && identifier.last == UInt8(ascii: "/"))
        let isKeyID = Self.explicitKeyID(value) != nil
        let keyID = isKeyID || !query.keyIDs.isEmpty ? nil : steps.reversed().lazy.compactMap(Self.keyID(inStep:)).first
        if let keyID {
            part.keyIDs.append(Part.KeyName(keyID: keyID, candidates: [.keyID(keyID)]))
        } else if isLink || (sides.count > 1 && (isKeyID || !query.hasName || query.namesOnlyTrack)) {
            part.add(value)
        }
        // A content of the query is meant before a step of the path.
        if query.others.isEmpty { part.add(trackOf: query) }
        return part
    }

    /// Reads a step of a path that is a key id, or begins with one.
    private static func keyID(inStep step: ArraySlice<UInt8>) -> KeyID? {
        // Most steps are shorter than a key id, and need no decoding.
        guard step.count >= 24 else { return nil }
        return PercentEncoding.decode(Array(step)).flatMap(explicitKeyID) ?? keyID(before: step)
    }

    /// Reads a key id with other text after it. Encoded characters do not end a key id.
    private static func keyID(before text: ArraySlice<UInt8>) -> KeyID? {
        guard let end = text.firstIndex(where: { ASCII.has(":,#/;&", $0) }) else { return nil }
        return PercentEncoding.decode(Array(text[..<end])).flatMap(explicitKeyID)
    }

    /// The names in Base64 of a JSON object with `KeyId` and `ContentId`, the form of AWS MediaPackage (packagers,
    /// section 4). Its IV is not read.
    private var object: Part {
        var part = Part()
        guard let decoded, let object = Self.object(decoded) else { return part }
        if let name = object["KeyId"]?.string, !name.isEmpty {
            let keyID = Self.keyID(Array(name.utf8))
            part.keyIDs.append(Part.KeyName(keyID: keyID, candidates: keyID.map { [.keyID($0)] } ?? []))
        }
        if let contentID = object["ContentId"]?.string.flatMap({ Self.contentID(Array($0.utf8)) }) {
            part.others.append(.contentID(contentID))
        }
        return part
    }

    private static func object(_ text: [UInt8]) -> JSONObject? {
        guard let text = base64(text), text.first == UInt8(ascii: "{") else { return nil }
        return (try? JSONReader.parse(text))?.object
    }

    /// Reads the key id in the Base64 of such an object.
    static func objectKeyID(_ text: [UInt8]) -> KeyID? {
        object(text)?["KeyId"]?.string.flatMap { keyID(Array($0.utf8)) }
    }

    /// Returns the candidates of one name: a key id in any of its spellings, then a content id.
    fileprivate static func named(by text: [UInt8]) -> [AssetCandidate] {
        var candidates: [AssetCandidate] = []
        if let keyID = keyID(text) { candidates.append(.keyID(keyID)) }
        if let contentID = contentID(text) { candidates.append(.contentID(contentID)) }
        return candidates
    }

    private static func slashCount(_ text: [UInt8]) -> Int { text.count { $0 == UInt8(ascii: "/") } }

    /// Returns the low bytes of UTF-16LE code units below 256; nil if the bytes are something else.
    private static func narrowed(_ bytes: [UInt8]) -> [UInt8]? {
        guard bytes.count.isMultiple(of: 2) else { return nil }
        var low: [UInt8] = []
        low.reserveCapacity(bytes.count / 2)
        for offset in stride(from: 0, to: bytes.count, by: 2) {
            guard bytes[offset + 1] == 0 else { return nil }
            low.append(bytes[offset])
        }
        return low
    }

    /// Returns the text after a scheme in any case (RFC 3986 section 3.1); nil if the text has another one.
    private static func behind(_ scheme: StaticString, _ text: [UInt8]) -> ArraySlice<UInt8>? {
        let size = scheme.utf8CodeUnitCount
        guard scheme.withUTF8Buffer({ unsafe ASCII.equal(text.prefix(size), $0) }) else { return nil }
        return text.dropFirst(size)
    }

    /// Removes `skd:`, `https:` or `http:`, and two slashes after it. A third one may begin the Base64 of a key id.
    static func withoutAnyScheme(_ text: [UInt8]) -> [UInt8] {
        guard let rest = behind("skd:", text) ?? behind("https:", text) ?? behind("http:", text) else { return text }
        return Array(rest.dropFirst(rest.prefix(2).prefix { $0 == UInt8(ascii: "/") }.count))
    }

    /// Removes `skd:` and the slashes after it.
    private static func withoutScheme(_ text: [UInt8]) -> [UInt8] {
        behind("skd:", text).map { Array($0.drop { $0 == UInt8(ascii: "/") }) } ?? text
    }

    // If a text is not an identifier of one kind, the result is nil and not an error.

    /// Reads 32 hexadecimal digits or a UUID, optionally followed by `:` and an IV of 32 digits, which is not read.
    /// Also reads Base64 of 16 bytes, as Shaka Packager writes it.
    static func keyID(_ text: [UInt8]) -> KeyID? {
        let name = withoutIV(text)
        switch name.count {
        case 32, 36: return try? KeyID(parsing: String(decoding: name, as: UTF8.self))
        case 22, 24: return base64(name).flatMap { KeyID(bytes: $0) }
        default: return nil
        }
    }

    /// Reads a key id in a form that is not an ordinary name of a content: all forms but Base64 without padding.
    fileprivate static func explicitKeyID(_ text: [UInt8]) -> KeyID? {
        withoutIV(text).count == 22 ? nil : keyID(text)
    }

    private static func withoutIV(_ text: [UInt8]) -> [UInt8] {
        let suffix = text.suffix(33)
        guard text.count > 33, suffix.first == UInt8(ascii: ":"),
            suffix.dropFirst().allSatisfy(Self.isHexadecimal)
        else { return text }
        return Array(text.dropLast(33))
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    /// Returns the bytes of Base64 in either alphabet, with or without padding.
    private static func base64(_ text: [UInt8]) -> [UInt8]? {
        var text = text.map { byte in
            switch byte {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            default: byte
            }
        }
        while !text.count.isMultiple(of: 4) { text.append(UInt8(ascii: "=")) }
        return try? Base64.decode(text)
    }

    private static func contentID(_ text: [UInt8]) -> ContentID? {
        try? ContentID(bytes: text)
    }
}

extension AssetText.Part {
    /// Adds a value that may be a key id or the name of a content.
    fileprivate mutating func add(_ value: [UInt8]) {
        let candidates = AssetText.named(by: value)
        if let keyID = AssetText.explicitKeyID(value) {
            keyIDs.append(KeyName(keyID: keyID, candidates: candidates))
        } else {
            others += candidates
        }
    }
}
