import ContentKeys
import Records

/// The rentals of subjects.
struct RentalTable: ~Copyable {
    private var find: SQLiteStatement
    private var keep: SQLiteStatement
    private var forget: SQLiteStatement

    init(_ connection: inout SQLiteConnection) {
        find = connection.statement("SELECT opened_at, first_play FROM rental WHERE name = ?1 AND kept_until > ?2")
        keep = connection.statement(
            """
            INSERT INTO rental (name, owner, content, opened_at, first_play, kept_until) VALUES (?1, ?2, ?3, ?4, ?5, ?6)
            ON CONFLICT (name) DO UPDATE SET
                opened_at = ?4, first_play = ?5,
                kept_until = CASE WHEN kept_until > ?7 THEN max(kept_until, ?6) ELSE ?6 END
            """)
        forget = connection.statement("DELETE FROM rental WHERE owner = ?1 AND name = ?2 RETURNING 1")
    }

    /// Returns a denial if the stored rental differs from what the claim expects. Rentals have ended by `now`.
    mutating func denial(of claim: RentalClaim, at now: Int64) throws(StoreError) -> DecisionDenial? {
        defer { find.reset() }
        try find.bind(claim.name, at: 1)
        try find.bind(now, at: 2)
        let known = try find.step() ? try RentalRecord(reading: find, at: 0) : nil
        return known == claim.known ? nil : .rentalDiffers(known)
    }

    mutating func keep(_ claim: RentalClaim, at now: Int64) throws(StoreError) {
        defer { keep.reset() }
        try keep.bind(claim.name, at: 1)
        try keep.bind(claim.owner, at: 2)
        try keep.bind(claim.content, at: 3)
        try keep.bind(claim.record.openedAt, at: 4)
        try keep.bind(claim.record.firstPlay, at: 5)
        try keep.bind(claim.keptUntil, at: 6)
        try keep.bind(now, at: 7)
        _ = try keep.step()
    }

    /// Forgets a rental. Returns whether it was stored.
    mutating func forget(_ name: Pseudonym, of owner: Pseudonym) throws(StoreError) -> Bool {
        defer { forget.reset() }
        try forget.bind(owner, at: 1)
        try forget.bind(name, at: 2)
        return try forget.step()
    }
}

extension RentalRecord {
    /// Reads the opening and the first play from two columns.
    init(reading row: borrowing SQLiteStatement, at column: Int32) throws(StoreError) {
        self.init(
            openedAt: try row.integer(at: column),
            firstPlay: row.isNull(at: column + 1) ? nil : try row.integer(at: column + 1))
    }
}
