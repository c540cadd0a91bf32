import ByteCoding
import ContentKeys
import Records

/// Counts how often each token was used for each key.
struct TokenUseTable: ~Copyable {
    private var find, keep: SQLiteStatement

    static func prepare(on connection: inout SQLiteConnection) throws(StoreError) -> TokenUseTable {
        try TokenUseTable(
            find: connection.prepare("SELECT uses FROM token_use WHERE token = ?1 AND kid = ?2 AND kept_until > ?3"),
            keep: connection.prepare(
                """
                INSERT INTO token_use (token, kid, uses, kept_until) VALUES (?1, ?2, 1, ?4)
                ON CONFLICT (token, kid) DO UPDATE SET
                    uses = CASE WHEN kept_until > ?3 THEN uses + 1 ELSE 1 END,
                    kept_until = CASE WHEN kept_until > ?3 THEN max(kept_until, ?4) ELSE ?4 END
                """))
    }

    mutating func denial(of use: TokenUse, at now: Int64) throws(StoreError) -> DecisionDenial? {
        let count = try find.first(use.token, use.keyID, now) { row throws(StoreError) in try row.integer(at: 0) }
        guard let count, count >= use.limit else { return nil }
        return .tokenUsed(limit: use.limit)
    }

    mutating func keep(_ use: TokenUse, at now: Int64) throws(StoreError) {
        try keep.run(use.token, use.keyID, now, use.keptUntil)
    }
}
