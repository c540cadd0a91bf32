import ByteCoding
import ContentKeys

/// Finds wished keys, with statements that are prepared once for a connection.
struct WishLookUp: ~Copyable {
    private var byKeyID, liveByTrack: SQLiteStatement

    static func prepare(on connection: inout SQLiteConnection) throws(StoreError) -> WishLookUp {
        try WishLookUp(
            byKeyID: connection.prepare("SELECT \(ContentKeyRow.columns) FROM content_key WHERE kid = ?1"),
            // IS also compares NULL, and uses the index.
            liveByTrack: connection.prepare(
                """
                SELECT \(ContentKeyRow.columns) FROM content_key
                WHERE content_id = ?1 AND track_label IS ?2 AND period_index IS ?3 AND state = 'live' LIMIT 2
                """))
    }

    /// Returns which of the wished keys exist. Throws `conflict`, and throws `store` if a row cannot be read or opened.
    mutating func provisioning(
        of wishes: [KeyWish], with ring: KeyRing
    ) throws(KeyProvisionError) -> KeyProvisioning {
        var provisioning = KeyProvisioning()
        for wish in wishes {
            let (named, ofTrack) = try wrap(KeyProvisionError.store, try look(for: wish, with: ring))
            try provisioning.add(wish, named: named, ofTrack: ofTrack)
        }
        return provisioning
    }

    private mutating func look(
        for wish: KeyWish, with ring: KeyRing
    ) throws(StoreError) -> (named: ContentKeyRecord?, ofTrack: [ContentKeyRecord]) {
        switch wish.identity {
        case .keyID: break
        case .track:
            let ofTrack = try liveKeys(of: wish.record.attributes, with: ring)
            if !ofTrack.isEmpty { return (nil, ofTrack) }
        }
        return (try byKeyID.first(wish.record.keyID, read: ContentKeyRow.init(reading:))?.open(with: ring), [])
    }

    private mutating func liveKeys(
        of key: ContentKeyAttributes, with ring: KeyRing
    ) throws(StoreError) -> [ContentKeyRecord] {
        try liveByTrack.rows(key.contentID, key.trackLabel?.text, key.periodIndex) { row throws(StoreError) in
            try ContentKeyRow(reading: row).open(with: ring)
        }
    }
}
