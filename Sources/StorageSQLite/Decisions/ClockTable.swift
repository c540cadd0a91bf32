import ContentKeys
import Records

/// Writes the node's record of its clock.
struct ClockTable: ~Copyable {
    private var keep, accept: SQLiteStatement

    static func prepare(on connection: inout SQLiteConnection) throws(StoreError) -> ClockTable {
        try ClockTable(
            // The operator may have accepted a time that the writer has not read yet. The writer's older record must
            // not undo it.
            keep: connection.prepare(
                """
                INSERT INTO clock (id, settled, reference, standing, acceptance, accepted_offset)
                VALUES (1, ?1, ?2, ?3, ?4, ?5)
                ON CONFLICT (id) DO UPDATE SET settled = max(settled, ?1), reference = ?2, standing = ?3
                    WHERE acceptance = ?4
                """),
            accept: connection.prepare(
                """
                INSERT INTO clock (id, settled, reference, standing, acceptance, accepted_offset)
                VALUES (1, ?1, ?1, 'accepted', 1, ?2)
                ON CONFLICT (id) DO UPDATE SET settled = max(settled, ?1), reference = ?1, standing = 'accepted',
                    acceptance = acceptance + 1, accepted_offset = ?2
                """))
    }

    mutating func keep(_ record: ClockRecord) throws(StoreError) {
        try keep.run(
            record.settled, record.reference, record.standing, record.acceptance.number, record.acceptance.offset)
    }

    mutating func accept(_ time: Int64, offset: Int64) throws(StoreError) {
        try accept.run(time, offset)
    }
}

/// A connection that reads the node's record of its clock.
struct ClockReader: ~Copyable {
    private var select, newestBatch: SQLiteStatement
    private let connection: SQLiteConnection

    static func prepare(on connection: consuming SQLiteConnection) throws(StoreError) -> ClockReader {
        try connection.execute("PRAGMA query_only = ON")
        return try ClockReader(
            select: connection.prepare(
                "SELECT settled, reference, standing, acceptance, accepted_offset FROM clock WHERE id = 1"),
            newestBatch: connection.prepare("SELECT at FROM ledger_batch ORDER BY first_sequence DESC LIMIT 1"),
            connection: connection)
    }

    /// The record of the clock; nil for a new store. A store without a record that has ledger entries has the time of
    /// the newest one.
    mutating func record() throws(StoreError) -> ClockRecord? {
        let record = try select.first { row throws(StoreError) in
            ClockRecord(
                settled: try row.integer(at: 0), reference: try row.integer(at: 1), standing: try row.text(at: 2),
                acceptance: ClockAcceptance(number: try row.integer(at: 3), offset: try row.integer(at: 4)))
        }
        if let record { return record }
        return try newestBatch.first { row throws(StoreError) in
            let time = try row.integer(at: 0)
            return ClockRecord(settled: time, reference: time, standing: "")
        }
    }
}
