import ContentKeys
import Records

/// Stores the generation of the newest token that each session has used.
struct RenewalSessionTable: ~Copyable {
    private var find: SQLiteStatement
    private var keep: SQLiteStatement

    init(_ connection: inout SQLiteConnection) {
        find = connection.statement("SELECT generation FROM renewal_session WHERE session = ?1 AND kept_until > ?2")
        keep = connection.statement(
            """
            INSERT INTO renewal_session (session, generation, kept_until) VALUES (?1, ?3, ?4)
            ON CONFLICT (session) DO UPDATE SET
                generation = CASE WHEN kept_until > ?2 THEN max(generation, ?3) ELSE ?3 END,
                kept_until = max(kept_until, ?4)
            """)
    }

    mutating func denial(of use: SessionTokenUse, at now: Int64) throws(StoreError) -> DecisionDenial? {
        defer { find.reset() }
        try find.bind(use.session, at: 1)
        try find.bind(now, at: 2)
        guard try find.step(), try find.integer(at: 0) > Int64(use.generation) else { return nil }
        return .sessionSuperseded
    }

    mutating func keep(_ use: SessionTokenUse, at now: Int64) throws(StoreError) {
        defer { keep.reset() }
        try keep.bind(use.session, at: 1)
        try keep.bind(now, at: 2)
        try keep.bind(Int64(use.generation), at: 3)
        try keep.bind(use.keptUntil, at: 4)
        _ = try keep.step()
    }
}
