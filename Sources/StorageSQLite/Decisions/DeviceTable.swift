import ContentKeys
import Records

/// The devices of owners.
struct DeviceTable: ~Copyable {
    private var find: SQLiteStatement
    private var count: SQLiteStatement
    private var keep: SQLiteStatement

    init(_ connection: inout SQLiteConnection) throws(StoreError) {
        let find = try connection.prepare("SELECT 1 FROM device WHERE owner = ?1 AND device = ?2 AND kept_until > ?3")
        let count = try connection.prepare("SELECT count(*) FROM device WHERE owner = ?1 AND kept_until > ?2")
        let keep = try connection.prepare(
            """
            INSERT INTO device (owner, device, kept_until) VALUES (?1, ?2, ?4)
            ON CONFLICT (owner, device) DO UPDATE SET
                kept_until = CASE WHEN kept_until > ?3 THEN max(kept_until, ?4) ELSE ?4 END
            """)
        self.find = find
        self.count = count
        self.keep = keep
    }

    /// The first denial among places that are taken together.
    mutating func denial(of places: [DevicePlace], at now: Int64) throws(StoreError) -> DecisionDenial? {
        var taken: [DevicePlace] = []
        for place in places {
            if taken.contains(where: { $0.owner == place.owner && $0.device == place.device }) { continue }
            if try hasPlace(place, at: now) { continue }
            let count = try placeCount(of: place.owner, at: now) + taken.count { $0.owner == place.owner }
            guard count < Int(place.limit) else { return .deviceLimit(limit: place.limit) }
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

    mutating func keep(_ place: DevicePlace, at now: Int64) throws(StoreError) {
        defer { keep.reset() }
        try keep.bind(place.owner, at: 1)
        try keep.bind(place.device, at: 2)
        try keep.bind(now, at: 3)
        try keep.bind(place.keptUntil ?? .max, at: 4)
        _ = try keep.step()
    }
}
