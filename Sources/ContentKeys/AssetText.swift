import ByteCoding

/// An asset id as text, in the forms that `skd:` URLs and players use (packagers, section 4).
///
///     form                                     what it names
///     UUID, or 32 hexadecimal digits           the key; also with ":" and an IV of 32 digits, which is not read
///     22 or 24 characters of Base64            the key, if they are 16 bytes
///     any text, percent-decoded once           the content
///     host/path/NAME, host/;NAME, NAME/        the key or the content of the last part
///     …?cid=NAME, or only cid=NAME             the key or the content; also assetId, contentId, in any case
///     …?kid=KEY, or only kid=KEY               the key; also keyid, key_id, in any case
///     Base64 of {"KeyId": …, "ContentId": …}   the key, or the content
///
/// Each form may begin with `skd:` and slashes. The Base64 of a key id may itself begin with a slash. The text is
/// UTF-16LE if the size is even and every odd byte is 0; otherwise it is UTF-8. Characters beyond ASCII are not
/// converted. No key id or content id has such characters, so such a text names nothing.
///
/// An explicit key id binds. A text with one names only that key, a content with the same characters as the key id, or
/// a content with the same characters as the whole text. It does not name the content that stands beside the key id.
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
        /// Everything that the text may name, the most likely first.
        var candidates: [AssetCandidate] = []
        /// What the text says explicitly; nil if it has no explicit key id.
        var binding: AssetReference.Binding?
    }

    /// Whether all bytes are characters of a name.
    var isPrintable: Bool { whole.allSatisfy { (0x21...0x7E).contains($0) } }

    /// Reads the text.
    ///
    /// The text is also tried as a content id without decoding. An asset id that equals a content id therefore finds
    /// the content even if it has percent signs.
    var names: Names {
        var ownNames: [AssetCandidate] = []
        var explicit: [KeyID] = []
        // Base64 without padding may be the name of a content, so only the padded form is read behind three slashes.
        if let literalKeyID, let keyID = Self.explicitKeyID(literalKeyID) {
            ownNames.append(.keyID(keyID))
            explicit.append(keyID)
        }
        if let decoded {
            ownNames += Self.named(by: decoded)
            if let keyID = Self.explicitKeyID(decoded) { explicit.append(keyID) }
        }
        for literal in [identifier, whole] where literal != decoded {
            if let contentID = Self.contentID(literal) { ownNames.append(.contentID(contentID)) }
        }
        let parts = [query, path, object]
        let keyNames = parts.flatMap(\.keyIDs)
        explicit += keyNames.compactMap(\.keyID)
        guard !explicit.isEmpty || !keyNames.isEmpty else {
            return Names(candidates: ownNames + parts.flatMap(\.others))
        }
        // A step of a path may have encoded slashes, as Base64 has them. Decoded, the whole text is another path, and a
        // content with that name must not stand before the key.
        if let decoded, Self.slashCount(decoded) > Self.slashCount(identifier) {
            let other = Self.contentID(decoded)
            ownNames.removeAll { if case .contentID(let contentID) = $0 { contentID == other } else { false } }
        }
        let distinct = explicit.reduce(into: [KeyID]()) { if !$0.contains($1) { $0.append($1) } }
        let contents = parts.flatMap(\.others).compactMap { candidate in
            if case .contentID(let contentID) = candidate { contentID } else { nil }
        }
        let binding = AssetReference.Binding(keyIDs: distinct, contentIDs: contents)
        // Two key ids that differ name no key, because the licence can be for one key only.
        guard distinct.count <= 1 else {
            let wholes = ownNames.filter { if case .contentID = $0 { true } else { false } }
            return Names(candidates: wholes, binding: binding)
        }
        return Names(candidates: ownNames + keyNames.flatMap(\.candidates), binding: binding)
    }

    /// The key id or content id that the whole text is.
    var ownNames: [AssetCandidate] { decoded.map(Self.named) ?? [] }

    /// The names in one part of a text.
    fileprivate struct Part {
        /// An explicit key id, with everything that its text may name.
        struct KeyName {
            /// Nil if the text is not a key id, for example in `kid=movie-1`.
            let keyID: KeyID?
            let candidates: [AssetCandidate]
        }

        var keyIDs: [KeyName] = []
        /// What the part names without an explicit key id.
        var others: [AssetCandidate] = []
    }

    /// The names in the query of a link, such as `entitlement.example?cid=movie-1`, or in a text that is only a query.
    private var query: Part {
        var part = Part()
        let sides = identifier.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let query = sides.last else { return part }
        var isNamed = false
        for pair in query.split(separator: UInt8(ascii: "&")) {
            let sides = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard sides.count == 2, !sides[1].isEmpty else { continue }
            let value = PercentEncoding.decode(Array(sides[1]))
            if Self.isName(sides[0], in: Self.keyNames) {
                part.keyIDs.append(
                    Part.KeyName(
                        keyID: value.flatMap(Self.keyID), candidates: value.map { Self.named(by: $0) } ?? []))
            } else if Self.isName(sides[0], in: Self.contentNames) {
                // Of several contents the first one is meant, but a key id always counts.
                let counts = !isNamed || (value.flatMap(Self.explicitKeyID) != nil)
                isNamed = true
                if let value, counts { part.add(value) }
            }
        }
        return part
    }

    /// The names in the last part of a path, such as `host/path/KID`, `host/;KID` or `NAME/`.
    private var path: Part {
        var part = Part()
        let sides = identifier.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        guard let steps = sides.first?.split(whereSeparator: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ";") }),
            let last = steps.last, let value = PercentEncoding.decode(Array(last))
        else { return part }
        // A single name counts as a link only if a slash follows, because some players write a host in this form. A
        // key id cannot be the host of a server.
        let isLink = steps.count > 1 || (sides.count == 1 && identifier.last == UInt8(ascii: "/"))
        if isLink || (sides.count > 1 && Self.explicitKeyID(value) != nil) { part.add(value) }
        return part
    }

    /// The names in Base64 of a JSON object with `KeyId` and `ContentId`, the form of AWS MediaPackage (packagers,
    /// section 4). Its IV is not read.
    private var object: Part {
        var part = Part()
        guard let decoded, let text = Self.base64(decoded), text.first == UInt8(ascii: "{"),
            let object = (try? JSONReader.parse(text))?.object
        else { return part }
        if let name = object["KeyId"]?.string, !name.isEmpty {
            let keyID = Self.keyID(Array(name.utf8))
            part.keyIDs.append(Part.KeyName(keyID: keyID, candidates: keyID.map { [.keyID($0)] } ?? []))
        }
        if let contentID = object["ContentId"]?.string.flatMap({ Self.contentID(Array($0.utf8)) }) {
            part.others.append(.contentID(contentID))
        }
        return part
    }

    /// Returns the candidates of one name: a key id in any of its spellings, then a content id.
    fileprivate static func named(by text: [UInt8]) -> [AssetCandidate] {
        var candidates: [AssetCandidate] = []
        if let keyID = keyID(text) { candidates.append(.keyID(keyID)) }
        if let contentID = contentID(text) { candidates.append(.contentID(contentID)) }
        return candidates
    }

    /// The names of pairs whose value is a key id, in lower case.
    private static let keyNames = ["kid", "keyid", "key_id"]
    /// The names of pairs whose value is a key or a content, in lower case.
    private static let contentNames = ["cid", "assetid", "contentid"]

    private static func isName(_ text: ArraySlice<UInt8>, in names: [String]) -> Bool {
        names.contains { name in
            name.utf8.count == text.count && zip(name.utf8, text).allSatisfy { $0 == lowercased($1) }
        }
    }

    private static func slashCount(_ text: [UInt8]) -> Int { text.count { $0 == UInt8(ascii: "/") } }

    private static func lowercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

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

    /// Removes `skd:` in any case (RFC 3986 section 3.1) and the slashes after it.
    private static func withoutScheme(_ text: [UInt8]) -> [UInt8] {
        let scheme = Array("skd:".utf8)
        // Only bit 5 differs between the cases of a letter. In a colon it is set already.
        guard text.count >= scheme.count, text[3] == UInt8(ascii: ":"), text.prefix(4).map({ $0 | 0x20 }) == scheme
        else { return text }
        return Array(text.dropFirst(scheme.count).drop { $0 == UInt8(ascii: "/") })
    }

    // If a text is not an identifier of one kind, the result is nil and not an error.

    /// Reads 32 hexadecimal digits or a UUID, optionally followed by `:` and an IV of 32 digits, which is not read.
    /// Also reads Base64 of 16 bytes, as Shaka Packager writes it.
    private static func keyID(_ text: [UInt8]) -> KeyID? {
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
