import ContentKeys
import Records

/// Stores revocations, and those of them that only this node knows yet.
struct RevocationTable: ~Copyable {
    private var insert: SQLiteStatement
    private var delete: SQLiteStatement
    private var insertPending: SQLiteStatement
    private var deletePending: SQLiteStatement
    private var deleteSamePending: SQLiteStatement

    init(_ connection: inout SQLiteConnection) {
        insert = connection.statement(
            """
            INSERT INTO revoked (\(Revocation.columns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (kind, issuer, value) DO UPDATE SET until = ?4, revoked_at = ?5, reason = ?6
            """)
        delete = connection.statement("DELETE FROM revoked WHERE kind = ?1 AND issuer = ?2 AND value = ?3 RETURNING 1")
        insertPending = connection.statement(
            """
            INSERT INTO pending_revocation (\(Revocation.columns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (kind, issuer, value) DO UPDATE SET until = ?4, revoked_at = ?5, reason = ?6
            """)
        deletePending = connection.statement(
            "DELETE FROM pending_revocation WHERE kind = ?1 AND issuer = ?2 AND value = ?3 RETURNING 1")
        deleteSamePending = connection.statement(
            """
            DELETE FROM pending_revocation WHERE kind = ?1 AND issuer = ?2 AND value = ?3
                AND until = ?4 AND revoked_at = ?5 AND reason = ?6
            """)
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
        one = connection.statement(
            "SELECT \(Revocation.columns) FROM revoked WHERE kind = ?1 AND issuer = ?2 AND value = ?3")
        page = connection.statement(
            """
            SELECT \(Revocation.columns) FROM revoked
            WHERE (kind, issuer, value) > (?1, ?2, ?3) ORDER BY kind, issuer, value LIMIT ?4
            """)
        newest = connection.statement(
            "SELECT \(Revocation.columns) FROM revoked WHERE revoked_at >= ?1 ORDER BY revoked_at DESC LIMIT ?2")
        pending = connection.statement(
            """
            SELECT \(Revocation.columns) FROM pending_revocation
            WHERE (kind, issuer, value) > ('', '', '') ORDER BY kind, issuer, value LIMIT 10000
            """)
        position = connection.statement(
            "SELECT number, mark FROM revocation_change WHERE number > ?1 ORDER BY number DESC LIMIT 1")
        changes = connection.statement(
            """
            SELECT \(Revocation.columns), number, mark, is_lifted FROM revocation_change
            WHERE number >= ?1 ORDER BY number LIMIT ?2
            """)
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

extension Revocation {
    fileprivate static let columns: SQL = "kind, issuer, value, until, revoked_at, reason"
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
