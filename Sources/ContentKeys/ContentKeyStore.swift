package import ByteCoding

/// Where a licence's content key comes from.
package protocol ContentKeySource: Sendable {
    /// The live key that an asset id names, or nil when it names none.
    ///
    /// Tries the reference's candidates in their order, and the first one that names a key decides. An alias or a key
    /// id whose key has been withdrawn also ends the search, with nil: the id named that key, and no other. A content
    /// id names a key only if the content has exactly one live key; with several the call throws `contentAmbiguous`.
    func record(for reference: AssetReference) async throws(StoreError) -> ContentKeyRecord?
}

/// The content keys of an installation. Everything but attributes and aliases is sealed at rest.
package protocol ContentKeyStore: ContentKeySource {
    /// Stores a key durably.
    ///
    /// The same key for the same track and with the same floor again changes nothing. State and time of creation do not
    /// matter. Throws `keyIDTaken` when the id belongs to another key or track, or to the key with another floor.
    func insert(_ record: ContentKeyRecord) async throws(StoreError) -> StoreOutcome

    /// Lets an asset id of exactly these bytes name a key, durably.
    ///
    /// The same alias for the same key again changes nothing. Throws `aliasTaken` when it names another key, and
    /// `keyUnknown` when no key has this id.
    func addAlias(_ alias: AssetID, to keyID: KeyID) async throws(StoreError) -> StoreOutcome

    /// A page of the stored keys, withdrawn ones too, ordered by the bytes of their content ids and then of their key
    /// ids.
    ///
    /// - Parameters:
    ///   - contentID: Only the keys of this content; nil for all.
    ///   - last: The last entry of the page before; nil for the first page.
    ///   - limit: How many entries at most; at least 1.
    func list(
        of contentID: ContentID?, after last: ContentKeyAttributes?, limit: Int
    ) async throws(StoreError) -> [ContentKeyAttributes]
}

/// Whether a call changed the store.
package enum StoreOutcome: Equatable, Sendable {
    case stored
    case alreadyPresent
}
