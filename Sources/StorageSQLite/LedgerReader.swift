package import ContentKeys
import KeyCrypto
package import Records

/// Reads the ledger in a node's database file, even while the daemon writes to it.
package struct LedgerReader: ~Copyable {
    private var tables: LedgerSelects
    private var ends: SQLiteStatement
    private(set) var connection: SQLiteConnection

    /// Opens an existing file for reading. Throws `ledgerMissing` if the file has no ledger.
    package static func open(
        path: String, busyTimeoutMilliseconds: Int32 = 5000
    ) throws(StorageOpeningError) -> LedgerReader {
        try DatabaseFile.checkPermissions(path)
        return try StorageOpeningError.opening(path) { () throws(StoreError) in
            var connection = try SQLiteConnection.open(path: path, busyTimeoutMilliseconds: busyTimeoutMilliseconds)
            try connection.execute("PRAGMA query_only = ON")
            return try .prepare(on: connection)
        }
    }

    static func prepare(on connection: consuming SQLiteConnection) throws(StoreError) -> LedgerReader {
        try LedgerReader(
            tables: .prepare(on: &connection),
            // This costs two look-ups in the tree. Both functions in one SELECT would read every row.
            ends: connection.prepare(
                "SELECT (SELECT min(sequence) FROM ledger_entry), (SELECT max(sequence) FROM ledger_entry)"),
            connection: connection)
    }

    /// Begins a snapshot: until `endSnapshot`, all reads see the file as it is now, even if rows are written in the
    /// meantime.
    mutating func beginSnapshot() throws(StoreError) {
        try connection.execute("BEGIN")
    }

    mutating func endSnapshot() {
        connection.rollBack()
    }

    /// Returns the batches whose first sequence is at least `first`, in ascending order, without the beginning.
    package mutating func batches(from first: Int64, limit: Int) throws(StoreError) -> [LedgerBatch] {
        try tables.batches(from: max(first, 1), limit: limit)
    }

    /// Returns the last batch whose first sequence is at most `sequence`, or the beginning if no batch precedes it.
    package mutating func batch(atOrBefore sequence: Int64) throws(StoreError) -> LedgerBatch? {
        try tables.batches(atOrBefore: sequence, limit: 1).first
    }

    /// Returns the beginning, which stands in the place of purged batches; nil if nothing was purged.
    package mutating func beginning() throws(StoreError) -> LedgerBatch? {
        try tables.batches(atOrBefore: 0, limit: 1).first
    }

    /// Returns the link to which the next batch is tied.
    package mutating func link() throws(StoreError) -> LedgerLink {
        try tables.link()
    }

    /// Returns rows in the order of their sequences.
    package mutating func rows(_ range: ClosedRange<Int64>, limit: Int) throws(StoreError) -> [LedgerRow] {
        try tables.rows(range, limit: limit)
    }

    /// Returns the first and the last sequence; nil if the ledger is empty.
    package mutating func sequences() throws(StoreError) -> ClosedRange<Int64>? {
        try ends.first { row throws(StoreError) in
            row.isNull(at: 0) ? nil : try row.integer(at: 0)...row.integer(at: 1)
        } ?? nil
    }
}

extension StorageOpeningError {
    /// Opens a value that needs the tables of a ledger. Without the tables, SQLite cannot prepare a statement and gives
    /// its general error.
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
    /// The number of rows that are read at a time.
    private static let pageSize = 1000

    /// Returns the entries that match a query, the newest first.
    ///
    /// For each query it reads at most `limit` rows from the index, and the last `tailMaximum` rows that are not
    /// indexed yet. The cost is therefore bounded for any size of the ledger. A query without an indexed field finds
    /// only rows of that tail.
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

    /// Rows that this version cannot read are skipped; verification reports them.
    private static func keep(_ row: LedgerRow, _ queries: [LedgerQuery], in found: inout [Int64: LedgerEntry]) {
        guard let entry = try? LedgerEntry(parsing: row.body), queries.contains(where: { $0.matches(entry) }) else {
            return
        }
        found[row.sequence] = entry
    }
}

/// An entry that was found in a ledger.
package struct LedgerFind: Equatable, Sendable {
    package let sequence: Int64
    package let entry: LedgerEntry

    package init(sequence: Int64, entry: LedgerEntry) {
        self.sequence = sequence
        self.entry = entry
    }
}

extension LedgerReader {
    /// Calls `visit` with each entry that matches the query, in the order of sequences, until `visit` returns false.
    /// Calls `progress` from time to time with the number of rows that were read.
    ///
    /// If there is an index, indexed rows are found by the most selective field of the query. All other rows are read.
    /// Rows that this version cannot read are skipped; verification reports them.
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
    /// The largest disorder in the times of batches, in seconds. Setting the clock back causes such disorder.
    package static let clockSlack: Int64 = 3600

    /// Returns the sequences between which the entries of these times lie, or all if no time is given; nil if the
    /// ledger is empty.
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

    /// Returns the first sequence of the first batch of this time or later, by binary search. Returns the last sequence
    /// of all if there is no such batch.
    private mutating func firstSequence(in all: ClosedRange<Int64>, at time: Int64) throws(StoreError) -> Int64 {
        var low = all.lowerBound
        var high = all.upperBound
        while low < high {
            let middle = low + (high - low) / 2
            guard let batch = try batch(atOrBefore: middle), batch.first > 0, batch.last >= middle else {
                // No batch covers these rows, which verification will report. The range then includes all rows, so that
                // none is left out.
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
    /// The number of batches that are read at a time.
    private static let batchPageSize = 100
    /// The largest number of rows of one batch that are read together. This program writes no larger batches.
    private static let batchRowsMaximum = 1 << 20

    /// Verifies the whole ledger, from its beginning to its end, and calls `report` with each finding.
    ///
    /// Rows that are appended in the meantime may be left out. Calls `progress` from time to time with the number of
    /// rows that were read.
    ///
    /// - Returns: What was read. If a purge ran in the meantime, `report` may have called purged rows missing.
    package mutating func verify(
        _ chain: LedgerChain, checkpoints: [LedgerCheckpoint], progress: (Int) -> Void = { _ in },
        report: (LedgerFinding) throws -> Void
    ) throws -> LedgerVerified {
        let purged = try beginning()
        let beginning = purged.flatMap { LedgerCheckpoint(beginning: $0, node: chain.node) }
        if purged != nil, beginning == nil { try report(.beginningForged) }
        var verifier = try LedgerVerifier(chain, beginning: beginning, checkpoints: checkpoints)
        // Rows that are written from now on are left out, because a row and its batch might be read at different times.
        let end = try link().sequence
        var last = beginning?.sequence ?? 0
        var next: Int64 = 1
        while true {
            // Batches and their rows must be of one moment, because the daemon may be rolling them up.
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
        // Rows after the last batch are an error, unless they were appended after `end` was read.
        let isQuiet = try link().sequence == end
        let tail = isQuiet && last < .max ? try rows(last + 1 ... .max, limit: Self.batchRowsMaximum) : []
        for finding in verifier.finish(tail) { try report(finding) }
        var verified = LedgerVerified(verifier, last: last, beginning: beginning)
        verified.wasPurged = try self.beginning() != purged
        return verified
    }
}
