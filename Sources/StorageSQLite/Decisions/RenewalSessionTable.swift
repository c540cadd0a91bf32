import ContentKeys
import Records

/// Stores the generation of the newest token that each session has used.
struct RenewalSessionTable: ~Copyable {
    private var find, keep: SQLiteStatement

    static func prepare(on connection: inout SQLiteConnection) throws(StoreError) -> RenewalSessionTable {
        try RenewalSessionTable(
            find: connection.prepare("SELECT generation FROM renewal_session WHERE session = ?1 AND kept_until > ?2"),
            keep: connection.prepare(
                """
                INSERT INTO renewal_session (session, generation, kept_until) VALUES (?1, ?3, ?4)
                ON CONFLICT (session) DO UPDATE SET
                    generation = CASE WHEN kept_until > ?2 THEN max(generation, ?3) ELSE ?3 END,
                    kept_until = max(kept_until, ?4)
                """))
    }

    mutating func denial(of use: SessionTokenUse, at now: Int64) throws(StoreError) -> DecisionDenial? {
        let generation = try find.first(use.session, now) { row throws(StoreError) in try row.integer(at: 0) }
        guard let generation, generation > use.generation else { return nil }
        return .sessionSuperseded
    }

    mutating func keep(_ use: SessionTokenUse, at now: Int64) throws(StoreError) {
        try keep.run(use.session, now, use.generation, use.keptUntil)
    }
}
