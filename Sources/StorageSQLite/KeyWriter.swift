import ByteCoding
import ContentKeys

/// The connection that writes content keys, with its statements prepared once. Each call is one transaction.
struct KeyWriter: ~Copyable {
    private var insertKey, keyByID, otherLiveKey, insertAlias, keyIDByAlias: SQLiteStatement
    private var lookUp: WishLookUp
    var periods: PeriodWriter
    private var spellings: SpellingTable
    private var newestPeriod: SQLiteStatement
    private(set) var connection: SQLiteConnection

    static func prepare(on connection: consuming SQLiteConnection) throws(StoreError) -> KeyWriter {
        try KeyWriter(
            insertKey: connection.prepare(
                """
                INSERT INTO content_key (\(ContentKeyRow.columns))
                VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) ON CONFLICT (kid) DO NOTHING
                """),
            keyByID: connection.prepare("SELECT \(ContentKeyRow.columns) FROM content_key WHERE kid = ?1"),
            otherLiveKey: connection.prepare(
                "SELECT kid FROM content_key WHERE content_id = ?1 AND state = 'live' AND kid <> ?2 LIMIT 1"),
            insertAlias: connection.prepare("INSERT INTO asset_alias (alias, kid) VALUES (?1, ?2)"),
            keyIDByAlias: connection.prepare("SELECT kid FROM asset_alias WHERE alias = ?1"),
            lookUp: .prepare(on: &connection),
            periods: .prepare(on: &connection),
            spellings: .prepare(on: &connection),
            newestPeriod: connection.prepare(
                """
                SELECT (SELECT period_index FROM content_key
                    WHERE content_id = ?1 AND period_index IS NOT NULL AND state = 'live'
                    ORDER BY period_index DESC LIMIT 1)
                FROM live_content WHERE content_id = ?1 AND period_seconds IS NULL
                """),
            connection: connection)
    }

    /// Stores a key and returns nil, or returns the row that already has its id.
    mutating func insert(_ row: ContentKeyRow) throws(StoreError) -> ContentKeyRow? {
        try transaction { writer throws(StoreError) in
            try writer.checkPeriods(of: [row.attributes])
            return try writer.insertWithinTransaction(row)
        }
    }

    /// The result of `insertOnly`.
    enum OnlyKey {
        case stored
        /// The row already has the key's id.
        case present(ContentKeyRow)
        /// The content has another live key, and nothing was stored.
        case notOnly
    }

    /// Does what `insert` does, unless the content has another live key.
    mutating func insertOnly(_ row: ContentKeyRow) throws(StoreError) -> OnlyKey {
        try transaction { writer throws(StoreError) in
            let key = row.attributes
            let other = try writer.otherLiveKey.first(key.contentID, key.keyID) { row throws(StoreError) in
                try row.keyID(at: 0)
            }
            guard other == nil else { return .notOnly }
            try writer.checkPeriods(of: [key])
            if let present = try writer.insertWithinTransaction(row) { return .present(present) }
            return .stored
        }
    }

    /// Checks the periods of keys that are about to be stored, or exist. Runs within a transaction.
    ///
    /// Only contents whose keys decide which periods are served are checked. Throws `periodTooFar`.
    mutating func checkPeriods(of keys: [ContentKeyAttributes]) throws(StoreError) {
        for (contentID, keys) in Dictionary(grouping: keys.filter { $0.periodIndex != nil }, by: \.contentID) {
            let found = try newestPeriod.first(contentID) { row throws(StoreError) in try row.optionalInteger(at: 0) }
            guard let newest = found else { continue }
            var missing: [UInt32] = []
            for key in keys where key.state == .live {
                if let period = key.periodIndex, try row(of: key.keyID) == nil { missing.append(period) }
            }
            try LivePeriods.check(missing, of: contentID, after: newest.flatMap { UInt32(exactly: $0) })
        }
    }

    /// Returns which of the wished keys exist. Runs within a transaction.
    mutating func provisioning(
        of wishes: [KeyWish], with ring: KeyRing
    ) throws(KeyProvisionError) -> KeyProvisioning {
        try lookUp.provisioning(of: wishes, with: ring)
    }

    /// Stores an alias. Throws `keyUnknown` or `aliasTaken`.
    mutating func addAlias(_ alias: AssetID, to keyID: KeyID) throws(StoreError) -> StoreOutcome {
        try transaction { writer throws(StoreError) in try writer.addAliasWithinTransaction(alias, to: keyID) }
    }

    /// Runs `body` in a transaction: its changes become durable together, or none of them does.
    mutating func transaction<Result>(
        _ body: (inout KeyWriter) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        try transaction(failure: { $0 }, body)
    }

    /// Runs `body` in a transaction. The body may throw errors of its own; `failure` converts a store's error to their
    /// type.
    mutating func transaction<Result, Failure: Error>(
        failure: (StoreError) -> Failure, _ body: (inout KeyWriter) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try wrap(failure, try connection.beginImmediate())
        do throws(Failure) {
            let result = try body(&self)
            try wrap(failure, try connection.commit())
            return result
        } catch {
            connection.rollBack()
            throw error
        }
    }

    /// Does what `insert` does, within a transaction. The caller has checked the periods.
    mutating func insertWithinTransaction(_ row: ContentKeyRow) throws(StoreError) -> ContentKeyRow? {
        if let present = try self.row(of: row.attributes.keyID) { return present }
        try spellings.claim(row.attributes)
        // No other connection writes during the transaction, so the key id is still free.
        guard try insertKey(row) else { throw .recordMalformed }
        return nil
    }

    /// Does what `addAlias` does, within a transaction.
    @discardableResult
    mutating func addAliasWithinTransaction(
        _ alias: AssetID, to keyID: KeyID
    ) throws(StoreError) -> StoreOutcome {
        guard let row = try row(of: keyID) else { throw .keyUnknown(keyID) }
        let present = try keyIDByAlias.first(alias.bytes) { row throws(StoreError) in try row.keyID(at: 0) }
        if let present {
            guard present == keyID else { throw .aliasTaken(by: present) }
            return .alreadyPresent
        }
        try spellings.check(alias, of: row.attributes.contentID)
        try insertAlias.run(alias.bytes, keyID)
        return .stored
    }

    /// Returns the row of a key id, in any state.
    mutating func row(of keyID: KeyID) throws(StoreError) -> ContentKeyRow? {
        try keyByID.first(keyID, read: ContentKeyRow.init(reading:))
    }

    /// Inserts the key. Returns whether its id was free.
    private mutating func insertKey(_ row: ContentKeyRow) throws(StoreError) -> Bool {
        let attributes = row.attributes
        try insertKey.run(
            attributes.keyID, attributes.contentID, attributes.trackLabel?.text, attributes.periodIndex,
            attributes.scheme.rawValue, attributes.state.rawValue, attributes.createdAt,
            attributes.contentType.rawValue, attributes.leastHDCP?.rawValue, attributes.leastSecurityLevel?.rawValue,
            row.sealed.keyVersion, row.sealed.bytes)
        return connection.changedRowCount == 1
    }
}
