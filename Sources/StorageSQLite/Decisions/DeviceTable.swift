import ContentKeys
import Records

/// The devices of owners.
struct DeviceTable: ~Copyable {
    private var find: SQLiteStatement
    private var count: SQLiteStatement
    private var keep: SQLiteStatement
    private var removeOldest: SQLiteStatement
    private var remove: SQLiteStatement

    init(_ connection: inout SQLiteConnection) {
        find = connection.statement("SELECT 1 FROM device WHERE owner = ?1 AND device = ?2 AND kept_until > ?3")
        count = connection.statement("SELECT count(*) FROM device WHERE owner = ?1 AND kept_until > ?2")
        keep = connection.statement(
            """
            INSERT INTO device (owner, device, kept_until, added_at, seen_at) VALUES (?1, ?2, ?4, ?5, ?5)
            ON CONFLICT (owner, device) DO UPDATE SET
                added_at = CASE WHEN kept_until > ?3 THEN added_at ELSE ?5 END, seen_at = ?5,
                kept_until = CASE WHEN kept_until > ?3 THEN max(kept_until, ?4) ELSE ?4 END
            """)
        // A device without a time is older than all others.
        removeOldest = connection.statement(
            """
            DELETE FROM device WHERE owner = ?1 AND device = (
                SELECT device FROM device WHERE owner = ?1 AND kept_until > ?2
                ORDER BY added_at, kept_until, device LIMIT 1)
            """)
        remove = connection.statement("DELETE FROM device WHERE owner = ?1 AND device = ?2 RETURNING 1")
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
        defer { find.reset() }
        try find.bind(place.owner, at: 1)
        try find.bind(place.device, at: 2)
        try find.bind(now, at: 3)
        return try find.step()
    }

    private mutating func placeCount(of owner: Pseudonym, at now: Int64) throws(StoreError) -> Int {
        defer { count.reset() }
        try count.bind(owner, at: 1)
        try count.bind(now, at: 2)
        guard try count.step() else { throw .recordMalformed }
        return Int(try count.integer(at: 0))
    }

    /// Places have ended by `now`; `decidedAt` is the time of the decision.
    mutating func keep(_ place: DevicePlace, at now: Int64, decidedAt: Int64) throws(StoreError) {
        if place.kind == .replacing { try makeRoom(for: place, at: now) }
        defer { keep.reset() }
        try keep.bind(place.owner, at: 1)
        try keep.bind(place.device, at: 2)
        try keep.bind(now, at: 3)
        try keep.bind(place.keptUntil ?? .max, at: 4)
        try keep.bind(decidedAt, at: 5)
        _ = try keep.step()
    }

    private mutating func makeRoom(for place: DevicePlace, at now: Int64) throws(StoreError) {
        guard place.limit > 0, try !hasPlace(place, at: now) else { return }
        var surplus = try placeCount(of: place.owner, at: now) + 1 - Int(place.limit)
        while surplus > 0 {
            defer { removeOldest.reset() }
            try removeOldest.bind(place.owner, at: 1)
            try removeOldest.bind(now, at: 2)
            _ = try removeOldest.step()
            surplus -= 1
        }
    }

    /// Frees a place. Returns whether the device had one.
    mutating func remove(_ device: Pseudonym, of owner: Pseudonym) throws(StoreError) -> Bool {
        defer { remove.reset() }
        try remove.bind(owner, at: 1)
        try remove.bind(device, at: 2)
        return try remove.step()
    }
}
