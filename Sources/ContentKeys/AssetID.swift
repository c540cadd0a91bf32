package import ByteCoding

/// What a device asks a key for: the asset id of an SPC, 2 to 1,024 raw bytes (token URLs have more than 200).
///
/// Never text: published SPCs carry bytes that are not UTF-8, and Safari sends the 16 bytes of a key id.
/// `AssetReference` tells what an asset id may name.
package struct AssetID: Hashable, Sendable {
    /// The sizes that an asset id may have, in bytes.
    package static let sizes = 2...1024
    /// The sizes of an asset id that can be registered as an alias of a key, in bytes.
    package static let aliasSizes = 2...200

    package let bytes: [UInt8]

    /// Throws `sizeOutOfRange` for fewer than 2 or more than 1,024 bytes; any byte values are good.
    package init(bytes: [UInt8]) throws(IdentifierError) {
        guard Self.sizes.contains(bytes.count) else { throw .sizeOutOfRange(bytes.count) }
        self.bytes = bytes
    }

    /// An alias of a key. Throws `sizeOutOfRange` for fewer than 2 or more than 200 bytes.
    package init(alias bytes: [UInt8]) throws(IdentifierError) {
        guard Self.aliasSizes.contains(bytes.count) else { throw .sizeOutOfRange(bytes.count) }
        self.bytes = bytes
    }
}

/// One thing that an asset id may name.
///
/// A candidate never carries a key or an initialization vector: what an asset id says about those is not believed.
package enum AssetCandidate: Hashable, Sendable {
    /// An alias that is registered with exactly these bytes.
    case alias(AssetID)
    /// The content key with this id.
    case keyID(KeyID)
    /// The one live content key of this content.
    case contentID(ContentID)
}

/// An asset id, and everything that it may name in the order in which a store tries it.
///
/// First the exact bytes as an alias, then 16 bytes as a key id, then what the bytes say as text (`AssetText`): a key
/// id, a content id. So an exact name always wins over a name that had to be decoded, and a key over a content.
package struct AssetReference: Hashable, Sendable {
    package let assetID: AssetID
    /// No candidate twice. Empty only if an asset id is longer than an alias and is no text that names anything.
    package let candidates: [AssetCandidate]

    package init(_ assetID: AssetID) {
        self.assetID = assetID
        // A longer one names no alias, because none can be registered.
        var candidates: [AssetCandidate] = AssetID.aliasSizes.contains(assetID.bytes.count) ? [.alias(assetID)] : []
        if let keyID = KeyID(bytes: assetID.bytes) { candidates.append(.keyID(keyID)) }
        for candidate in AssetText(assetID).candidates where !candidates.contains(candidate) {
            candidates.append(candidate)
        }
        self.candidates = candidates
    }

    /// Whether this name, which stands beside an SPC, may mean the key that the asset id of the SPC has led to: if it
    /// names the key or its content, or something that the asset id names too, for example an alias.
    package func agrees(with key: ContentKeyAttributes, _ assetID: AssetID) -> Bool {
        if candidates.contains(.keyID(key.keyID)) || candidates.contains(.contentID(key.contentID)) { return true }
        return !Set(candidates).isDisjoint(with: AssetReference(assetID).candidates)
    }
}

/// What an asset id names in a store, for operators. A licence request learns less: a key, or none.
package enum AssetResolution: Equatable, Sendable {
    /// The key that licences carry, with its initialization vector, which is public.
    case live(ContentKeyAttributes, iv: Bytes16)
    /// A key that is given out no more.
    case withdrawn(KeyID)
    /// A content with several live keys.
    case ambiguous(ContentID)
    case unknown
}
