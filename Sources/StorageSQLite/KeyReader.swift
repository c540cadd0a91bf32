import ByteCoding
import ContentKeys

/// A connection that reads content keys, with its statements prepared once.
struct KeyReader: ~Copyable {
    private var byAlias: SQLiteStatement
    private var byKeyID: SQLiteStatement
    private var byAliasOrKeyID: SQLiteStatement
    private var liveByContent: SQLiteStatement
    private var liveByTrack: SQLiteStatement
    private var page: SQLiteStatement
    private var pageOfContent: SQLiteStatement
    private var contents: SQLiteStatement
    private var lookUp: WishLookUp
    var periods: PeriodReader
    let connection: SQLiteConnection

    init(_ connection: consuming SQLiteConnection) throws(StoreError) {
        // All statements are prepared before the first field is set: the initializer of a noncopyable value must not
        // throw when the value is half initialized.
        try connection.execute("PRAGMA query_only = ON")
        let byAlias = try connection.prepare(
            """
            SELECT kid, content_id, track_label, period_index, scheme, state, created_at, content_type, least_hdcp,
                least_security_level, key_version, sealed, bound
            FROM asset_alias JOIN content_key USING (kid) WHERE alias = ?1
            """)
        let byKeyID = try connection.prepare(
            """
            SELECT kid, content_id, track_label, period_index, scheme, state, created_at, content_type, least_hdcp,
                least_security_level, key_version, sealed, bound
            FROM content_key WHERE kid = ?1
            """)
        let byAliasOrKeyID = try connection.prepare(
            """
            SELECT kid, content_id, track_label, period_index, scheme, state, created_at, content_type, least_hdcp,
                least_security_level, key_version, sealed, bound
            FROM content_key WHERE kid = coalesce((SELECT kid FROM asset_alias WHERE alias = ?1), ?2)
            """)
        let liveByContent = try connection.prepare(
            """
            SELECT kid, content_id, track_label, period_index, scheme, state, created_at, content_type, least_hdcp,
                least_security_level, key_version, sealed, bound
            FROM content_key WHERE content_id = ?1 AND state = 'live' LIMIT 2
            """)
        // The order is that of `NamedTrack.rank`.
        let liveByTrack = try connection.prepare(
            """
            SELECT kid, content_id, track_label, period_index, scheme, state, created_at, content_type, least_hdcp,
                least_security_level, key_version, sealed, bound
            FROM content_key WHERE content_id = ?1 AND state = 'live'
                AND (?2 IS NULL OR track_label IS NULL OR track_label = ?2 COLLATE NOCASE)
                AND (?3 IS NULL OR period_index = ?3)
            ORDER BY track_label IS NOT ?2, (track_label IS NULL) = (?2 IS NOT NULL),
                period_index IS NOT NULL AND ?3 IS NULL
            LIMIT 2
            """)
        let page = try connection.prepare(
            """
            SELECT kid, content_id, track_label, period_index, scheme, state, created_at, content_type, least_hdcp,
                least_security_level
            FROM content_key WHERE (content_id, kid) > (?1, ?2) ORDER BY content_id, kid LIMIT ?3
            """)
        let pageOfContent = try connection.prepare(
            """
            SELECT kid, content_id, track_label, period_index, scheme, state, created_at, content_type, least_hdcp,
                least_security_level
            FROM content_key WHERE content_id = ?1 AND kid > ?2 ORDER BY kid LIMIT ?3
            """)
        // Each step finds one content by a look-up in the index, however many keys the content before it has.
        let contents = try connection.prepare(
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
            """)
        let lookUp = try WishLookUp(&connection)
        let periods = try PeriodReader(&connection)
        self.periods = periods
        self.byAlias = byAlias
        self.byKeyID = byKeyID
        self.byAliasOrKeyID = byAliasOrKeyID
        self.liveByContent = liveByContent
        self.liveByTrack = liveByTrack
        self.page = page
        self.pageOfContent = pageOfContent
        self.contents = contents
        self.lookUp = lookUp
        self.connection = connection
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
        defer { byAliasOrKeyID.reset() }
        try byAliasOrKeyID.bind(alias.bytes, at: 1)
        try byAliasOrKeyID.bind(keyID.bytes, at: 2)
        return try byAliasOrKeyID.step() ? ContentKeyRow(reading: byAliasOrKeyID) : nil
    }

    private mutating func row(for candidate: AssetCandidate) throws(StoreError) -> ContentKeyRow? {
        switch candidate {
        case .alias(let assetID): try byAlias.first(matching: assetID.bytes)
        case .keyID(let keyID): try byKeyID.first(matching: keyID.bytes)
        case .contentID(let contentID): try onlyLiveRow(of: contentID)
        case .track(let track): try liveRow(of: track)
        }
    }

    private mutating func liveRow(of track: NamedTrack) throws(StoreError) -> ContentKeyRow? {
        defer { liveByTrack.reset() }
        try liveByTrack.bind(track.contentID.text, at: 1)
        try liveByTrack.bind(track.label?.text, at: 2)
        try liveByTrack.bind(track.periodIndex.map { Int64($0) }, at: 3)
        var rows: [ContentKeyRow] = []
        while try liveByTrack.step() { rows.append(try ContentKeyRow(reading: liveByTrack)) }
        return try track.only(of: rows, \.attributes)
    }

    private mutating func onlyLiveRow(of contentID: ContentID) throws(StoreError) -> ContentKeyRow? {
        defer { liveByContent.reset() }
        try liveByContent.bind(contentID.text, at: 1)
        guard try liveByContent.step() else { return nil }
        let row = try ContentKeyRow(reading: liveByContent)
        guard try !liveByContent.step() else { throw .contentAmbiguous(contentID) }
        return row
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
            return try pageOfContent.page(after: contentID.text, last?.keyID, limit: limit)
        }
        return try page.page(after: last?.contentID.text ?? "", last?.keyID, limit: limit)
    }

    mutating func contentIDs(in range: ContentIDRange, limit: Int) throws(StoreError) -> [ContentID] {
        defer { contents.reset() }
        try contents.bind(range.lowerBound, at: 1)
        try contents.bind(range.upperBound, at: 2)
        try contents.bind(Int64(limit), at: 3)
        var found: [ContentID] = []
        while try contents.step() {
            guard let contentID = try? ContentID(contents.text(at: 0)) else { throw .recordMalformed }
            found.append(contentID)
        }
        return found
    }
}

extension ContentKeyRow {
    fileprivate var ifLive: ContentKeyRow? { attributes.state == .live ? self : nil }
}

extension SQLiteStatement {
    /// Returns the first row of a statement that takes one value.
    mutating func first(matching key: [UInt8]) throws(StoreError) -> ContentKeyRow? {
        defer { reset() }
        try bind(key, at: 1)
        return try step() ? ContentKeyRow(reading: self) : nil
    }

    /// Returns the rows of a listing statement. Without a key id, the list starts at the smallest one.
    fileprivate mutating func page(
        after contentID: String, _ keyID: KeyID?, limit: Int
    ) throws(StoreError) -> [ContentKeyAttributes] {
        defer { reset() }
        try bind(contentID, at: 1)
        try bind(keyID?.bytes ?? [], at: 2)
        try bind(Int64(limit), at: 3)
        var entries: [ContentKeyAttributes] = []
        while try step() { entries.append(try ContentKeyAttributes(reading: self)) }
        return entries
    }
}
