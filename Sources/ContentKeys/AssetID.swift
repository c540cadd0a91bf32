package import ByteCoding

/// The name by which a device asks for a key: the asset id of an SPC, 2 to 1,024 raw bytes. Token URLs have more than
/// 200.
///
/// It is bytes and not text: published SPCs have bytes that are not UTF-8, and Safari sends the 16 bytes of a key id.
/// `AssetReference` decodes what an asset id may name.
package struct AssetID: Hashable, Sendable {
    /// The sizes of an asset id, in bytes.
    package static let sizes = 2...1024
    /// The sizes of an asset id that can be registered as an alias of a key, in bytes.
    package static let aliasSizes = 2...200

    package let bytes: [UInt8]

    /// Throws `sizeOutOfRange` for fewer than 2 or more than 1,024 bytes. All byte values are accepted.
    package init(bytes: [UInt8]) throws(IdentifierError) {
        guard Self.sizes.contains(bytes.count) else { throw .sizeOutOfRange(bytes.count) }
        self.bytes = bytes
    }

    /// Makes an asset id that can be an alias of a key. Throws `sizeOutOfRange` for fewer than 2 or more than 200
    /// bytes.
    package init(alias bytes: [UInt8]) throws(IdentifierError) {
        guard Self.aliasSizes.contains(bytes.count) else { throw .sizeOutOfRange(bytes.count) }
        self.bytes = bytes
    }
}

/// One thing that an asset id may name.
///
/// A candidate never has a key or an initialization vector, because those of an asset id are not trusted.
package enum AssetCandidate: Hashable, Sendable {
    /// An alias that is registered with exactly these bytes.
    case alias(AssetID)
    /// The content key with this id.
    case keyID(KeyID)
    /// The one live content key of this content.
    case contentID(ContentID)
    /// The live content key of this track.
    case track(NamedTrack)

    /// The content of a name that is not a key id or an alias; otherwise nil.
    package var contentID: ContentID? {
        switch self {
        case .alias, .keyID: nil
        case .contentID(let contentID): contentID
        case .track(let track): track.contentID
        }
    }

    /// Whether this may be the name of a key. An alias is not known here.
    package func fits(_ key: ContentKeyAttributes) -> Bool {
        switch self {
        case .alias: false
        case .keyID(let keyID): keyID == key.keyID
        case .contentID(let contentID): contentID == key.contentID
        case .track(let track): track.rank(of: key) != nil
        }
    }
}

/// An asset id with everything that it may name, in the order in which a store looks it up.
///
/// First come the exact bytes as an alias, then 16 bytes as a key id, then a key id or content id in the bytes as text
/// (`AssetText`). An exact name therefore takes precedence over a decoded one, and a key over a content. What a form of
/// the installation (`AssetForms`) names stands before everything but an alias. If the asset id has an explicit key id,
/// the contents that it names beside the key id are not looked up.
package struct AssetReference: Hashable, Sendable {
    package let assetID: AssetID
    /// The candidates, each of them once. Empty only if an asset id is longer than an alias and is not a text that
    /// names anything.
    package let candidates: [AssetCandidate]
    /// The explicit key id of the asset id; nil if it has none. A license is for that key, or is refused.
    package let binding: Binding?

    /// What an asset id with an explicit key id says.
    package struct Binding: Hashable, Sendable {
        /// The key ids, each of them once. If there are several, no key is meant. Empty if the text that should be a
        /// key id is not one.
        package let keyIDs: [KeyID]
        /// The contents that the asset id names beside the key id. They are not candidates.
        package let contentIDs: [ContentID]
    }

    package init(_ assetID: AssetID, _ forms: AssetForms = .none) {
        self.assetID = assetID
        let text = AssetText(assetID)
        let names = text.names(forms)
        // A longer asset id cannot be an alias, because it cannot be registered.
        var candidates: [AssetCandidate] = AssetID.aliasSizes.contains(assetID.bytes.count) ? [.alias(assetID)] : []
        candidates += names.formed
        let keyID = KeyID(bytes: assetID.bytes)
        if let keyID { candidates.append(.keyID(keyID)) }
        for candidate in names.candidates where !candidates.contains(candidate) { candidates.append(candidate) }
        self.candidates = candidates
        // Sixteen bytes that are not a text are a key id and nothing else.
        if let keyID, !text.isPrintable {
            binding = Binding(keyIDs: [keyID], contentIDs: [])
        } else {
            binding = names.binding
        }
    }

    /// The candidates that the whole asset id names, and its explicit key ids. An alias with one of these names would
    /// hide what the name means.
    package var ownNames: [AssetCandidate] {
        let keyIDs = [KeyID(bytes: assetID.bytes)].compactMap(\.self) + (binding?.keyIDs ?? [])
        return keyIDs.map { .keyID($0) } + AssetText(assetID).ownNames
    }

    /// Whether this name, which a client sends beside an SPC, fits the key that the SPC's asset id has selected. It
    /// fits if it names the key, its content, or anything that the asset id may name too, for example an alias.
    package func agrees(with key: ContentKeyAttributes, _ assetID: AssetID, _ forms: AssetForms = .none) -> Bool {
        candidates.contains { $0.fits(key) }
            || !Set(candidates).isDisjoint(with: AssetReference(assetID, forms).candidates)
    }
}

/// The result of looking an asset id up, for operators. A license request learns only whether there is a key.
package enum AssetResolution: Equatable, Sendable {
    /// The key that licenses contain, with its initialization vector, which is public.
    case live(ContentKeyAttributes, iv: Bytes16)
    /// A key that is not delivered any more.
    case withdrawn(KeyID)
    /// A content with several live keys.
    case ambiguous(ContentID)
    case unknown
}
