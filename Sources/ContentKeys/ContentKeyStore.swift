package import ByteCoding

/// Provides the content key of a license.
package protocol ContentKeySource: Sendable {
    /// Returns the live key that an asset id names; nil if it names none.
    ///
    /// Tries the reference's candidates in their order. The first one that names a live key decides. If an alias names
    /// a withdrawn key, the search ends with nil, because the name means no other key. The key id of a withdrawn key
    /// names nothing, so the next candidate is tried. A content id names a key only if the content has exactly one live
    /// key. If it has several, the call throws `contentAmbiguous`.
    func record(for reference: AssetReference) async throws(StoreError) -> ContentKeyRecord?
}

/// Stores the content keys of an installation. Everything but attributes and aliases is sealed.
package protocol ContentKeyStore: ContentKeySource {
    /// Stores a key durably.
    ///
    /// Storing the same key for the same track with the same floor again changes nothing. State and time of creation
    /// are not compared. Throws `keyIDTaken` if the id belongs to another key or track, or to the same key with another
    /// floor. Throws `keyIDSpellsContent` if one of the ids is new and the other meaning of its characters exists, and
    /// `periodTooFar` for a period that no live content may have next.
    func insert(_ record: ContentKeyRecord) async throws(StoreError) -> StoreOutcome

    /// Stores a key as `insert` does, unless its content has another live key. Then it stores nothing and returns nil.
    ///
    /// The check and the change are one step: of several calls for one content, on any nodes, only one stores a key.
    func insertOnly(_ record: ContentKeyRecord) async throws(StoreError) -> StoreOutcome?

    /// Adds an alias durably: an asset id of exactly these bytes then names the key.
    ///
    /// Adding the same alias to the same key again changes nothing. Throws `aliasTaken` if the alias names another key,
    /// `aliasNamesContent` if its characters are the id of another content or key, and `keyUnknown` if no key has this
    /// id.
    func addAlias(_ alias: AssetID, to keyID: KeyID) async throws(StoreError) -> StoreOutcome

    /// Returns a page of the stored keys, including withdrawn ones. They are ordered by the bytes of their content ids,
    /// and then of their key ids.
    ///
    /// - Parameters:
    ///   - contentID: Limits the list to the keys of this content; nil for all keys.
    ///   - last: The last entry of the previous page; nil for the first page.
    ///   - limit: The largest number of entries; at least 1.
    func list(
        of contentID: ContentID?, after last: ContentKeyAttributes?, limit: Int
    ) async throws(StoreError) -> [ContentKeyAttributes]

    /// Returns the ids of contents that have a key, live or withdrawn, in the order of their bytes. The cost depends on
    /// the number of contents, and not on the number of their keys.
    ///
    /// - Parameter limit: The largest number of ids; at least 1.
    func contentIDs(in range: ContentIDRange, limit: Int) async throws(StoreError) -> [ContentID]
}

/// A range of content ids, for pages of a list.
package struct ContentIDRange: Hashable, Sendable {
    /// The smallest text in the range. It need not be a content id.
    package let lowerBound: String
    /// The smallest text after the range.
    package let upperBound: String

    /// Makes the range of the ids after one id that begin with a text.
    ///
    /// - Parameters:
    ///   - last: The last id of the previous page; nil for the first page.
    ///   - prefix: Printable ASCII; empty for all ids.
    package init(after last: ContentID? = nil, prefix: String = "") {
        // The characters of ids lie between these two.
        let next = last.map { $0.text + "\u{01}" } ?? ""
        lowerBound = prefix.utf8.lexicographicallyPrecedes(next.utf8) ? next : prefix
        upperBound = prefix + "\u{7F}"
    }
}

/// Whether a call changed the store.
package enum StoreOutcome: Equatable, Sendable {
    case stored
    case alreadyPresent
}
