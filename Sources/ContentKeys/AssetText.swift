import ByteCoding

/// An asset id read as text: the forms that `skd:` URLs and players give it (packagers, section 4).
///
///     form                                     what it names
///     UUID, or 32 hexadecimal digits           the key; also with ":" and an IV of 32 digits, which is not read
///     22 or 24 characters of Base64            the key, if they are 16 bytes
///     any text, percent-decoded once           the content
///     host/path/NAME, host/;NAME, NAME/        the key or the content of the last part
///     …?cid=NAME, or only cid=NAME             the key or the content; also kid, KID, assetId, contentId
///     Base64 of {"KeyId": …, "ContentId": …}   the key, or the content
///
/// Each form may begin with `skd:` and slashes; the Base64 of a key id may itself begin with one. The text is UTF-16LE
/// if the size is even and every odd byte is 0, else UTF-8. Characters beyond ASCII are kept as they come: neither a
/// key id nor a content id has such characters, so the text names nothing.
struct AssetText {
    /// The whole text.
    private let whole: [UInt8]
    /// The text behind `skd:` and its slashes; the whole text when it does not begin so.
    private let identifier: [UInt8]
    /// `identifier` percent-decoded once; nil when that is not possible.
    private let decoded: [UInt8]?
    /// The text behind `skd://`, if a slash follows: the Base64 of a key id may begin with one.
    private let literalKeyID: [UInt8]?

    init(_ assetID: AssetID) {
        whole = Self.narrowed(assetID.bytes) ?? assetID.bytes
        identifier = Self.withoutScheme(whole)
        decoded = PercentEncoding.decode(identifier)
        let behindMark = Array(whole.dropFirst("skd://".utf8.count))
        literalKeyID = identifier.count < behindMark.count ? behindMark : nil
    }

    /// What the text may name, likeliest first.
    ///
    /// A content id is tried as it stands when the decoded text names nothing, so that an asset id which equals a
    /// content id finds it with any characters.
    var candidates: [AssetCandidate] {
        var candidates: [AssetCandidate] = []
        if let literalKeyID, let keyID = Self.keyID(literalKeyID) { candidates.append(.keyID(keyID)) }
        if let decoded { candidates += Self.named(by: decoded) }
        for literal in [identifier, whole] where literal != decoded {
            if let contentID = Self.contentID(literal) { candidates.append(.contentID(contentID)) }
        }
        return candidates + linkCandidates + objectCandidates
    }

    /// What a text names that is a whole link, as a playlist has it: `entitlement.example?cid=movie-1`,
    /// `host/path/KID`, `host/;KID`, or only its query.
    private var linkCandidates: [AssetCandidate] {
        let parts = identifier.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        var candidates: [AssetCandidate] = []
        if let query = parts.count > 1 ? parts[1] : parts.first, let value = Self.identifyingValue(inQuery: query) {
            candidates += Self.named(by: value)
        }
        let steps = parts[0].split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ";") }
        // One name alone counts if it has a slash at its end, as some players write a host.
        let isLink = steps.count > 1 || (parts.count == 1 && identifier.last == UInt8(ascii: "/"))
        if isLink, let last = steps.last, let value = PercentEncoding.decode(Array(last)) {
            candidates += Self.named(by: value)
        }
        return candidates
    }

    /// What a Base64 text names that is a JSON object with `KeyId` and `ContentId`, as AWS MediaPackage describes it
    /// (packagers, section 4). Its IV is not read.
    private var objectCandidates: [AssetCandidate] {
        guard let decoded, let text = Self.base64(decoded), text.first == UInt8(ascii: "{"),
            let object = (try? JSONReader.parse(text))?.object
        else { return [] }
        var candidates: [AssetCandidate] = []
        if let keyID = object["KeyId"]?.string.flatMap({ Self.keyID(Array($0.utf8)) }) {
            candidates.append(.keyID(keyID))
        }
        if let contentID = object["ContentId"]?.string.flatMap({ Self.contentID(Array($0.utf8)) }) {
            candidates.append(.contentID(contentID))
        }
        return candidates
    }

    /// What one name stands for: a key id in any of its spellings, then a content id.
    private static func named(by text: [UInt8]) -> [AssetCandidate] {
        var candidates: [AssetCandidate] = []
        if let keyID = keyID(text) { candidates.append(.keyID(keyID)) }
        if let contentID = contentID(text) { candidates.append(.contentID(contentID)) }
        return candidates
    }

    /// The value of the first pair whose name says that it is what is asked for, decoded once.
    private static func identifyingValue(inQuery query: ArraySlice<UInt8>) -> [UInt8]? {
        for pair in query.split(separator: UInt8(ascii: "&")) {
            let sides = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let isNamed = linkNames.contains { $0.utf8.elementsEqual(sides[0]) }
            if sides.count == 2, isNamed { return PercentEncoding.decode(Array(sides[1])) }
        }
        return nil
    }

    private static let linkNames = ["cid", "kid", "KID", "assetId", "contentId"]

    /// The low bytes of UTF-16LE code units below 256; nil when the bytes are not that.
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

    /// Removes `skd:` in any case (RFC 3986 section 3.1) and the slashes behind it.
    private static func withoutScheme(_ text: [UInt8]) -> [UInt8] {
        let scheme = Array("skd:".utf8)
        // Bit 5 is what tells the cases of a letter apart, and the colon has it already.
        guard text.count >= scheme.count, text[3] == UInt8(ascii: ":"), text.prefix(4).map({ $0 | 0x20 }) == scheme
        else { return text }
        return Array(text.dropFirst(scheme.count).drop { $0 == UInt8(ascii: "/") })
    }

    // Not being an identifier of one kind is an answer here, and no error.

    /// 32 hexadecimal digits or a UUID, also with `:` and the 32 digits of an IV behind it, which is not read; or
    /// Base64 of 16 bytes, as Shaka Packager writes it.
    private static func keyID(_ text: [UInt8]) -> KeyID? {
        let name = withoutIV(text)
        switch name.count {
        case 32, 36: return try? KeyID(parsing: String(decoding: name, as: UTF8.self))
        case 22, 24: return base64(name).flatMap { KeyID(bytes: $0) }
        default: return nil
        }
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

    /// The bytes of Base64 in either alphabet, padded or not.
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
