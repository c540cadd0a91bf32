package import ByteCoding

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
