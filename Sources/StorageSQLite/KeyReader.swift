import ByteCoding
import ContentKeys

/// A connection that reads content keys, with its statements prepared once.
struct KeyReader: ~Copyable {
    private var byAlias, byKeyID, byAliasOrKeyID: SQLiteStatement
    private var liveByContent, liveByTrack, page, pageOfContent, contents: SQLiteStatement
    private var lookUp: WishLookUp
    var periods: PeriodReader
    let connection: SQLiteConnection

    static func prepare(on connection: consuming SQLiteConnection) throws(StoreError) -> KeyReader {
        try connection.execute("PRAGMA query_only = ON")
        return try KeyReader(
            byAlias: connection.prepare(
                "SELECT \(ContentKeyRow.columns) FROM asset_alias JOIN content_key USING (kid) WHERE alias = ?1"),
            byKeyID: connection.prepare("SELECT \(ContentKeyRow.columns) FROM content_key WHERE kid = ?1"),
            byAliasOrKeyID: connection.prepare(
                """
                SELECT \(ContentKeyRow.columns) FROM content_key
                WHERE kid = coalesce((SELECT kid FROM asset_alias WHERE alias = ?1), ?2)
                """),
            liveByContent: connection.prepare(
                "SELECT \(ContentKeyRow.columns) FROM content_key WHERE content_id = ?1 AND state = 'live' LIMIT 2"),
            // The order is that of `NamedTrack.rank`.
            liveByTrack: connection.prepare(
                """
                SELECT \(ContentKeyRow.columns) FROM content_key
                WHERE content_id = ?1 AND state = 'live'
                    AND (?2 IS NULL OR track_label IS NULL OR track_label = ?2 COLLATE NOCASE)
                    AND (?3 IS NULL OR period_index = ?3)
                ORDER BY track_label IS NOT ?2, (track_label IS NULL) = (?2 IS NOT NULL),
                    period_index IS NOT NULL AND ?3 IS NULL
                LIMIT 2
                """),
            page: connection.prepare(
                """
                SELECT \(ContentKeyAttributes.columns) FROM content_key
                WHERE (content_id, kid) > (?1, ?2) ORDER BY content_id, kid LIMIT ?3
                """),
            pageOfContent: connection.prepare(
                """
                SELECT \(ContentKeyAttributes.columns) FROM content_key
                WHERE content_id = ?1 AND kid > ?2 ORDER BY kid LIMIT ?3
                """),
            // Each step finds one content by a look-up in the index, however many keys the content before it has.
            contents: connection.prepare(
                """
                WITH RECURSIVE content (id) AS (
                    SELECT * FROM (
                        SELECT content_id FROM content_key WHERE content_id >= ?1 AND content_id < ?2
                        ORDER BY content_id LIMIT 1)
                    UNION ALL
                    SELECT (
                        SELECT content_id FROM content_key WHERE content_id > content.id AND content_id < ?2
                        ORDER BY content_id LIMIT 1)
                    FROM content WHERE content.id IS NOT NULL)
                SELECT id FROM content WHERE id IS NOT NULL LIMIT ?3
                """),
            lookUp: .prepare(on: &connection),
            periods: .prepare(on: &connection),
            connection: connection)
    }

    /// Returns the live key that a reference names, by the rules of the protocol. Each candidate costs one index
    /// look-up.
    ///
    /// Most references begin with an alias and a key id. One statement looks for both, because beginning and ending a
    /// read costs as much as the look-up.
    mutating func row(for reference: AssetReference) throws(StoreError) -> ContentKeyRow? {
        var candidates = reference.candidates[...]
        if case .alias(let alias) = candidates.first, case .keyID(let keyID) = candidates.dropFirst().first {
            if let row = try row(of: alias, or: keyID), row.decides(by: keyID) { return row.ifLive }
            candidates = candidates.dropFirst(2)
        }
        for candidate in candidates {
            guard let row = try row(for: candidate) else { continue }
            if case .keyID(let keyID) = candidate, !row.decides(by: keyID) { continue }
            return row.ifLive
        }
        return nil
    }

    private mutating func row(of alias: AssetID, or keyID: KeyID) throws(StoreError) -> ContentKeyRow? {
        try byAliasOrKeyID.first(alias.bytes, keyID, read: ContentKeyRow.init(reading:))
    }

    private mutating func row(for candidate: AssetCandidate) throws(StoreError) -> ContentKeyRow? {
        switch candidate {
        case .alias(let assetID): try byAlias.first(assetID.bytes, read: ContentKeyRow.init(reading:))
        case .keyID(let keyID): try byKeyID.first(keyID, read: ContentKeyRow.init(reading:))
        case .contentID(let contentID): try onlyLiveRow(of: contentID)
        case .track(let track): try liveRow(of: track)
        }
    }

    private mutating func liveRow(of track: NamedTrack) throws(StoreError) -> ContentKeyRow? {
        let rows = try liveByTrack.rows(
            track.contentID, track.label?.text, track.periodIndex, read: ContentKeyRow.init(reading:))
        return try track.only(of: rows, \.attributes)
    }

    private mutating func onlyLiveRow(of contentID: ContentID) throws(StoreError) -> ContentKeyRow? {
        let rows = try liveByContent.rows(contentID, read: ContentKeyRow.init(reading:))
        guard rows.count <= 1 else { throw .contentAmbiguous(contentID) }
        return rows.first
    }

    /// Returns which of the wished keys exist. It takes no lock, so another writer may add keys between two wishes.
    mutating func provisioning(
        of wishes: [KeyWish], with ring: KeyRing
    ) throws(KeyProvisionError) -> KeyProvisioning {
        try lookUp.provisioning(of: wishes, with: ring)
    }

    /// Returns the entries that follow `last`, the last entry of the previous page.
    mutating func list(
        of contentID: ContentID?, after last: ContentKeyAttributes?, limit: Int
    ) throws(StoreError) -> [ContentKeyAttributes] {
        if let contentID {
            // All entries of another content lie before or after this content's.
            if let last, last.contentID != contentID { return [] }
            return try pageOfContent.rows(
                contentID, last?.keyID.bytes ?? [], limit, read: ContentKeyAttributes.init(reading:))
        }
        return try page.rows(
            last?.contentID.text ?? "", last?.keyID.bytes ?? [], limit, read: ContentKeyAttributes.init(reading:))
    }

    mutating func contentIDs(in range: ContentIDRange, limit: Int) throws(StoreError) -> [ContentID] {
        try contents.rows(range.lowerBound, range.upperBound, limit) { row throws(StoreError) in
            try row.contentID(at: 0)
        }
    }
}

extension ContentKeyRow {
    fileprivate var ifLive: ContentKeyRow? { attributes.state == .live ? self : nil }
}
