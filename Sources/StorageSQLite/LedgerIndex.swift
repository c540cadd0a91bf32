import ByteCoding
package import ContentKeys
package import Records

/// Finds the rows of a ledger by content, subject, token id, cookie or license.
///
/// The index is a file of its own beside the database, "PATH-ledger-index", so that updating it never delays the thread
/// that writes licenses. It may lag behind: it lacks the rows after `through`. It holds no data of its own, and is
/// rebuilt if it does not fit its ledger.
package struct LedgerIndex: ~Copyable {
    private var through, setThrough, insert, delete, postings, newestPostings: SQLiteStatement
    private(set) var connection: SQLiteConnection

    static func path(of databasePath: String) -> String { databasePath + "-ledger-index" }

    /// Whether a ledger has an index.
    package static func exists(for databasePath: String) -> Bool {
        do throws(StorageOpeningError) {
            return try DatabaseFile.exists(path(of: databasePath))
        } catch {
            return false
        }
    }

    /// Opens the index of a ledger, or creates it with mode 0600.
    package static func open(
        for databasePath: String, busyTimeoutMilliseconds: Int32 = 5000
    ) throws(StorageOpeningError) -> LedgerIndex {
        let path = path(of: databasePath)
        try DatabaseFile.prepare(path)
        return try wrap(StorageOpeningError.store) { () throws(StoreError) in
            var connection = try SQLiteConnection.open(path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
            try connection.useWriteAheadLog()
            // Rows that a power cut removes are indexed again.
            try connection.execute("PRAGMA synchronous = NORMAL")
            try connection.execute(schema)
            return try .prepare(on: connection)
        }
    }

    private static let schema: StaticString = """
        CREATE TABLE IF NOT EXISTS progress (
            id INTEGER NOT NULL PRIMARY KEY CHECK (id = 1),
            through INTEGER NOT NULL,
            mark INTEGER NOT NULL
        ) STRICT;
        CREATE TABLE IF NOT EXISTS posting (
            term INTEGER NOT NULL,
            sequence INTEGER NOT NULL,
            PRIMARY KEY (term, sequence)
        ) STRICT, WITHOUT ROWID;
        """

    private static func prepare(on connection: consuming SQLiteConnection) throws(StoreError) -> LedgerIndex {
        try LedgerIndex(
            through: connection.prepare("SELECT through, mark FROM progress WHERE id = 1"),
            setThrough: connection.prepare(
                """
                INSERT INTO progress (id, through, mark) VALUES (1, ?1, ?2)
                ON CONFLICT (id) DO UPDATE SET through = ?1, mark = ?2
                """),
            insert: connection.prepare("INSERT INTO posting (term, sequence) VALUES (?1, ?2) ON CONFLICT DO NOTHING"),
            delete: connection.prepare("DELETE FROM posting WHERE term = ?1 AND sequence = ?2"),
            postings: connection.prepare(
                """
                SELECT sequence FROM posting
                WHERE term = ?1 AND sequence BETWEEN ?2 AND ?3 ORDER BY sequence LIMIT ?4
                """),
            newestPostings: connection.prepare(
                """
                SELECT sequence FROM posting
                WHERE term = ?1 AND sequence BETWEEN ?2 AND ?3 ORDER BY sequence DESC LIMIT ?4
                """),
            connection: connection)
    }

    /// Returns the last sequence that is indexed; 0 if the index belongs to another ledger. The mark of that row shows
    /// which ledger it is.
    package mutating func indexedSequence(of ledger: inout LedgerReader) throws(StoreError) -> Int64 {
        guard let (sequence, mark) = try progress() else { return 0 }
        guard let row = try ledger.rows(sequence...sequence, limit: 1).first else {
            // The row was purged after it was indexed, which is allowed, or the index belongs to another ledger.
            let isPurged =
                if let rows = try ledger.sequences() { rows.lowerBound > sequence } else {
                    try ledger.link().sequence >= sequence
                }
            return isPurged ? sequence : 0
        }
        return row.mark == mark ? sequence : 0
    }

    /// Indexes at most `limit` further rows in one transaction. Returns their number.
    package mutating func catchUp(with ledger: inout LedgerReader, limit: Int) throws(StoreError) -> Int {
        let sequence = try indexedSequence(of: &ledger)
        if sequence == 0 { try connection.execute("DELETE FROM posting; DELETE FROM progress") }
        let rows = try ledger.rows(sequence + 1 ... .max, limit: limit)
        guard let last = rows.last else { return 0 }
        // The postings are sorted in the order of the tree, so that the transaction walks the tree once.
        var postings = rows.flatMap { row in row.terms.map { (term: $0.value, sequence: row.sequence) } }
        postings.sort { ($0.term, $0.sequence) < ($1.term, $1.sequence) }
        try transaction { index throws(StoreError) in
            for posting in postings { try index.insert.run(posting.term, posting.sequence) }
            try index.setThrough.run(last.sequence, last.mark)
        }
        return rows.count
    }

    /// Removes the postings of rows that were purged.
    package mutating func remove(_ rows: [LedgerRow]) throws(StoreError) {
        try transaction { index throws(StoreError) in
            for row in rows {
                for term in row.terms { try index.delete.run(term.value, row.sequence) }
            }
        }
    }

    /// Returns the sequences of rows that may have this term, in ascending order.
    package mutating func sequences(
        of term: LedgerTerm, in range: ClosedRange<Int64>, limit: Int
    ) throws(StoreError) -> [Int64] {
        try postings.rows(term.value, range.lowerBound, range.upperBound, limit) { row throws(StoreError) in
            try row.integer(at: 0)
        }
    }

    /// Returns the sequences of rows that may have this term, in descending order.
    mutating func newestSequences(
        of term: LedgerTerm, in range: ClosedRange<Int64>, limit: Int
    ) throws(StoreError) -> [Int64] {
        try newestPostings.rows(term.value, range.lowerBound, range.upperBound, limit) { row throws(StoreError) in
            try row.integer(at: 0)
        }
    }

    private mutating func progress() throws(StoreError) -> (sequence: Int64, mark: Int64)? {
        try through.first { row throws(StoreError) in (try row.integer(at: 0), try row.integer(at: 1)) }
    }

    private mutating func transaction(
        _ body: (inout LedgerIndex) throws(StoreError) -> Void
    ) throws(StoreError) {
        try connection.beginImmediate()
        do throws(StoreError) {
            try body(&self)
            try connection.commit()
        } catch {
            connection.rollBack()
            throw error
        }
    }
}

extension LedgerRow {
    /// The terms of the row; empty if this version cannot read the row.
    fileprivate var terms: [LedgerTerm] {
        do throws(LedgerEntryError) {
            return try LedgerEntry(parsing: body).terms
        } catch {
            return []
        }
    }

    /// A number that differs from the one of a row at the same sequence of another ledger.
    fileprivate var mark: Int64 { LedgerTerm(mark: body).value }
}
