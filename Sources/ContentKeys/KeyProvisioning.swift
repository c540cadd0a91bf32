import ByteCoding

/// Decides for a `KeyProvider` which wished keys exist and which must be stored. All stores use it.
///
/// The store passes the stored keys of each wish, in the order of the wishes.
package struct KeyProvisioning: Sendable {
    /// The names of a track's key. A wish with the identity `.track` means any live key with these names.
    package struct TrackName: Hashable, Sendable {
        package let contentID: ContentID
        package let label: TrackLabel?
        package let periodIndex: UInt32?

        package init(_ key: ContentKeyAttributes) {
            contentID = key.contentID
            label = key.trackLabel
            periodIndex = key.periodIndex
        }
    }

    /// The keys for the wishes so far, in their order.
    package private(set) var provided: [ProvidedKey] = []
    /// The wishes whose keys must be stored, in their order.
    package private(set) var missing: [KeyWish] = []
    private var plannedByKeyID: [KeyID: ContentKeyRecord] = [:]
    private var plannedByTrack: [TrackName: ContentKeyRecord] = [:]
    private var sharedTracks: Set<TrackName> = []

    package init() {}

    /// Decides on the next wish. Of several wishes for one key, only the first one makes it.
    ///
    /// - Parameters:
    ///   - named: The stored key with the key id of the wish's record, live or withdrawn.
    ///   - ofTrack: The stored live keys of the wish's content, label and period; two are enough. Ignored for a wish
    ///     with the identity `.keyID`.
    package mutating func add(
        _ wish: KeyWish, named: ContentKeyRecord?, ofTrack: [ContentKeyRecord]
    ) throws(KeyProvisionError) {
        let keyID = wish.record.keyID
        let named = named ?? plannedByKeyID[keyID]
        guard let present = try track(of: wish, ofTrack) ?? named else { return plan(wish) }
        if let conflict = wish.conflict(with: present) { throw .conflict(present.keyID, conflict) }
        provided.append(ProvidedKey(record: present, isNew: false))
    }

    /// Returns the only live key of the wish's track; nil if the track has none, or if the wish names a key id.
    private func track(
        of wish: KeyWish, _ stored: [ContentKeyRecord]
    ) throws(KeyProvisionError) -> ContentKeyRecord? {
        guard wish.identity == .track else { return nil }
        let name = TrackName(wish.record.attributes)
        let planned = plannedByTrack[name]
        guard stored.count + (planned == nil ? 0 : 1) <= 1, !sharedTracks.contains(name) else {
            throw .conflict((stored.first ?? planned ?? wish.record).keyID, .severalKeys)
        }
        return stored.first ?? planned
    }

    private mutating func plan(_ wish: KeyWish) {
        let record = wish.record
        provided.append(ProvidedKey(record: record, isNew: true))
        missing.append(wish)
        plannedByKeyID[record.keyID] = record
        guard record.attributes.state == .live else { return }
        let name = TrackName(record.attributes)
        if plannedByTrack.updateValue(record, forKey: name) != nil { sharedTracks.insert(name) }
    }
}
