package import ByteCoding

/// A key id and a content id that one asset id may mean.
///
/// Packagers choose both kinds of id. If a key of one content had such a key id, asset ids of the other content would
/// find that key. A store therefore refuses the key id while the content exists, and the content while the key exists
/// (`StoreError.keyIDSpellsContent`). The pairs of a stored key or content follow from its id alone, and never change.
package struct SpelledName: Hashable, Sendable {
    package let keyID: KeyID
    package let contentID: ContentID

    package init(_ keyID: KeyID, _ contentID: ContentID) {
        self.keyID = keyID
        self.contentID = contentID
    }

    /// Returns the key ids that the characters of a content id name as an asset id.
    package static func names(of contentID: ContentID) -> [SpelledName] {
        let text = Array(contentID.text.utf8)
        // The last step of a path may have encoded slashes, as Base64 has them, so each end of the id may be one.
        let starts = text.indices.filter { text[$0] == UInt8(ascii: "/") || text[$0] == UInt8(ascii: ";") }
        let steps = starts.map { Array(text[($0 + 1)...]) }.filter { Self.stepSizes.contains($0.count) }
        let found = ([text] + steps).flatMap { keyIDs(of: $0) }
        return distinct(found.map { SpelledName($0, contentID) })
    }

    /// The sizes of a key id as Base64.
    private static let stepSizes = 22...24

    /// Returns the key ids that an asset id of these characters names. One character is no asset id.
    private static func keyIDs(of text: [UInt8]) -> [KeyID] {
        guard let assetID = try? AssetID(bytes: text) else { return [] }
        return AssetReference(assetID).candidates.compactMap { candidate in
            if case .keyID(let keyID) = candidate { keyID } else { nil }
        }
    }

    /// Returns the contents that the 16 bytes of a key id name as an asset id, with or without a track.
    package static func names(of keyID: KeyID) -> [SpelledName] {
        guard let assetID = try? AssetID(bytes: keyID.bytes) else { return [] }
        let contents = AssetReference(assetID).candidates.compactMap(\.contentID)
        return distinct(contents.map { SpelledName(keyID, $0) })
    }

    private static func distinct(_ names: [SpelledName]) -> [SpelledName] {
        names.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// Returns all pairs of a key and of its content.
    package static func names(of key: ContentKeyAttributes) -> [SpelledName] {
        names(of: key.keyID) + names(of: key.contentID)
    }
}
