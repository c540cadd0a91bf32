import ContentKeys
import Records

/// A connection that reads a subject's devices, playbacks and rentals.
struct AccountReader: ~Copyable {
    private var devices: SQLiteStatement
    private var playbacks: SQLiteStatement
    private var rentals: SQLiteStatement
    private var rental: SQLiteStatement
    private let connection: SQLiteConnection

    init(_ connection: consuming SQLiteConnection) throws(StoreError) {
        try connection.execute("PRAGMA query_only = ON")
        devices = connection.statement(
            """
            SELECT device, added_at, seen_at, kept_until FROM device
            WHERE owner = ?1 AND device > ?2 AND kept_until > ?3 ORDER BY device LIMIT ?4
            """)
        playbacks = connection.statement(
            """
            SELECT slot.playback_group, number, slot_group.name, device, playback, content_name.name, is_counted,
                is_confirmed, slot.held_until
            FROM slot_group CROSS JOIN slot ON slot.playback_group = slot_group.playback_group
                LEFT JOIN content_name ON content_name.content = slot.content
            WHERE owner = ?1 AND (slot.playback_group, number) > (?2, ?3) AND slot.held_until > ?4
            ORDER BY slot.playback_group, number LIMIT ?5
            """)
        rentals = connection.statement(
            """
            SELECT name, content, opened_at, first_play, kept_until FROM rental
            WHERE owner = ?1 AND name > ?2 AND kept_until > ?3 ORDER BY name LIMIT ?4
            """)
        rental = connection.statement("SELECT opened_at, first_play FROM rental WHERE name = ?1 AND kept_until > ?2")
        self.connection = connection
    }

    /// Returns devices whose place has not ended by `now`. The methods below use `now` in the same way.
    mutating func devices(
        of owner: Pseudonym, after: Pseudonym?, at now: Int64, limit: Int
    ) throws(StoreError) -> [KnownDevice] {
        defer { devices.reset() }
        try devices.bind(owner, at: 1)
        try devices.bind(after?.bytes ?? [], at: 2)
        try devices.bind(now, at: 3)
        try devices.bind(Int64(limit), at: 4)
        var found: [KnownDevice] = []
        while try devices.step() {
            let end = try devices.integer(at: 3)
            found.append(
                KnownDevice(
                    device: try devices.pseudonym(at: 0), addedAt: try devices.optionalInteger(at: 1),
                    seenAt: try devices.optionalInteger(at: 2), keptUntil: end == .max ? nil : end))
        }
        return found
    }

    mutating func playbacks(
        of owner: Pseudonym, after: PlaybackPosition?, at now: Int64, limit: Int
    ) throws(StoreError) -> [KnownPlayback] {
        defer { playbacks.reset() }
        try playbacks.bind(owner, at: 1)
        try playbacks.bind(after?.group.bytes ?? [], at: 2)
        try playbacks.bind(after?.number ?? 0, at: 3)
        try playbacks.bind(now, at: 4)
        try playbacks.bind(Int64(limit), at: 5)
        var found: [KnownPlayback] = []
        while try playbacks.step() {
            found.append(
                KnownPlayback(
                    position: PlaybackPosition(
                        group: try playbacks.pseudonym(at: 0), number: try playbacks.integer(at: 1)),
                    groupName: try playbacks.text(at: 2), device: try playbacks.pseudonym(at: 3),
                    session: PlaybackName(bytes: try playbacks.bytes(at: 4)).session,
                    content: playbacks.isNull(at: 5) ? nil : try playbacks.text(at: 5),
                    isCounted: try playbacks.integer(at: 6) != 0, isConfirmed: try playbacks.integer(at: 7) != 0,
                    heldUntil: try playbacks.integer(at: 8)))
        }
        return found
    }

    mutating func rentals(
        of owner: Pseudonym, after: Pseudonym?, at now: Int64, limit: Int
    ) throws(StoreError) -> [KnownRental] {
        defer { rentals.reset() }
        try rentals.bind(owner, at: 1)
        try rentals.bind(after?.bytes ?? [], at: 2)
        try rentals.bind(now, at: 3)
        try rentals.bind(Int64(limit), at: 4)
        var found: [KnownRental] = []
        while try rentals.step() {
            found.append(
                KnownRental(
                    name: try rentals.pseudonym(at: 0), content: try rentals.text(at: 1),
                    record: try RentalRecord(reading: rentals, at: 2), keptUntil: try rentals.integer(at: 4)))
        }
        return found
    }

    mutating func rental(_ name: Pseudonym, at now: Int64) throws(StoreError) -> RentalRecord? {
        defer { rental.reset() }
        try rental.bind(name, at: 1)
        try rental.bind(now, at: 2)
        return try rental.step() ? try RentalRecord(reading: rental, at: 0) : nil
    }
}

extension SQLiteStatement {
    fileprivate func pseudonym(at column: Int32) throws(StoreError) -> Pseudonym {
        guard let pseudonym = Pseudonym(try bytes(at: column)) else { throw .recordMalformed }
        return pseudonym
    }

    fileprivate func optionalInteger(at column: Int32) throws(StoreError) -> Int64? {
        isNull(at: column) ? nil : try integer(at: column)
    }
}

extension PlaybackName {
    /// The playback session; nil if the playback is identified by its content.
    fileprivate var session: UInt64? { bytes.count == 8 ? bytes.reduce(0) { $0 << 8 | UInt64($1) } : nil }
}
