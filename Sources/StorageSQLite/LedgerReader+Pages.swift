package import ContentKeys
package import Records

/// A page of the entries that match a query, the newest first.
package struct LedgerFindPage: Equatable, Sendable {
    package var finds: [LedgerFind] = []
    /// The `before` of the next page; nil if the search has reached the beginning of the ledger.
    package var next: Int64?
}

extension LedgerReader {
    /// The number of rows that are read at a time, and of sequences that are taken from the index at a time.
    private static let stepSize: Int64 = 500

    /// Returns a page of the entries that match a query, the newest first.
    ///
    /// It reads at most about `rowsMaximum` rows, so the cost is bounded for any size of the ledger. A page may end
    /// early for that reason, and may even be empty; its `next` says where to continue. Rows that the index has are
    /// found by the most selective field of the query. All other rows are read.
    ///
    /// - Parameter before: Only rows before this sequence, which is the `next` of the previous page; nil for the
    ///   newest.
    package mutating func page(
        of query: LedgerQuery, index: consuming LedgerIndex?, before: Int64?, limit: Int, rowsMaximum: Int
    ) throws(StoreError) -> LedgerFindPage {
        guard let all = try sequences(from: query.from, to: query.to), all.upperBound < .max else {
            return LedgerFindPage()
        }
        var search = LedgerPageSearch(
            query: query, limit: limit, rowsLeft: rowsMaximum, end: min(before ?? .max, all.upperBound + 1))
        if var index, let term = query.term {
            let indexed = min(try index.indexedSequence(of: &self), all.upperBound)
            try read(&search, downTo: max(indexed + 1, all.lowerBound))
            try read(&search, downTo: all.lowerBound, sequencesOf: term, in: &index)
        } else {
            try read(&search, downTo: all.lowerBound)
        }
        return LedgerFindPage(finds: search.finds, next: search.end > all.lowerBound ? search.end : nil)
    }

    /// Reads all rows down to a sequence, until the page is full.
    private mutating func read(_ search: inout LedgerPageSearch, downTo floor: Int64) throws(StoreError) {
        while search.end > floor, search.goesOn {
            let first = max(floor, search.end - Self.stepSize)
            let rows = try rows(first...search.end - 1, limit: Int(Self.stepSize))
            // A range without rows costs a look-up too.
            search.rowsLeft -= max(1, rows.count)
            for row in rows.reversed() {
                search.take(row)
                if search.isFull { return }
            }
            search.end = first
        }
    }

    /// Reads the rows that have a term, until the page is full.
    private mutating func read(
        _ search: inout LedgerPageSearch, downTo floor: Int64, sequencesOf term: LedgerTerm, in index: inout LedgerIndex
    ) throws(StoreError) {
        while search.end > floor, search.goesOn {
            let limit = min(Int(Self.stepSize), search.rowsLeft)
            let sequences = try index.newestSequences(of: term, in: floor...search.end - 1, limit: limit)
            for sequence in sequences {
                search.rowsLeft -= 1
                for row in try rows(sequence...sequence, limit: 1) { search.take(row) }
                search.end = sequence
                if search.isFull { return }
            }
            if sequences.count < limit { search.end = floor }
        }
    }
}

/// A search from the newest row to the oldest.
private struct LedgerPageSearch {
    let query: LedgerQuery
    let limit: Int
    /// The number of rows that may still be read.
    var rowsLeft: Int
    /// All rows from this sequence on were searched.
    var end: Int64
    var finds: [LedgerFind] = []

    init(query: LedgerQuery, limit: Int, rowsLeft: Int, end: Int64) {
        self.query = query
        self.limit = limit
        self.rowsLeft = rowsLeft
        self.end = end
    }

    var isFull: Bool { finds.count >= limit }
    var goesOn: Bool { !isFull && rowsLeft > 0 }

    /// Takes a row if it matches. Rows that this version cannot read are skipped; verification reports them.
    mutating func take(_ row: LedgerRow) {
        end = row.sequence
        guard let entry = try? LedgerEntry(parsing: row.body), query.matches(entry) else { return }
        finds.append(LedgerFind(sequence: row.sequence, entry: entry))
    }
}
