import KeyCrypto
package import Records

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
