import ByteCoding
import ContentKeys
import Records

/// Counts how often each token was used for each key.
struct TokenUseTable: ~Copyable {
    private var find: SQLiteStatement
    private var keep: SQLiteStatement

    init(_ connection: inout SQLiteConnection) {
        find = connection.statement("SELECT uses FROM token_use WHERE token = ?1 AND kid = ?2 AND kept_until > ?3")
        keep = connection.statement(
            """
            INSERT INTO token_use (token, kid, uses, kept_until) VALUES (?1, ?2, 1, ?4)
            ON CONFLICT (token, kid) DO UPDATE SET
                uses = CASE WHEN kept_until > ?3 THEN uses + 1 ELSE 1 END,
                kept_until = CASE WHEN kept_until > ?3 THEN max(kept_until, ?4) ELSE ?4 END
            """)
    }

    mutating func denial(of use: TokenUse, at now: Int64) throws(StoreError) -> DecisionDenial? {
        defer { find.reset() }
        try find.bind(use.token, at: 1)
        try find.bind(use.keyID.bytes, at: 2)
        try find.bind(now, at: 3)
        guard try find.step(), try find.integer(at: 0) >= Int64(use.limit) else { return nil }
        return .tokenUsed(limit: use.limit)
    }

    mutating func keep(_ use: TokenUse, at now: Int64) throws(StoreError) {
        defer { keep.reset() }
        try keep.bind(use.token, at: 1)
        try keep.bind(use.keyID.bytes, at: 2)
        try keep.bind(now, at: 3)
        try keep.bind(use.keptUntil, at: 4)
        _ = try keep.step()
    }
}
