import ContentKeys
import Records

/// The rentals of subjects.
struct RentalTable: ~Copyable {
    private var find, keep, forget: SQLiteStatement

    static func prepare(on connection: inout SQLiteConnection) throws(StoreError) -> RentalTable {
        try RentalTable(
            find: connection.prepare("SELECT opened_at, first_play FROM rental WHERE name = ?1 AND kept_until > ?2"),
            keep: connection.prepare(
                """
                INSERT INTO rental (name, owner, content, opened_at, first_play, kept_until)
                VALUES (?1, ?2, ?3, ?4, ?5, ?6)
                ON CONFLICT (name) DO UPDATE SET
                    opened_at = ?4, first_play = ?5,
                    kept_until = CASE WHEN kept_until > ?7 THEN max(kept_until, ?6) ELSE ?6 END
                """),
            forget: connection.prepare("DELETE FROM rental WHERE owner = ?1 AND name = ?2 RETURNING 1"))
    }

    /// Returns a denial if the stored rental differs from what the claim expects. Rentals have ended by `now`.
    mutating func denial(of claim: RentalClaim, at now: Int64) throws(StoreError) -> DecisionDenial? {
        let known = try find.first(claim.name, now) { row throws(StoreError) in try RentalRecord(reading: row, at: 0) }
        return known == claim.known ? nil : .rentalDiffers(known)
    }

    mutating func keep(_ claim: RentalClaim, at now: Int64) throws(StoreError) {
        try keep.run(
            claim.name, claim.owner, claim.content, claim.record.openedAt, claim.record.firstPlay, claim.keptUntil,
            now)
    }

    /// Forgets a rental. Returns whether it was stored.
    mutating func forget(_ name: Pseudonym, of owner: Pseudonym) throws(StoreError) -> Bool {
        try forget.run(owner, name) > 0
    }
}
