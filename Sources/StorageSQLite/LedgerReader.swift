package import ContentKeys
import KeyCrypto
package import Records

/// Reads the ledger in a node's database file, while the daemon may be writing to it.
package struct LedgerReader: ~Copyable {
    private var tables: LedgerSelects
    private var ends: SQLiteStatement
    private(set) var connection: SQLiteConnection

    /// Opens an existing file for reading. Throws `ledgerMissing` if it holds no ledger.
    package static func open(
        path: String, busyTimeoutMilliseconds: Int32 = 5000
    ) throws(StorageOpeningError) -> LedgerReader {
        try DatabaseFile.checkPermissions(path)
        return try StorageOpeningError.opening(path) { () throws(StoreError) in
            var connection = try SQLiteConnection.open(path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
            try connection.execute("PRAGMA query_only = ON")
            return try LedgerReader(connection)
        }
    }

    init(_ connection: consuming SQLiteConnection) throws(StoreError) {
        // Whole values first and fields after: a value that is not copyable cannot be abandoned half made.
        let tables = try LedgerSelects(&connection)
        // Two look-ups in the tree. Both functions in one SELECT would read every row.
        let ends = try connection.prepare(
            "SELECT (SELECT min(sequence) FROM ledger_entry), (SELECT max(sequence) FROM ledger_entry)")
        self.tables = tables
        self.ends = ends
        self.connection = connection
    }

    /// What is read until `endSnapshot` is of one moment, even if rows are written meanwhile.
    mutating func beginSnapshot() throws(StoreError) {
        try connection.execute("BEGIN")
    }

    mutating func endSnapshot() {
        connection.rollBack()
    }

    /// The batches from this first sequence on, in their order; the beginning is no batch.
    package mutating func batches(from first: Int64, limit: Int) throws(StoreError) -> [LedgerBatch] {
        try tables.batches(from: max(first, 1), limit: limit)
    }

    /// The last batch whose first sequence is at most `sequence`; the beginning if there is no other.
    package mutating func batch(atOrBefore sequence: Int64) throws(StoreError) -> LedgerBatch? {
        try tables.batches(atOrBefore: sequence, limit: 1).first
    }

    /// What stands in the place of purged batches.
    package mutating func beginning() throws(StoreError) -> LedgerBatch? {
        try tables.batches(atOrBefore: 0, limit: 1).first
    }

    /// To what the next batch is tied.
    package mutating func link() throws(StoreError) -> LedgerLink {
        try tables.link()
    }

    /// Rows in the order of their sequences.
    package mutating func rows(_ range: ClosedRange<Int64>, limit: Int) throws(StoreError) -> [LedgerRow] {
        try tables.rows(range, limit: limit)
    }

    /// The first and the last sequence; nil for an empty ledger.
    package mutating func sequences() throws(StoreError) -> ClosedRange<Int64>? {
        defer { ends.reset() }
        guard try ends.step(), !ends.isNull(at: 0) else { return nil }
        let (first, last) = (try ends.integer(at: 0), try ends.integer(at: 1))
        return first...last
    }
}

extension StorageOpeningError {
    /// Opens what needs the tables of a ledger: without them SQLite cannot prepare a statement, and gives its general
    /// error.
    fileprivate static func opening<Result: ~Copyable>(
        _ path: String, _ body: () throws(StoreError) -> Result
    ) throws(StorageOpeningError) -> Result {
        do {
            return try body()
        } catch .unavailable(.other(code: 1)) {
            throw .ledgerMissing(path: path)
        } catch {
            throw .store(error)
        }
    }
}

extension LedgerReader {
    /// How many rows are read at once.
    private static let pageSize = 1000

    /// What queries find, the newest first: at most `limit` rows that the index has for each query, and what fits among
    /// the last `tailMaximum` rows that it has not got yet. So the cost is bounded however large the ledger is.
    ///
    /// A query without anything that an index finds it by finds nothing but what is in the tail.
    package mutating func newest(
        _ queries: [LedgerQuery], index: inout LedgerIndex, limit: Int, tailMaximum: Int
    ) throws(StoreError) -> [LedgerFind] {
        guard let all = try sequences() else { return [] }
        let indexed = try index.indexedSequence(of: &self)
        var found: [Int64: LedgerEntry] = [:]
        var next = max(indexed + 1, all.upperBound - Int64(tailMaximum) + 1, all.lowerBound)
        while next <= all.upperBound {
            let page = try rows(next...all.upperBound, limit: Self.pageSize)
            for row in page { Self.keep(row, queries, in: &found) }
            guard let last = page.last, page.count == Self.pageSize, last.sequence < .max else { break }
            next = last.sequence + 1
        }
        for query in queries {
            guard let term = query.term, indexed >= all.lowerBound else { continue }
            for sequence in try index.newestSequences(of: term, in: all.lowerBound...indexed, limit: limit) {
                for row in try rows(sequence...sequence, limit: 1) { Self.keep(row, [query], in: &found) }
            }
        }
        return found.sorted { $0.key > $1.key }.map { LedgerFind(sequence: $0.key, entry: $0.value) }
    }

    /// Rows that this version cannot read are passed over: verification names them.
    private static func keep(_ row: LedgerRow, _ queries: [LedgerQuery], in found: inout [Int64: LedgerEntry]) {
        guard let entry = try? LedgerEntry(parsing: row.body), queries.contains(where: { $0.matches(entry) }) else {
            return
        }
        found[row.sequence] = entry
    }
}

/// What was found in a ledger.
package struct LedgerFind: Equatable, Sendable {
    package let sequence: Int64
    package let entry: LedgerEntry

    package init(sequence: Int64, entry: LedgerEntry) {
        self.sequence = sequence
        self.entry = entry
    }
}

extension LedgerReader {
    /// Hands over what a query finds, in the order of sequences, until `visit` gives false. `progress` hears now and
    /// then how many rows have been looked at.
    ///
    /// With an index, rows that it has are found by the rarest thing that the query names; the rest of the ledger is
    /// read. Rows that this version cannot read are passed over: verification names them.
    package mutating func find(
        _ query: LedgerQuery, index: consuming LedgerIndex?, progress: (Int) -> Void = { _ in },
        visit: (LedgerFind) throws -> Bool
    ) throws {
        guard let range = try sequences(from: query.from, to: query.to) else { return }
        var start = range.lowerBound
        if var index, let term = query.term {
            let indexed = min(try index.indexedSequence(of: &self), range.upperBound)
            while start <= indexed {
                let sequences = try index.sequences(of: term, in: start...indexed, limit: Self.pageSize)
                for sequence in sequences {
                    let isWanted = try rows(sequence...sequence, limit: 1).allSatisfy {
                        try Self.visit($0, query, visit)
                    }
                    guard isWanted else { return }
                }
                start = sequences.count < Self.pageSize ? indexed + 1 : sequences[sequences.count - 1] + 1
            }
        }
        var count = 0
        while start <= range.upperBound {
            let page = try rows(start...range.upperBound, limit: Self.pageSize)
            guard try page.allSatisfy({ try Self.visit($0, query, visit) }) else { return }
            guard let last = page.last, page.count == Self.pageSize, last.sequence < .max else { return }
            start = last.sequence + 1
            count += page.count
            progress(count)
        }
    }

    private static func visit(
        _ row: LedgerRow, _ query: LedgerQuery, _ visit: (LedgerFind) throws -> Bool
    ) throws -> Bool {
        guard let entry = try? LedgerEntry(parsing: row.body), query.matches(entry) else { return true }
        return try visit(LedgerFind(sequence: row.sequence, entry: entry))
    }
}

extension LedgerReader {
    /// How far the times of batches may be out of order, in seconds: a clock that was set back moves them.
    package static let clockSlack: Int64 = 3600

    /// The sequences between which entries of these times lie, or all if nothing is said of times; nil for an empty
    /// ledger.
    package mutating func sequences(from: Int64?, to: Int64?) throws(StoreError) -> ClosedRange<Int64>? {
        guard let all = try sequences() else { return nil }
        let first =
            if let from { try firstSequence(in: all, at: from.subtractingClamped(Self.clockSlack)) } else {
                all.lowerBound
            }
        let last =
            if let to { try firstSequence(in: all, at: to.addingClamped(Self.clockSlack)) } else { all.upperBound }
        return first...max(first, last)
    }

    /// The first sequence of the first batch of this time or later, or the last sequence of all; by halving.
    private mutating func firstSequence(in all: ClosedRange<Int64>, at time: Int64) throws(StoreError) -> Int64 {
        var low = all.lowerBound
        var high = all.upperBound
        while low < high {
            let middle = low + (high - low) / 2
            guard let batch = try batch(atOrBefore: middle), batch.first > 0, batch.last >= middle else {
                // Rows that no batch covers, which verification will find: none is left out on their account.
                return all.lowerBound
            }
            if batch.at < time {
                guard batch.last < high else { return high }
                low = batch.last + 1
            } else {
                guard batch.first > low else { return low }
                high = batch.first
            }
        }
        return low
    }
}

extension Int64 {
    fileprivate func addingClamped(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }

    fileprivate func subtractingClamped(_ other: Int64) -> Int64 {
        let (difference, overflow) = subtractingReportingOverflow(other)
        return overflow ? .min : difference
    }
}

extension LedgerReader {
    /// How many batches are read at once.
    private static let batchPageSize = 100
    /// The most rows of one batch that are looked at together; a batch of more is not of this program's making.
    private static let batchRowsMaximum = 1 << 20

    /// Verifies the whole ledger, from its beginning to its end, and hands over what is wrong as it is found.
    ///
    /// Rows that are appended meanwhile may or may not be part of it. `progress` hears now and then how many rows have
    /// been read.
    ///
    /// - Returns: What was read. If a purge went on meanwhile, rows may have been called missing that were purged.
    package mutating func verify(
        _ chain: LedgerChain, checkpoints: [LedgerCheckpoint], progress: (Int) -> Void = { _ in },
        report: (LedgerFinding) throws -> Void
    ) throws -> LedgerVerified {
        let purged = try beginning()
        let beginning = purged.flatMap { LedgerCheckpoint(beginning: $0, node: chain.node) }
        if purged != nil, beginning == nil { try report(.beginningForged) }
        var verifier = try LedgerVerifier(chain, beginning: beginning, checkpoints: checkpoints)
        // What is written from now on is not part of it, so that its rows and their batch are not seen at different
        // times.
        let end = try link().sequence
        var last = beginning?.sequence ?? 0
        var next: Int64 = 1
        while true {
            // Batches and their rows of one moment: the daemon may be rolling them up.
            try beginSnapshot()
            defer { endSnapshot() }
            let batches = try batches(from: next, limit: Self.batchPageSize)
            for batch in batches where batch.first <= end {
                let isSound = batch.first > last && batch.last >= batch.first && batch.last < .max
                let rows = isSound ? try rows(last + 1...batch.last, limit: Self.batchRowsMaximum) : []
                for finding in try verifier.read(batch, rows) { try report(finding) }
                if isSound { last = batch.last }
            }
            guard batches.count == Self.batchPageSize, let lastBatch = batches.last, lastBatch.first < .max else {
                break
            }
            next = lastBatch.first + 1
            progress(verifier.rowCount)
        }
        // Nothing follows the last batch of its time, unless it was added later.
        let isQuiet = try link().sequence == end
        let tail = isQuiet && last < .max ? try rows(last + 1 ... .max, limit: Self.batchRowsMaximum) : []
        for finding in verifier.finish(tail) { try report(finding) }
        var verified = LedgerVerified(verifier, last: last, beginning: beginning)
        verified.wasPurged = try self.beginning() != purged
        return verified
    }
}
