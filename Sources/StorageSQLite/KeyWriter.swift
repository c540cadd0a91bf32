import ByteCoding
import ContentKeys

/// The connection that writes content keys, with its statements prepared once. Each call is one transaction.
struct KeyWriter: ~Copyable {
    private var insertKey: SQLiteStatement
    private var keyByID: SQLiteStatement
    private var insertAlias: SQLiteStatement
    private var keyIDByAlias: SQLiteStatement
    private var lookUp: WishLookUp
    var periods: PeriodWriter
    private var spellings: SpellingTable
    private var newestPeriod: SQLiteStatement
    private(set) var connection: SQLiteConnection

    init(_ connection: consuming SQLiteConnection) throws(StoreError) {
        // All statements are prepared before the first field is set: the initializer of a noncopyable value must not
        // throw when the value is half initialized.
        let insertKey = try connection.prepare(
            """
            INSERT INTO content_key
                (kid, content_id, track_label, period_index, scheme, state, created_at, content_type, least_hdcp,
                least_security_level, key_version, sealed, bound)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13) ON CONFLICT (kid) DO NOTHING
            """)
        let keyByID = try connection.prepare(
            """
            SELECT kid, content_id, track_label, period_index, scheme, state, created_at, content_type, least_hdcp,
                least_security_level, key_version, sealed, bound
            FROM content_key WHERE kid = ?1
            """)
        let insertAlias = try connection.prepare(
            "INSERT INTO asset_alias (alias, kid) VALUES (?1, ?2)")
        let keyIDByAlias = try connection.prepare("SELECT kid FROM asset_alias WHERE alias = ?1")
        let lookUp = try WishLookUp(&connection)
        let periods = try PeriodWriter(&connection)
        let spellings = try SpellingTable(&connection)
        let newestPeriod = try connection.prepare(
            """
            SELECT (SELECT period_index FROM content_key
                WHERE content_id = ?1 AND period_index IS NOT NULL AND state = 'live'
                ORDER BY period_index DESC LIMIT 1)
            FROM live_content WHERE content_id = ?1 AND period_seconds IS NULL
            """)
        self.periods = periods
        self.spellings = spellings
        self.newestPeriod = newestPeriod
        self.insertKey = insertKey
        self.keyByID = keyByID
        self.insertAlias = insertAlias
        self.keyIDByAlias = keyIDByAlias
        self.lookUp = lookUp
        self.connection = connection
    }

    /// Stores a key and returns nil, or returns the row that already has its id.
    mutating func insert(_ row: ContentKeyRow) throws(StoreError) -> ContentKeyRow? {
        try transaction { writer throws(StoreError) in
            try writer.checkPeriods(of: [row.attributes])
            return try writer.insertWithinTransaction(row)
        }
    }

    /// Checks the periods of keys that are about to be stored, or exist. Runs within a transaction.
    ///
    /// Only contents whose keys decide which periods are served are checked. Throws `periodTooFar`.
    mutating func checkPeriods(of keys: [ContentKeyAttributes]) throws(StoreError) {
        for (contentID, keys) in Dictionary(grouping: keys.filter { $0.periodIndex != nil }, by: \.contentID) {
            defer { newestPeriod.reset() }
            try newestPeriod.bind(contentID.text, at: 1)
            guard try newestPeriod.step() else { continue }
            let newest = newestPeriod.isNull(at: 0) ? nil : UInt32(exactly: try newestPeriod.integer(at: 0))
            var missing: [UInt32] = []
            for key in keys where key.state == .live {
                if let period = key.periodIndex, try row(of: key.keyID) == nil { missing.append(period) }
            }
            try LivePeriods.check(missing, of: contentID, after: newest)
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
        if let present = try keyIDNamed(by: alias) {
            guard present == keyID else { throw .aliasTaken(by: present) }
            return .alreadyPresent
        }
        try spellings.check(alias, of: row.attributes.contentID)
        try insertAlias(alias, keyID)
        return .stored
    }

    /// Throws `keyIDSpellsContent` if a withdrawn key cannot be live again.
    mutating func checkRestored(_ key: ContentKeyAttributes) throws(StoreError) {
        try spellings.checkRestored(key)
    }

    /// Returns the row of a key id, in any state.
    mutating func row(of keyID: KeyID) throws(StoreError) -> ContentKeyRow? {
        try keyByID.first(matching: keyID.bytes)
    }

    /// Inserts the key. Returns whether its id was free.
    private mutating func insertKey(_ row: ContentKeyRow) throws(StoreError) -> Bool {
        defer { insertKey.reset() }
        let attributes = row.attributes
        try insertKey.bind(attributes.keyID.bytes, at: 1)
        try insertKey.bind(attributes.contentID.text, at: 2)
        try insertKey.bind(attributes.trackLabel?.text, at: 3)
        try insertKey.bind(attributes.periodIndex.map { Int64($0) }, at: 4)
        try insertKey.bind(attributes.scheme.rawValue, at: 5)
        try insertKey.bind(attributes.state.rawValue, at: 6)
        try insertKey.bind(attributes.createdAt, at: 7)
        try insertKey.bind(attributes.contentType.rawValue, at: 8)
        try insertKey.bind(attributes.leastHDCP?.rawValue, at: 9)
        try insertKey.bind(attributes.leastSecurityLevel?.rawValue, at: 10)
        try insertKey.bind(Int64(row.sealed.keyVersion), at: 11)
        try insertKey.bind(row.sealed.bytes, at: 12)
        try insertKey.bind(optional: row.sealed.bound, at: 13)
        _ = try insertKey.step()
        return connection.changedRowCount == 1
    }

    /// Inserts an alias that does not exist.
    private mutating func insertAlias(_ alias: AssetID, _ keyID: KeyID) throws(StoreError) {
        defer { insertAlias.reset() }
        try insertAlias.bind(alias.bytes, at: 1)
        try insertAlias.bind(keyID.bytes, at: 2)
        _ = try insertAlias.step()
    }

    private mutating func keyIDNamed(by alias: AssetID) throws(StoreError) -> KeyID? {
        defer { keyIDByAlias.reset() }
        try keyIDByAlias.bind(alias.bytes, at: 1)
        guard try keyIDByAlias.step() else { return nil }
        guard let keyID = KeyID(bytes: try keyIDByAlias.bytes(at: 0)) else { throw .recordMalformed }
        return keyID
    }
}
