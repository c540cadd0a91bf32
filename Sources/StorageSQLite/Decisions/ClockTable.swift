import ContentKeys
import Records

/// Writes the node's record of its clock.
struct ClockTable: ~Copyable {
    private var keep: SQLiteStatement
    private var accept: SQLiteStatement

    init(_ connection: inout SQLiteConnection) {
        // The operator may have accepted a time that the writer has not read yet. The writer's older record must not
        // undo it.
        keep = connection.statement(
            """
            INSERT INTO clock (id, settled, reference, standing, acceptance, accepted_offset) VALUES (1, ?1, ?2, ?3, ?4, ?5)
            ON CONFLICT (id) DO UPDATE SET settled = max(settled, ?1), reference = ?2, standing = ?3
                WHERE acceptance = ?4
            """)
        accept = connection.statement(
            """
            INSERT INTO clock (id, settled, reference, standing, acceptance, accepted_offset)
            VALUES (1, ?1, ?1, 'accepted', 1, ?2)
            ON CONFLICT (id) DO UPDATE SET settled = max(settled, ?1), reference = ?1, standing = 'accepted',
                acceptance = acceptance + 1, accepted_offset = ?2
            """)
    }

    mutating func keep(_ record: ClockRecord) throws(StoreError) {
        defer { keep.reset() }
        try keep.bind(record.settled, at: 1)
        try keep.bind(record.reference, at: 2)
        try keep.bind(record.standing, at: 3)
        try keep.bind(record.acceptance.number, at: 4)
        try keep.bind(record.acceptance.offset, at: 5)
        _ = try keep.step()
    }

    mutating func accept(_ time: Int64, offset: Int64) throws(StoreError) {
        try accept.run([time, offset])
    }
}

/// A connection that reads the node's record of its clock.
struct ClockReader: ~Copyable {
    private var select: SQLiteStatement
    private var newestBatch: SQLiteStatement
    private let connection: SQLiteConnection

    init(_ connection: consuming SQLiteConnection) throws(StoreError) {
        try connection.execute("PRAGMA query_only = ON")
        select = connection.statement(
            "SELECT settled, reference, standing, acceptance, accepted_offset FROM clock WHERE id = 1")
        newestBatch = connection.statement("SELECT at FROM ledger_batch ORDER BY first_sequence DESC LIMIT 1")
        self.connection = connection
    }

    /// The record of the clock; nil for a new store.
    ///
    /// A store of an older version has no record. The time of its newest ledger entry is used instead.
    mutating func record() throws(StoreError) -> ClockRecord? {
        defer { select.reset() }
        guard try select.step() else {
            return try newestTime().map { ClockRecord(settled: $0, reference: $0, standing: "") }
        }
        return ClockRecord(
            settled: try select.integer(at: 0), reference: try select.integer(at: 1), standing: try select.text(at: 2),
            acceptance: ClockAcceptance(number: try select.integer(at: 3), offset: try select.integer(at: 4)))
    }

    private mutating func newestTime() throws(StoreError) -> Int64? {
        defer { newestBatch.reset() }
        return try newestBatch.step() ? try newestBatch.integer(at: 0) : nil
    }
}
