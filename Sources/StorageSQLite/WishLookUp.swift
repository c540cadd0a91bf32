import ByteCoding
import ContentKeys

/// Finds wished keys, with statements that are prepared once for a connection.
struct WishLookUp: ~Copyable {
    private var byKeyID: SQLiteStatement
    private var liveByTrack: SQLiteStatement

    init(_ connection: inout SQLiteConnection) {
        byKeyID = connection.statement("SELECT \(ContentKeyRow.columns) FROM content_key WHERE kid = ?1")
        // IS also compares NULL, and uses the index.
        liveByTrack = connection.statement(
            """
            SELECT \(ContentKeyRow.columns) FROM content_key
            WHERE content_id = ?1 AND track_label IS ?2 AND period_index IS ?3 AND state = 'live' LIMIT 2
            """)
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
        return (try byKeyID.first(matching: wish.record.keyID.bytes)?.open(with: ring), [])
    }

    private mutating func liveKeys(
        of key: ContentKeyAttributes, with ring: KeyRing
    ) throws(StoreError) -> [ContentKeyRecord] {
        defer { liveByTrack.reset() }
        try liveByTrack.bind(key.contentID.text, at: 1)
        try liveByTrack.bind(key.trackLabel?.text, at: 2)
        try liveByTrack.bind(key.periodIndex.map { Int64($0) }, at: 3)
        var found: [ContentKeyRecord] = []
        while try liveByTrack.step() { found.append(try ContentKeyRow(reading: liveByTrack).open(with: ring)) }
        return found
    }
}
