package import ContentKeys
package import Records

extension LedgerReader {
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
