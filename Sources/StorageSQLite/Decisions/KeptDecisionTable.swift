import ContentKeys
import Records

/// Keeps what decisions have spent while it may be missing from the nodes' shared database.
struct KeptDecisionTable: ~Copyable {
    private var insert: SQLiteStatement
    private var note: SQLiteStatement
    private var forget: SQLiteStatement
    private var tryWrite: SQLiteStatement

    init(_ connection: inout SQLiteConnection) {
        insert = connection.statement("INSERT INTO kept_decision (mark, body, additions) VALUES (?1, ?2, ?3)")
        note = connection.statement("UPDATE kept_decision SET mark = ?1 WHERE number = ?2")
        forget = connection.statement(
            """
            DELETE FROM kept_decision WHERE number IN
                (SELECT number FROM kept_decision WHERE mark < ?1 ORDER BY mark LIMIT 1024)
            """)
        tryWrite = connection.statement(
            "INSERT INTO write_try (number, count) VALUES (1, 1) ON CONFLICT (number) DO UPDATE SET count = count + 1")
    }

    mutating func keep(_ body: [UInt8], _ additions: [UInt8]?, mark: Int64?) throws(StoreError) {
        defer { insert.reset() }
        try insert.bind(mark, at: 1)
        try insert.bind(body, at: 2)
        try insert.bind(optional: additions, at: 3)
        _ = try insert.step()
    }

    mutating func note(_ numbers: [Int64], mark: Int64) throws(StoreError) {
        for number in numbers { try note.run([mark, number]) }
    }

    /// Deletes at most 1,024 rows; the next call continues.
    mutating func forget(before mark: Int64) throws(StoreError) {
        try forget.run([mark])
    }

    /// Writes a row without meaning, to test whether the file can be written.
    mutating func tryToWrite() throws(StoreError) {
        try tryWrite.run([])
    }
}

/// A connection that reads the kept decisions.
struct KeptDecisionReader: ~Copyable {
    private var owed: SQLiteStatement
    private var marked: SQLiteStatement
    private var latest: SQLiteStatement
    private let connection: SQLiteConnection

    init(_ connection: consuming SQLiteConnection) throws(StoreError) {
        try connection.execute("PRAGMA query_only = ON")
        owed = connection.statement(
            "SELECT number, body, additions FROM kept_decision WHERE mark IS NULL ORDER BY number LIMIT ?1")
        marked = connection.statement(
            "SELECT number, body, additions FROM kept_decision WHERE number > ?2 AND mark >= ?1 ORDER BY number LIMIT ?3"
        )
        latest = connection.statement("SELECT coalesce(max(mark), 0) FROM kept_decision")
        self.connection = connection
    }

    mutating func owed(limit: Int) throws(StoreError) -> [KeptDecision] {
        try owed.bind(Int64(limit), at: 1)
        return try Self.read(&owed)
    }

    mutating func kept(from mark: Int64, behind number: Int64, limit: Int) throws(StoreError) -> [KeptDecision] {
        try marked.bind(mark, at: 1)
        try marked.bind(number, at: 2)
        try marked.bind(Int64(limit), at: 3)
        return try Self.read(&marked)
    }

    mutating func latestMark() throws(StoreError) -> Int64 {
        defer { latest.reset() }
        guard try latest.step() else { throw .recordMalformed }
        return try latest.integer(at: 0)
    }

    private static func read(_ select: inout SQLiteStatement) throws(StoreError) -> [KeptDecision] {
        defer { select.reset() }
        var found: [KeptDecision] = []
        while try select.step() {
            let (number, body) = (try select.integer(at: 0), try select.bytes(at: 1))
            let additions = select.isNull(at: 2) ? nil : try select.bytes(at: 2)
            do {
                var decision = try LicenseDecision(parsingSpending: body)
                if let additions { try decision.add(parsingAdditions: additions) }
                found.append(KeptDecision(number: number, decision: decision))
            } catch {
                throw .recordMalformed
            }
        }
        return found
    }
}
