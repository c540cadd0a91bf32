import ContentKeys
import Records

/// A connection that reads a subject's devices, playbacks and rentals.
struct AccountReader: ~Copyable {
    private var devices, playbacks, rentals, rental: SQLiteStatement
    private let connection: SQLiteConnection

    static func prepare(on connection: consuming SQLiteConnection) throws(StoreError) -> AccountReader {
        try connection.execute("PRAGMA query_only = ON")
        return try AccountReader(
            devices: connection.prepare(
                """
                SELECT device, added_at, seen_at, kept_until FROM device
                WHERE owner = ?1 AND device > ?2 AND kept_until > ?3 ORDER BY device LIMIT ?4
                """),
            playbacks: connection.prepare(
                """
                SELECT slot.playback_group, number, slot_group.name, device, playback, content_name.name, is_counted,
                    is_confirmed, slot.held_until
                FROM slot_group CROSS JOIN slot ON slot.playback_group = slot_group.playback_group
                    LEFT JOIN content_name ON content_name.content = slot.content
                WHERE owner = ?1 AND (slot.playback_group, number) > (?2, ?3) AND slot.held_until > ?4
                ORDER BY slot.playback_group, number LIMIT ?5
                """),
            rentals: connection.prepare(
                """
                SELECT name, content, opened_at, first_play, kept_until FROM rental
                WHERE owner = ?1 AND name > ?2 AND kept_until > ?3 ORDER BY name LIMIT ?4
                """),
            rental: connection.prepare("SELECT opened_at, first_play FROM rental WHERE name = ?1 AND kept_until > ?2"),
            connection: connection)
    }

    /// Returns devices whose place has not ended by `now`. The methods below use `now` in the same way.
    mutating func devices(
        of owner: Pseudonym, after: Pseudonym?, at now: Int64, limit: Int
    ) throws(StoreError) -> [KnownDevice] {
        try devices.rows(owner, after?.bytes ?? [], now, limit, read: KnownDevice.init(reading:))
    }

    mutating func playbacks(
        of owner: Pseudonym, after: PlaybackPosition?, at now: Int64, limit: Int
    ) throws(StoreError) -> [KnownPlayback] {
        try playbacks.rows(owner, after?.group.bytes ?? [], after?.number ?? 0, now, limit) { row throws(StoreError) in
            KnownPlayback(
                position: PlaybackPosition(group: try row.pseudonym(at: 0), number: try row.integer(at: 1)),
                groupName: try row.text(at: 2), device: try row.pseudonym(at: 3),
                session: PlaybackName(bytes: try row.bytes(at: 4)).session, content: try row.optionalText(at: 5),
                isCounted: try row.boolean(at: 6), isConfirmed: try row.boolean(at: 7),
                heldUntil: try row.integer(at: 8))
        }
    }

    mutating func rentals(
        of owner: Pseudonym, after: Pseudonym?, at now: Int64, limit: Int
    ) throws(StoreError) -> [KnownRental] {
        try rentals.rows(owner, after?.bytes ?? [], now, limit, read: KnownRental.init(reading:))
    }

    mutating func rental(_ name: Pseudonym, at now: Int64) throws(StoreError) -> RentalRecord? {
        try rental.first(name, now) { row throws(StoreError) in try RentalRecord(reading: row, at: 0) }
    }
}

extension PlaybackName {
    /// The playback session; nil if the playback is identified by its content.
    fileprivate var session: UInt64? { bytes.count == 8 ? bytes.reduce(0) { $0 << 8 | UInt64($1) } : nil }
}
