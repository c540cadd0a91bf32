package import ByteCoding
package import ContentKeys
package import Records

/// Maintains a ledger a few seconds behind its writer: indexes rows, rolls up old renewals, and purges rows older than
/// the retention.
///
/// It has its own connections. It blocks its thread while it works, so it must not run on a loop.
package struct LedgerMaintenance: ~Copyable {
    /// The number of rows that are indexed in one transaction. It is small, because a processor that is busy for long
    /// delays licenses: 5000 rows take 50 ms.
    package static let indexedAtOnce = 250
    /// The approximate number of rows that are purged in one transaction. It is small, so that a license that waits for
    /// the transaction is hardly delayed.
    package static let purgedAtOnce = 200
    /// The number of rows that are searched for renewals in one transaction.
    package static let rolledUpAtOnce = 1000

    /// The rest after a pass, as a multiple of the pass's duration, so that most of the disk's capacity is left to
    /// licenses.
    package static let restFactor = 4

    /// The result of one pass.
    package struct Pass: Equatable, Sendable {
        package var indexedCount = 0
        package var purgedCount = 0
        /// The number of renewals that were rolled up.
        package var rolledUpCount = 0
        /// The statement of purges that was written to the ledger; nil if none was written.
        package var stated: LedgerPurge?
        var isRollingUnfinished = false
        /// Whether there is more work to do immediately.
        package var isUnfinished: Bool {
            indexedCount == LedgerMaintenance.indexedAtOnce || purgedCount > 0 || isRollingUnfinished
        }
    }

    private let chain: LedgerChain
    /// The age, in seconds, at which rows are purged.
    private let retention: Int64
    /// The age, in seconds, at which renewals are rolled up; nil if they are kept as long as all other rows.
    private let rollUpAfter: Int64?
    private var reader: LedgerReader
    private var index: LedgerIndex
    private var purger: LedgerPurger
    private var roller: LedgerRoller
    /// The earliest time of the next statement of purges, in seconds since 1970.
    private var nextStatement = Int64.min

    /// The pause between two statements of purges, in seconds.
    private static let statementPause: Int64 = 3600

    /// Opens the ledger in a database file. Throws `ledgerMissing` if the file has no ledger.
    package static func open(
        path: String, chain: LedgerChain, retention: Int64, rollUpAfter: Int64? = nil
    ) throws(StorageOpeningError) -> LedgerMaintenance {
        LedgerMaintenance(
            chain: chain, retention: retention, rollUpAfter: rollUpAfter, reader: try LedgerReader.open(path: path),
            index: try LedgerIndex.open(for: path), purger: try LedgerPurger.open(path: path, chain: chain),
            roller: try LedgerRoller.open(path: path, chain: chain))
    }

    /// Does one piece of each kind of work. Rows after `sequenceMaximum` stay unchanged, because they are still needed
    /// elsewhere.
    ///
    /// - Parameter deletionTime: The time from which the age of rows counts, in seconds since 1970. If it is nil,
    ///   nothing is purged or rolled up.
    package mutating func pass(
        now: UnixTime, deletionTime: Int64?, through sequenceMaximum: Int64 = .max
    ) throws(StoreError) -> Pass {
        var pass = Pass()
        pass.indexedCount = try index.catchUp(with: &reader, limit: Self.indexedAtOnce)
        guard let deletionTime else { return pass }
        // Only indexed rows are purged, so that their postings can be removed.
        let indexed = try index.indexedSequence(of: &reader)
        let purged = try purger.purge(
            before: deletionTime - retention, through: min(sequenceMaximum, indexed), rowsMaximum: Self.purgedAtOnce,
            now: now)
        try index.remove(purged)
        pass.purgedCount = purged.count
        if purged.isEmpty, now.seconds >= nextStatement {
            pass.stated = try statePurges(now: now)
            if pass.stated != nil { nextStatement = now.seconds + Self.statementPause }
        }
        if let rollUpAfter {
            // The last indexed row stays, because the index identifies its ledger by it. The last shipped row stays for
            // the same reason.
            let piece = try roller.rollUp(
                before: deletionTime - rollUpAfter, through: min(sequenceMaximum, indexed) - 1,
                rowsMaximum: Self.rolledUpAtOnce, now: now)
            try index.remove(piece.removed)
            (pass.rolledUpCount, pass.isRollingUnfinished) = (piece.removed.count, piece.isUnfinished)
        }
        return pass
    }

    /// Does one pass with a clock that is trusted.
    package mutating func pass(now: UnixTime, through sequenceMaximum: Int64 = .max) throws(StoreError) -> Pass {
        try pass(now: now, deletionTime: now.seconds, through: sequenceMaximum)
    }

    /// Records in the ledger the purges since the last statement; nil if there were none.
    package mutating func statePurges(now: UnixTime) throws(StoreError) -> LedgerPurge? {
        try purger.state(retention: retention, now: now)
    }

    /// Signs how far the ledger has come, for the log stream.
    package mutating func checkpoint(now: UnixTime) throws(StoreError) -> LedgerCheckpoint {
        let link = try reader.link()
        do { return try chain.checkpoint(link, at: now) } catch { throw .cryptographyFailed }
    }
}
