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

    /// The first denial among claims that are made together.
    mutating func denial(of claims: [DeviceClaim], at now: Int64) throws(StoreError) -> DecisionDenial? {
        var taken: [DeviceClaim] = []
        for claim in claims {
            if taken.contains(where: { $0.owner == claim.owner && $0.device == claim.device }) { continue }
            if try hasPlace(claim, at: now) { continue }
            let count = try placeCount(of: claim.owner, at: now) + taken.count { $0.owner == claim.owner }
            guard count < Int(claim.limit) else { return .deviceLimit(limit: claim.limit) }
            if claim.keptUntil ?? .max > now { taken.append(claim) }
        }
        return nil
    }

    private mutating func hasPlace(_ claim: DeviceClaim, at now: Int64) throws(StoreError) -> Bool {
        defer { find.reset() }
        try find.bind(claim.owner, at: 1)
        try find.bind(claim.device, at: 2)
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

    mutating func keep(_ claim: DeviceClaim, at now: Int64) throws(StoreError) {
        defer { keep.reset() }
        try keep.bind(claim.owner, at: 1)
        try keep.bind(claim.device, at: 2)
        try keep.bind(now, at: 3)
        try keep.bind(claim.keptUntil ?? .max, at: 4)
        _ = try keep.step()
    }
}
