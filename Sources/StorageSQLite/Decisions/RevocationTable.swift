import ContentKeys
import Records

/// Stores revocations, and those of them that only this node knows yet.
struct RevocationTable: ~Copyable {
    private var insert, delete, insertPending, deletePending, deleteSamePending: SQLiteStatement

    static func prepare(on connection: inout SQLiteConnection) throws(StoreError) -> RevocationTable {
        try RevocationTable(
            insert: connection.prepare(
                """
                INSERT INTO revoked (\(Revocation.columns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                ON CONFLICT (kind, issuer, value) DO UPDATE SET until = ?4, revoked_at = ?5, reason = ?6
                """),
            delete: connection.prepare(
                "DELETE FROM revoked WHERE kind = ?1 AND issuer = ?2 AND value = ?3 RETURNING 1"),
            insertPending: connection.prepare(
                """
                INSERT INTO pending_revocation (\(Revocation.columns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                ON CONFLICT (kind, issuer, value) DO UPDATE SET until = ?4, revoked_at = ?5, reason = ?6
                """),
            deletePending: connection.prepare(
                "DELETE FROM pending_revocation WHERE kind = ?1 AND issuer = ?2 AND value = ?3 RETURNING 1"),
            deleteSamePending: connection.prepare(
                """
                DELETE FROM pending_revocation WHERE kind = ?1 AND issuer = ?2 AND value = ?3
                    AND until = ?4 AND revoked_at = ?5 AND reason = ?6
                """))
    }

    mutating func insert(_ revocation: Revocation) throws(StoreError) {
        try insert.run(with: revocation)
    }

    /// Deletes a revocation. Returns whether it was stored.
    mutating func delete(_ key: RevocationKey) throws(StoreError) -> Bool {
        try delete.run(key.kind, key.issuer, key.value) > 0
    }

    mutating func insertPending(_ revocation: Revocation) throws(StoreError) {
        try insertPending.run(with: revocation)
    }

    /// Deletes the pending revocation, unless it has been changed in the meantime.
    mutating func deletePending(_ revocation: Revocation) throws(StoreError) {
        try deleteSamePending.run(with: revocation)
    }

    mutating func deletePending(_ key: RevocationKey) throws(StoreError) {
        try deletePending.run(key.kind, key.issuer, key.value)
    }
}

/// A connection that reads revocations.
struct RevocationReader: ~Copyable {
    private var one, page, newest, pending, position, changes: SQLiteStatement
    let connection: SQLiteConnection

    static func prepare(on connection: consuming SQLiteConnection) throws(StoreError) -> RevocationReader {
        try connection.execute("PRAGMA query_only = ON")
        return try RevocationReader(
            one: connection.prepare(
                "SELECT \(Revocation.columns) FROM revoked WHERE kind = ?1 AND issuer = ?2 AND value = ?3"),
            page: connection.prepare(
                """
                SELECT \(Revocation.columns) FROM revoked
                WHERE (kind, issuer, value) > (?1, ?2, ?3) ORDER BY kind, issuer, value LIMIT ?4
                """),
            newest: connection.prepare(
                "SELECT \(Revocation.columns) FROM revoked WHERE revoked_at >= ?1 ORDER BY revoked_at DESC LIMIT ?2"),
            pending: connection.prepare(
                """
                SELECT \(Revocation.columns) FROM pending_revocation
                WHERE (kind, issuer, value) > ('', '', '') ORDER BY kind, issuer, value LIMIT 10000
                """),
            position: connection.prepare(
                "SELECT number, mark FROM revocation_change WHERE number > ?1 ORDER BY number DESC LIMIT 1"),
            changes: connection.prepare(
                """
                SELECT \(Revocation.columns), number, mark, is_lifted FROM revocation_change
                WHERE number >= ?1 ORDER BY number LIMIT ?2
                """),
            connection: connection)
    }

    mutating func revocation(_ key: RevocationKey) throws(StoreError) -> Revocation? {
        try one.first(key.kind, key.issuer, key.value) { row throws(StoreError) in try row.revocation() } ?? nil
    }

    mutating func revocations(after key: RevocationKey?, limit: Int) throws(StoreError) -> RevocationPage {
        defer { page.reset() }
        try page.bind(key?.kind ?? "", key?.issuer ?? "", key?.value ?? "", limit)
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
        try newest.rows(Int64.min, limit) { row throws(StoreError) in try row.revocation() }.compactMap(\.self)
    }

    mutating func pendingRevocations() throws(StoreError) -> [Revocation] {
        try pending.rows { row throws(StoreError) in try row.revocation() }.compactMap(\.self)
    }

    mutating func revocationPosition() throws(StoreError) -> RevocationPosition {
        try position.first(0) { row throws(StoreError) in
            RevocationPosition(number: try row.integer(at: 0), mark: try row.integer(at: 1))
        } ?? .start
    }

    mutating func revocationChanges(
        after known: RevocationPosition, limit: Int
    ) throws(StoreError) -> RevocationNews {
        defer { changes.reset() }
        try changes.bind(known.number, limit + 1)
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
    /// Runs a statement on all six columns.
    fileprivate mutating func run(with revocation: Revocation) throws(StoreError) {
        let key = RevocationKey(revocation)
        try run(
            key.kind, key.issuer, key.value, revocation.until ?? .max, revocation.revokedAt, revocation.reason)
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
        return try boolean(at: 8)
            ? .lifted(revocation.kind, value: revocation.value, issuer: revocation.issuer) : .revoked(revocation)
    }
}
