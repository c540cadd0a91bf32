package import ByteCoding
package import ContentKeys
package import Records

/// What a ledger needs beside its writer, a few seconds behind it: an index, old renewals rolled up, and the removal of
/// what is older than the retention.
///
/// It has connections of its own, and blocks its thread while it works: no loop runs it.
package struct LedgerMaintenance: ~Copyable {
    /// How many rows are indexed in one transaction.
    package static let indexedAtOnce = 5000
    /// About how many rows are purged in one transaction: so few that a licence which waits for it is hardly later.
    package static let purgedAtOnce = 200
    /// How many rows are looked at for renewals in one transaction.
    package static let rolledUpAtOnce = 1000

    /// How much longer than a pass to rest after it, so that most of the disk is left to licences.
    package static let restFactor = 4

    /// What one pass has done.
    package struct Pass: Equatable, Sendable {
        package var indexedCount = 0
        package var purgedCount = 0
        /// How many renewals were taken out.
        package var rolledUpCount = 0
        /// What the ledger was told of purges.
        package var stated: LedgerPurge?
        var isRollingUnfinished = false
        /// Whether there is more to do at once.
        package var isUnfinished: Bool {
            indexedCount == LedgerMaintenance.indexedAtOnce || purgedCount > 0 || isRollingUnfinished
        }
    }

    private let chain: LedgerChain
    /// Seconds.
    private let retention: Int64
    /// Seconds; nil if renewals stay as long as everything else.
    private let rollUpAfter: Int64?
    private var reader: LedgerReader
    private var index: LedgerIndex
    private var purger: LedgerPurger
    private var roller: LedgerRoller
    /// When the ledger is told of purges the next time, in seconds since 1970.
    private var nextStatement = Int64.min

    /// How often the ledger is told of purges that go on, in seconds.
    private static let statementPause: Int64 = 3600

    /// Opens the ledger in a database file. Throws `ledgerMissing` if it holds none.
    package static func open(
        path: String, chain: LedgerChain, retention: Int64, rollUpAfter: Int64? = nil
    ) throws(StorageOpeningError) -> LedgerMaintenance {
        LedgerMaintenance(
            chain, retention, rollUpAfter, try LedgerReader.open(path: path), try LedgerIndex.open(for: path),
            try LedgerPurger.open(path: path, chain: chain), try LedgerRoller.open(path: path, chain: chain))
    }

    private init(
        _ chain: LedgerChain, _ retention: Int64, _ rollUpAfter: Int64?, _ reader: consuming LedgerReader,
        _ index: consuming LedgerIndex, _ purger: consuming LedgerPurger, _ roller: consuming LedgerRoller
    ) {
        self.chain = chain
        self.retention = retention
        self.rollUpAfter = rollUpAfter
        self.reader = reader
        self.index = index
        self.purger = purger
        self.roller = roller
    }

    /// One piece of each work. Nothing behind `sequenceMaximum` is purged or rolled up, because it is still needed
    /// elsewhere.
    ///
    /// - Parameter deletionTime: The age of rows counts from here, in seconds since 1970. Nothing is purged or rolled
    ///   up if it is nil.
    package mutating func pass(
        now: UnixTime, deletionTime: Int64?, through sequenceMaximum: Int64 = .max
    ) throws(StoreError) -> Pass {
        var pass = Pass()
        pass.indexedCount = try index.catchUp(with: &reader, limit: Self.indexedAtOnce)
        guard let deletionTime else { return pass }
        // What is purged has been indexed, so that its postings are known.
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
            // The last row that is indexed stays, by which the index knows its ledger; and so does the last one that
            // was shipped.
            let piece = try roller.rollUp(
                before: deletionTime - rollUpAfter, through: min(sequenceMaximum, indexed) - 1,
                rowsMaximum: Self.rolledUpAtOnce, now: now)
            try index.remove(piece.removed)
            (pass.rolledUpCount, pass.isRollingUnfinished) = (piece.removed.count, piece.isUnfinished)
        }
        return pass
    }

    /// The same by a clock that is trusted.
    package mutating func pass(now: UnixTime, through sequenceMaximum: Int64 = .max) throws(StoreError) -> Pass {
        try pass(now: now, deletionTime: now.seconds, through: sequenceMaximum)
    }

    /// Says in the ledger what was purged since the last time; nil if that is nothing.
    package mutating func statePurges(now: UnixTime) throws(StoreError) -> LedgerPurge? {
        try purger.state(retention: retention, now: now)
    }

    /// Says how far the ledger has come, for the log stream.
    package mutating func checkpoint(now: UnixTime) throws(StoreError) -> LedgerCheckpoint {
        let link = try reader.link()
        do { return try chain.checkpoint(link, at: now) } catch { throw .cryptographyFailed }
    }
}
