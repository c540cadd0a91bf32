import ByteCoding

/// An asset id read as text.
///
/// UTF-16LE when the size is even and every odd byte is 0, else UTF-8. Characters beyond ASCII are kept as they come:
/// neither a key id nor a content id has any, so such a text names nothing.
struct AssetText {
    /// The whole text.
    private let whole: [UInt8]
    /// The text behind `skd:` and its slashes; the whole text when it does not begin so.
    private let identifier: [UInt8]
    /// `identifier` percent-decoded once; nil when that is not possible.
    private let decoded: [UInt8]?

    init(_ assetID: AssetID) {
        whole = Self.narrowed(assetID.bytes) ?? assetID.bytes
        identifier = Self.withoutScheme(whole)
        decoded = PercentEncoding.decode(identifier)
    }

    /// What the text may name, likeliest first: the forms that `skd:` URLs take in the wild each add theirs here.
    ///
    /// A content id is tried as it stands when the decoded text names nothing, so that an asset id which equals a
    /// content id finds it, whatever characters it has.
    var candidates: [AssetCandidate] {
        var candidates: [AssetCandidate] = []
        if let decoded {
            if let keyID = Self.keyID(decoded) { candidates.append(.keyID(keyID)) }
            if let contentID = Self.contentID(decoded) { candidates.append(.contentID(contentID)) }
        }
        for literal in [identifier, whole] where literal != decoded {
            if let contentID = Self.contentID(literal) { candidates.append(.contentID(contentID)) }
        }
        return candidates + linkCandidates
    }

    /// What a text names that is a whole link, as a playlist has it: `entitlement.example?cid=movie-1`,
    /// `host/path/KID`, `host/;KID`.
    private var linkCandidates: [AssetCandidate] {
        let parts = identifier.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
        var candidates: [AssetCandidate] = []
        if parts.count > 1, let value = Self.identifyingValue(inQuery: parts[1]) {
            if let keyID = Self.keyID(value) { candidates.append(.keyID(keyID)) }
            if let contentID = Self.contentID(value) { candidates.append(.contentID(contentID)) }
        }
        let steps = parts[0].split { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: ";") }
        if steps.count > 1, let last = steps.last, let keyID = Self.keyID(Array(last)) {
            candidates.append(.keyID(keyID))
        }
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

    private static let linkNames = ["cid", "kid", "assetId", "contentId"]

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

    private static func keyID(_ text: [UInt8]) -> KeyID? {
        guard text.count == 36 || text.count == 32 else { return nil }
        return try? KeyID(parsing: String(decoding: text, as: UTF8.self))
    }

    private static func contentID(_ text: [UInt8]) -> ContentID? {
        try? ContentID(bytes: text)
    }
}
