package import Records

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
    /// How many rows are read at once.
    private static let pageSize = 1000

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
