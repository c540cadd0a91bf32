import ByteCoding

/// An asset id as text, in the forms that `skd:` URLs and players use (packagers, section 4).
///
///     form                                     what it names
///     UUID, or 32 hexadecimal digits           the key; also with ":" and an IV of 32 digits, which is not read
///     22 or 24 characters of Base64            the key, if they are 16 bytes
///     any text, percent-decoded once           the content
///     host/path/NAME, host/;NAME, NAME/        the key or the content of the last part
///     …?cid=NAME, or only cid=NAME             the key or the content; also kid, KID, assetId, contentId
///     Base64 of {"KeyId": …, "ContentId": …}   the key, or the content
///
/// Each form may begin with `skd:` and slashes. The Base64 of a key id may itself begin with a slash. The text is
/// UTF-16LE if the size is even and every odd byte is 0; otherwise it is UTF-8. Characters beyond ASCII are not
/// converted. No key id or content id has such characters, so such a text names nothing.
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

    /// Everything that the text may name, the most likely first.
    ///
    /// The text is also tried as a content id without decoding. An asset id that equals a content id therefore finds
    /// the content even if it has percent signs.
    var candidates: [AssetCandidate] {
        var candidates: [AssetCandidate] = []
        if let literalKeyID, let keyID = Self.keyID(literalKeyID) { candidates.append(.keyID(keyID)) }
        if let decoded { candidates += Self.named(by: decoded) }
        for literal in [identifier, whole] where literal != decoded {
            if let contentID = Self.contentID(literal) { candidates.append(.contentID(contentID)) }
        }
        return candidates + linkCandidates + objectCandidates
    }

    /// The names in a text that is a whole link of a playlist: `entitlement.example?cid=movie-1`, `host/path/KID`,
    /// `host/;KID`, or only its query.
    private var linkCandidates: [AssetCandidate] {
        let parts = identifier.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        var candidates: [AssetCandidate] = []
        if let query = parts.count > 1 ? parts[1] : parts.first, let value = Self.identifyingValue(inQuery: query) {
            candidates += Self.named(by: value)
        }
        let steps = parts[0].split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ";") }
        // A single name counts as a link only if a slash follows, because some players write a host in this form.
        let isLink = steps.count > 1 || (parts.count == 1 && identifier.last == UInt8(ascii: "/"))
        if isLink, let last = steps.last, let value = PercentEncoding.decode(Array(last)) {
            candidates += Self.named(by: value)
        }
        return candidates
    }

    /// The names in Base64 of a JSON object with `KeyId` and `ContentId`, the form of AWS MediaPackage (packagers,
    /// section 4). Its IV is not read.
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

    /// Returns the candidates of one name: a key id in any of its spellings, then a content id.
    private static func named(by text: [UInt8]) -> [AssetCandidate] {
        var candidates: [AssetCandidate] = []
        if let keyID = keyID(text) { candidates.append(.keyID(keyID)) }
        if let contentID = contentID(text) { candidates.append(.contentID(contentID)) }
        return candidates
    }

    /// Returns the decoded value of the first pair whose name is one of `linkNames`; nil if there is none.
    private static func identifyingValue(inQuery query: ArraySlice<UInt8>) -> [UInt8]? {
        for pair in query.split(separator: UInt8(ascii: "&")) {
            let sides = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let isNamed = linkNames.contains { $0.utf8.elementsEqual(sides[0]) }
            if sides.count == 2, isNamed { return PercentEncoding.decode(Array(sides[1])) }
        }
        return nil
    }

    private static let linkNames = ["cid", "kid", "KID", "assetId", "contentId"]

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
