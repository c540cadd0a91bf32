import ContentKeys
import Records

/// What is revoked.
struct RevocationTable: ~Copyable {
    private var insert: SQLiteStatement
    private var delete: SQLiteStatement

    init(_ connection: inout SQLiteConnection) throws(StoreError) {
        let insert = try connection.prepare(
            """
            INSERT INTO revoked (kind, issuer, value, until, revoked_at, reason) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (kind, issuer, value) DO UPDATE SET until = ?4, revoked_at = ?5, reason = ?6
            """)
        let delete = try connection.prepare(
            "DELETE FROM revoked WHERE kind = ?1 AND issuer = ?2 AND value = ?3 RETURNING 1")
        self.insert = insert
        self.delete = delete
    }

    mutating func insert(_ revocation: Revocation) throws(StoreError) {
        defer { insert.reset() }
        try insert.bind(revocation.kind.rawValue, at: 1)
        try insert.bind(revocation.issuer ?? "", at: 2)
        try insert.bind(revocation.value, at: 3)
        try insert.bind(revocation.until ?? .max, at: 4)
        try insert.bind(revocation.revokedAt, at: 5)
        try insert.bind(revocation.reason, at: 6)
        _ = try insert.step()
    }

    /// Whether it was there.
    mutating func delete(
        _ kind: Revocation.Kind, _ value: String, of issuer: String?
    ) throws(StoreError) -> Bool {
        defer { delete.reset() }
        try delete.bind(kind.rawValue, at: 1)
        try delete.bind(issuer ?? "", at: 2)
        try delete.bind(value, at: 3)
        guard try delete.step() else { return false }
        // The row is gone once the statement has run to its end.
        _ = try delete.step()
        return true
    }
}

/// A connection that reads what is revoked.
struct RevocationReader: ~Copyable {
    private var select: SQLiteStatement
    private let connection: SQLiteConnection

    init(_ connection: consuming SQLiteConnection) throws(StoreError) {
        try connection.execute("PRAGMA query_only = ON")
        let select = try connection.prepare(
            "SELECT kind, issuer, value, until, revoked_at, reason FROM revoked WHERE until > ?1")
        self.select = select
        self.connection = connection
    }

    mutating func revocations(at now: Int64) throws(StoreError) -> [Revocation] {
        defer { select.reset() }
        try select.bind(now, at: 1)
        var found: [Revocation] = []
        while try select.step() {
            guard let kind = Revocation.Kind(rawValue: try select.text(at: 0)) else {
                // A newer version revokes what this one does not know, and so does not give.
                continue
            }
            let issuer = try select.text(at: 1)
            let until = try select.integer(at: 3)
            found.append(
                Revocation(
                    kind: kind, issuer: issuer.isEmpty ? nil : issuer, value: try select.text(at: 2),
                    until: until == .max ? nil : until, revokedAt: try select.integer(at: 4),
                    reason: try select.text(at: 5)))
        }
        return found
    }
}
