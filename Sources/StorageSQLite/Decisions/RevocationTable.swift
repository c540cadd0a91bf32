import ContentKeys
import Records

/// Stores revocations, and those of them that only this node knows yet.
struct RevocationTable: ~Copyable {
    private var insert: SQLiteStatement
    private var delete: SQLiteStatement
    private var insertPending: SQLiteStatement
    private var deletePending: SQLiteStatement
    private var deleteSamePending: SQLiteStatement

    init(_ connection: inout SQLiteConnection) throws(StoreError) {
        let insert = try connection.prepare(
            """
            INSERT INTO revoked (kind, issuer, value, until, revoked_at, reason) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (kind, issuer, value) DO UPDATE SET until = ?4, revoked_at = ?5, reason = ?6
            """)
        let delete = try connection.prepare(
            "DELETE FROM revoked WHERE kind = ?1 AND issuer = ?2 AND value = ?3 RETURNING 1")
        let insertPending = try connection.prepare(
            """
            INSERT INTO pending_revocation (kind, issuer, value, until, revoked_at, reason)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (kind, issuer, value) DO UPDATE SET until = ?4, revoked_at = ?5, reason = ?6
            """)
        let deletePending = try connection.prepare(
            "DELETE FROM pending_revocation WHERE kind = ?1 AND issuer = ?2 AND value = ?3 RETURNING 1")
        let deleteSamePending = try connection.prepare(
            """
            DELETE FROM pending_revocation WHERE kind = ?1 AND issuer = ?2 AND value = ?3
                AND until = ?4 AND revoked_at = ?5 AND reason = ?6
            """)
        self.insert = insert
        self.delete = delete
        self.insertPending = insertPending
        self.deletePending = deletePending
        self.deleteSamePending = deleteSamePending
    }

    mutating func insert(_ revocation: Revocation) throws(StoreError) {
        try insert.run(with: revocation)
    }

    /// Deletes a revocation. Returns whether it was stored.
    mutating func delete(_ key: RevocationKey) throws(StoreError) -> Bool {
        try delete.deletes(key)
    }

    mutating func insertPending(_ revocation: Revocation) throws(StoreError) {
        try insertPending.run(with: revocation)
    }

    /// Deletes the pending revocation, unless it has been changed in the meantime.
    mutating func deletePending(_ revocation: Revocation) throws(StoreError) {
        try deleteSamePending.run(with: revocation)
    }

    mutating func deletePending(_ key: RevocationKey) throws(StoreError) {
        _ = try deletePending.deletes(key)
    }
}

/// A connection that reads revocations.
struct RevocationReader: ~Copyable {
    private var one: SQLiteStatement
    private var page: SQLiteStatement
    private var newest: SQLiteStatement
    private var pending: SQLiteStatement
    private var position: SQLiteStatement
    private var changes: SQLiteStatement
    let connection: SQLiteConnection

    init(_ connection: consuming SQLiteConnection) throws(StoreError) {
        try connection.execute("PRAGMA query_only = ON")
        let one = try connection.prepare(
            """
            SELECT kind, issuer, value, until, revoked_at, reason FROM revoked
            WHERE kind = ?1 AND issuer = ?2 AND value = ?3
            """)
        let page = try connection.prepare(
            """
            SELECT kind, issuer, value, until, revoked_at, reason FROM revoked
            WHERE (kind, issuer, value) > (?1, ?2, ?3) ORDER BY kind, issuer, value LIMIT ?4
            """)
        let newest = try connection.prepare(
            """
            SELECT kind, issuer, value, until, revoked_at, reason FROM revoked
            WHERE revoked_at >= ?1 ORDER BY revoked_at DESC LIMIT ?2
            """)
        let pending = try connection.prepare(
            """
            SELECT kind, issuer, value, until, revoked_at, reason FROM pending_revocation
            WHERE (kind, issuer, value) > ('', '', '') ORDER BY kind, issuer, value LIMIT 10000
            """)
        let position = try connection.prepare(
            "SELECT number, mark FROM revocation_change WHERE number > ?1 ORDER BY number DESC LIMIT 1")
        let changes = try connection.prepare(
            """
            SELECT kind, issuer, value, until, revoked_at, reason, number, mark, is_lifted FROM revocation_change
            WHERE number >= ?1 ORDER BY number LIMIT ?2
            """)
        self.one = one
        self.page = page
        self.newest = newest
        self.pending = pending
        self.position = position
        self.changes = changes
        self.connection = connection
    }

    mutating func revocation(_ key: RevocationKey) throws(StoreError) -> Revocation? {
        defer { one.reset() }
        try one.bind(key)
        return try one.step() ? try one.revocation() : nil
    }

    mutating func revocations(after key: RevocationKey?, limit: Int) throws(StoreError) -> RevocationPage {
        defer { page.reset() }
        try page.bind(key ?? RevocationKey(kind: "", issuer: "", value: ""))
        try page.bind(Int64(limit), at: 4)
        var found = RevocationPage([], next: nil)
        var count = 0
        while try page.step() {
            count += 1
            if let revocation = try page.revocation() { found.revocations.append(revocation) }
            if count == limit { found.next = try page.key() }
        }
        return found
    }

    mutating func newestRevocations(limit: Int) throws(StoreError) -> [Revocation] {
        defer { newest.reset() }
        try newest.bind(Int64.min, at: 1)
        try newest.bind(Int64(limit), at: 2)
        return try newest.revocations()
    }

    mutating func pendingRevocations() throws(StoreError) -> [Revocation] {
        defer { pending.reset() }
        return try pending.revocations()
    }

    mutating func revocationPosition() throws(StoreError) -> RevocationPosition {
        defer { position.reset() }
        try position.bind(0 as Int64, at: 1)
        guard try position.step() else { return .start }
        return RevocationPosition(number: try position.integer(at: 0), mark: try position.integer(at: 1))
    }

    mutating func revocationChanges(
        after known: RevocationPosition, limit: Int
    ) throws(StoreError) -> RevocationNews {
        defer { changes.reset() }
        try changes.bind(known.number, at: 1)
        try changes.bind(Int64(limit) + 1, at: 2)
        var reading = RevocationNewsReading(after: known, limit: limit)
        while try changes.step() {
            let position = RevocationPosition(number: try changes.integer(at: 6), mark: try changes.integer(at: 7))
            reading.add(position, try changes.change())
        }
        return reading.news
    }
}

extension SQLiteStatement {
    fileprivate mutating func bind(_ key: RevocationKey) throws(StoreError) {
        try bind(key.kind, at: 1)
        try bind(key.issuer, at: 2)
        try bind(key.value, at: 3)
    }

    /// Runs a statement on the key's three columns. Returns whether it gave a row.
    fileprivate mutating func deletes(_ key: RevocationKey) throws(StoreError) -> Bool {
        defer { reset() }
        try bind(key)
        guard try step() else { return false }
        // The row is deleted only when the statement has run to its end.
        _ = try step()
        return true
    }

    /// Runs a statement on all six columns.
    fileprivate mutating func run(with revocation: Revocation) throws(StoreError) {
        defer { reset() }
        try bind(RevocationKey(revocation))
        try bind(revocation.until ?? .max, at: 4)
        try bind(revocation.revokedAt, at: 5)
        try bind(revocation.reason, at: 6)
        _ = try step()
    }

    fileprivate mutating func revocations() throws(StoreError) -> [Revocation] {
        var found: [Revocation] = []
        while try step() {
            if let revocation = try revocation() { found.append(revocation) }
        }
        return found
    }

    fileprivate func key() throws(StoreError) -> RevocationKey {
        RevocationKey(kind: try text(at: 0), issuer: try text(at: 1), value: try text(at: 2))
    }

    /// Reads a revocation; nil if only a newer version knows its kind.
    fileprivate func revocation() throws(StoreError) -> Revocation? {
        let key = try key()
        guard let kind = Revocation.Kind(rawValue: key.kind) else { return nil }
        let until = try integer(at: 3)
        return Revocation(
            kind: kind, issuer: key.issuer.isEmpty ? nil : key.issuer, value: key.value,
            until: until == .max ? nil : until, revokedAt: try integer(at: 4), reason: try text(at: 5))
    }

    /// Reads a change. The last column says whether the revocation was lifted. Returns nil as `revocation()` does.
    fileprivate func change() throws(StoreError) -> RevocationChange? {
        guard let revocation = try revocation() else { return nil }
        return try integer(at: 8) == 0
            ? .revoked(revocation)
            : .lifted(revocation.kind, value: revocation.value, issuer: revocation.issuer)
    }
}
