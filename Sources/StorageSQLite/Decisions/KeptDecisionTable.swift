import ContentKeys
import Records

/// Keeps what decisions have spent while it may be missing from the nodes' shared database.
struct KeptDecisionTable: ~Copyable {
    private var insert, note, forget, tryWrite: SQLiteStatement

    static func prepare(on connection: inout SQLiteConnection) throws(StoreError) -> KeptDecisionTable {
        try KeptDecisionTable(
            insert: connection.prepare("INSERT INTO kept_decision (mark, body) VALUES (?1, ?2)"),
            note: connection.prepare("UPDATE kept_decision SET mark = ?1 WHERE number = ?2"),
            forget: connection.prepare(
                """
                DELETE FROM kept_decision WHERE number IN
                    (SELECT number FROM kept_decision WHERE mark < ?1 ORDER BY mark LIMIT 1024)
                """),
            tryWrite: connection.prepare(
                """
                INSERT INTO write_try (number, count) VALUES (1, 1)
                ON CONFLICT (number) DO UPDATE SET count = count + 1
                """))
    }

    mutating func keep(_ body: [UInt8], mark: Int64?) throws(StoreError) {
        try insert.run(mark, body)
    }

    mutating func note(_ numbers: [Int64], mark: Int64) throws(StoreError) {
        for number in numbers { try note.run(mark, number) }
    }

    /// Deletes at most 1,024 rows; the next call continues.
    mutating func forget(before mark: Int64) throws(StoreError) {
        try forget.run(mark)
    }

    /// Writes a row without meaning, to test whether the file can be written.
    mutating func tryToWrite() throws(StoreError) {
        try tryWrite.run()
    }
}

/// A connection that reads the kept decisions.
struct KeptDecisionReader: ~Copyable {
    private var owed, marked, latest: SQLiteStatement
    private let connection: SQLiteConnection

    static func prepare(on connection: consuming SQLiteConnection) throws(StoreError) -> KeptDecisionReader {
        try connection.execute("PRAGMA query_only = ON")
        return try KeptDecisionReader(
            owed: connection.prepare(
                "SELECT number, body FROM kept_decision WHERE mark IS NULL ORDER BY number LIMIT ?1"),
            marked: connection.prepare(
                """
                SELECT number, body FROM kept_decision
                WHERE number > ?2 AND mark >= ?1 ORDER BY number LIMIT ?3
                """),
            latest: connection.prepare("SELECT coalesce(max(mark), 0) FROM kept_decision"),
            connection: connection)
    }

    mutating func owed(limit: Int) throws(StoreError) -> [KeptDecision] {
        try owed.rows(limit, read: KeptDecision.init(reading:))
    }

    mutating func kept(from mark: Int64, behind number: Int64, limit: Int) throws(StoreError) -> [KeptDecision] {
        try marked.rows(mark, number, limit, read: KeptDecision.init(reading:))
    }

    mutating func latestMark() throws(StoreError) -> Int64 {
        try latest.readInteger()
    }
}

extension KeptDecision {
    /// Reads number and body.
    fileprivate init(reading row: borrowing SQLiteStatement) throws(StoreError) {
        let (number, body) = (try row.integer(at: 0), try row.bytes(at: 1))
        do {
            self.init(number: number, decision: try LicenseDecision(parsingSpending: body))
        } catch {
            throw .recordMalformed
        }
    }
}
