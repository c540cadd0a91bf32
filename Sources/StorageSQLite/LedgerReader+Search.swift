package import ContentKeys
import Records

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
