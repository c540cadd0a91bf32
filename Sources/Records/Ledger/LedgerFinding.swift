/// What is wrong with a ledger, by the sequences of the rows concerned.
package enum LedgerFinding: Hashable, Sendable {
    /// The beginning was not made with this key for this node, or is a checkpoint: rows before the first one may be
    /// missing.
    case beginningForged
    /// These rows are missing.
    case rowsMissing(ClosedRange<Int64>)
    /// These rows, with which the ledger ended once, are missing: a checkpoint has seen the last of them.
    case tailMissing(ClosedRange<Int64>)
    /// No batch seals these rows.
    case rowsUnsealed(ClosedRange<Int64>)
    /// The row is not what was sealed.
    case rowAltered(Int64)
    /// The row was sealed at another place of its batch.
    case rowMoved(from: Int64, to: Int64)
    /// No batch of these rows is sealed under a key of this node: another key or another node made the ledger, or all
    /// of it was altered.
    case sealedByOthers(ClosedRange<Int64>)
    /// The rows or their seal are not what was written, and nothing says which.
    case batchAltered(ClosedRange<Int64>)
    /// Nothing is wrong with these rows themselves; what they are tied to is missing, so that their seal says nothing.
    case batchUnproven(ClosedRange<Int64>)
    /// The batch does not lie behind the one before, or its seal has another size than its rows ask for.
    case batchMalformed(ClosedRange<Int64>)
    /// The row is sealed, but holds no entry that this version can read.
    case entryUnreadable(Int64)
    /// A checkpoint that was not made with this key for this node.
    case checkpointForged(Int64)
    /// A checkpoint has seen another ledger: the row is not the end of the batch that it names.
    case checkpointContradicted(Int64)
}
