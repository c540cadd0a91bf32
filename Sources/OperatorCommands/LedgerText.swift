import ByteCoding
import CommandLineKit
import CommandSupport
import Records
import StorageSQLite

extension LedgerVerified {
    /// The most rows about purges that are printed in full.
    private static let linesMaximum = 20

    /// The purges that the ledger records. The latest ones have a line each.
    var purgeLines: [String] {
        var lines: [String] = []
        if let purgedThrough { lines.append("entries through \(purgedThrough) were purged") }
        if purges.count > Self.linesMaximum {
            let older = purges.dropLast(Self.linesMaximum)
            lines.append("\(older.count) older statements of purges: \(older.reduce(0) { $0 + $1.rowCount }) entries")
        }
        return lines + purges.suffix(Self.linesMaximum).map(\.text)
    }

    /// Writes the members about purges for `--json`.
    func writePurges(to writer: inout JSONWriter) {
        writer.member("purgedThrough", purgedThrough)
        writer.objects("purges", purges) { $1.write(to: &$0) }
    }
}

extension LedgerPurge {
    fileprivate var text: String {
        let act = place == .ledger ? "purged" : "purged from the copy in PostgreSQL"
        return "\(time)  \(act): \(rowCount.counted("entry", "entries")) through \(through), kept for \(retention) s"
    }

    fileprivate func write(to writer: inout JSONWriter) {
        writer.member("at", time)
        writer.member("place", place == .ledger ? "ledger" : "copy")
        writer.member("entries", rowCount)
        writer.member("through", through)
        writer.member("retention", retention)
    }

    private var time: String { UnixTime(seconds: at)?.description ?? String(at) }
}

extension LedgerFinding {
    /// The finding as one line of text.
    var text: String {
        switch self {
        case .beginningForged: "the beginning: not signed with this ledger's key; older entries may be missing"
        case .rowsMissing(let range): "\(Self.text(range)): missing"
        case .tailMissing(let range): "\(Self.text(range)): missing at the end, although a checkpoint has seen them"
        case .rowsUnsealed(let range): "\(Self.text(range)): not sealed by any batch"
        case .rowAltered(let sequence): "\(sequence): altered"
        case .rowMoved(let from, let to): "\(to): has the entry that was recorded as \(from)"
        case .sealedByOthers(let range):
            "\(Self.text(range)): none of these is sealed under ledger.key or ledger.olderKeys for this node; another key or another node "
                + "made the ledger, or all of it was altered"
        case .batchAltered(let range): "\(Self.text(range)): one of these or their seal was altered"
        case .keyMissing(let range):
            "\(Self.text(range)): not verified, because the key that sealed them is not configured; it may be another version of"
                + " ledger.key"
        case .batchUnproven(let range): "\(Self.text(range)): not proven, because the batch before them is missing"
        case .batchMalformed(let range): "\(Self.text(range)): their batch has a form that Latchkey does not write"
        case .entryUnreadable(let sequence): "\(sequence): sealed, but not readable by this version"
        case .checkpointForged(let sequence):
            "the checkpoint of \(sequence): not signed with this ledger's key for this node"
        case .checkpointContradicted(let sequence): "\(sequence): a checkpoint has seen another ledger up to here"
        }
    }

    /// Writes the members of a finding for `--json`.
    func write(to writer: inout JSONWriter) {
        writer.member("finding", word)
        writer.member("first", sequences?.lowerBound)
        writer.member("last", sequences?.upperBound)
    }

    private var word: String {
        switch self {
        case .beginningForged: "beginning_forged"
        case .rowsMissing: "rows_missing"
        case .tailMissing: "tail_missing"
        case .rowsUnsealed: "rows_unsealed"
        case .rowAltered: "row_altered"
        case .rowMoved: "row_moved"
        case .sealedByOthers: "sealed_by_others"
        case .batchAltered: "batch_altered"
        case .keyMissing: "key_missing"
        case .batchUnproven: "batch_unproven"
        case .batchMalformed: "batch_malformed"
        case .entryUnreadable: "entry_unreadable"
        case .checkpointForged: "checkpoint_forged"
        case .checkpointContradicted: "checkpoint_contradicted"
        }
    }

    private var sequences: ClosedRange<Int64>? {
        switch self {
        case .beginningForged: nil
        case .rowsMissing(let range), .tailMissing(let range), .rowsUnsealed(let range), .sealedByOthers(let range),
            .batchAltered(let range), .keyMissing(let range),
            .batchUnproven(let range), .batchMalformed(let range):
            range
        case .rowAltered(let sequence), .rowMoved(_, let sequence), .entryUnreadable(let sequence),
            .checkpointForged(let sequence), .checkpointContradicted(let sequence):
            sequence...sequence
        }
    }

    private static func text(_ range: ClosedRange<Int64>) -> String {
        range.count == 1 ? "\(range.lowerBound)" : "\(range.lowerBound) to \(range.upperBound)"
    }
}
