import ContentKeys
import Records

/// The devices of owners.
struct DeviceTable: ~Copyable {
    private var find, count, keep, removeOldest, remove: SQLiteStatement

    static func prepare(on connection: inout SQLiteConnection) throws(StoreError) -> DeviceTable {
        try DeviceTable(
            find: connection.prepare("SELECT 1 FROM device WHERE owner = ?1 AND device = ?2 AND kept_until > ?3"),
            count: connection.prepare("SELECT count(*) FROM device WHERE owner = ?1 AND kept_until > ?2"),
            keep: connection.prepare(
                """
                INSERT INTO device (owner, device, kept_until, added_at, seen_at) VALUES (?1, ?2, ?4, ?5, ?5)
                ON CONFLICT (owner, device) DO UPDATE SET
                    added_at = CASE WHEN kept_until > ?3 THEN added_at ELSE ?5 END, seen_at = ?5,
                    kept_until = CASE WHEN kept_until > ?3 THEN max(kept_until, ?4) ELSE ?4 END
                """),
            // A device without a time is older than all others.
            removeOldest: connection.prepare(
                """
                DELETE FROM device WHERE owner = ?1 AND device = (
                    SELECT device FROM device WHERE owner = ?1 AND kept_until > ?2
                    ORDER BY added_at, kept_until, device LIMIT 1)
                """),
            remove: connection.prepare("DELETE FROM device WHERE owner = ?1 AND device = ?2 RETURNING 1"))
    }

    /// Returns the first denial among places that are taken together; nil if all are granted.
    mutating func denial(of places: [DevicePlace], at now: Int64) throws(StoreError) -> DecisionDenial? {
        var taken: [DevicePlace] = []
        for place in places {
            if taken.contains(where: { $0.owner == place.owner && $0.device == place.device }) { continue }
            if try hasPlace(place, at: now) { continue }
            if place.kind == .replacing, place.limit > 0 { continue }
            let count = try placeCount(of: place.owner, at: now) + taken.count { $0.owner == place.owner }
            guard count < Int(place.limit) else { return place.denial }
            if place.keptUntil ?? .max > now { taken.append(place) }
        }
        return nil
    }

    private mutating func hasPlace(_ place: DevicePlace, at now: Int64) throws(StoreError) -> Bool {
        try find.run(place.owner, place.device, now) > 0
    }

    private mutating func placeCount(of owner: Pseudonym, at now: Int64) throws(StoreError) -> Int {
        Int(try count.readInteger(owner, now))
    }

    /// Places have ended by `now`; `decidedAt` is the time of the decision.
    mutating func keep(_ place: DevicePlace, at now: Int64, decidedAt: Int64) throws(StoreError) {
        if place.kind == .replacing { try makeRoom(for: place, at: now) }
        try keep.run(place.owner, place.device, now, place.keptUntil ?? .max, decidedAt)
    }

    private mutating func makeRoom(for place: DevicePlace, at now: Int64) throws(StoreError) {
        guard place.limit > 0, try !hasPlace(place, at: now) else { return }
        var surplus = try placeCount(of: place.owner, at: now) + 1 - Int(place.limit)
        while surplus > 0 {
            try removeOldest.run(place.owner, now)
            surplus -= 1
        }
    }

    /// Frees a place. Returns whether the device had one.
    mutating func remove(_ device: Pseudonym, of owner: Pseudonym) throws(StoreError) -> Bool {
        try remove.run(owner, device) > 0
    }
}
