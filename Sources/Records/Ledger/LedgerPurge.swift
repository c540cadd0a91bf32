package import KeyCrypto

/// The result of a verification, besides its findings.
package struct LedgerVerified: Sendable {
    package let rowCount: Int
    /// The last sequence that has a seal.
    package let last: Int64
    /// The last sequence that was purged; nil if no row was purged.
    package let purgedThrough: Int64?
    /// The ledger's own statements of purges, the oldest first.
    package let purges: [LedgerPurge]
    /// The number of checkpoints that belong to other nodes.
    package let strangeCheckpointCount: Int
    /// Whether rows were purged during the verification.
    package var wasPurged = false

    package init(_ verifier: LedgerVerifier, last: Int64, beginning: LedgerCheckpoint?) {
        rowCount = verifier.rowCount
        self.last = last
        purgedThrough = beginning?.sequence
        purges = verifier.purges
        strangeCheckpointCount = verifier.strangeCheckpointCount
    }
}

/// A ledger's statement of rows that were purged. It is an entry of the ledger, and so sealed like any other.
package struct LedgerPurge: Equatable, Sendable {
    /// The place where the rows were purged.
    package enum Place: Sendable {
        /// The node's own ledger.
        case ledger
        /// The copy of the ledger in PostgreSQL.
        case sharedCopy
    }

    package let place: Place
    /// When the statement was made, in seconds since 1970.
    package let at: Int64
    /// The number of rows that were purged since the previous statement.
    package let rowCount: Int64
    /// The last sequence that was purged.
    package let through: Int64
    /// The retention of rows, in seconds.
    package let retention: Int64

    package init(_ place: Place = .ledger, at: Int64, rowCount: Int64, through: Int64, retention: Int64) {
        self.place = place
        self.at = at
        self.rowCount = rowCount
        self.through = through
        self.retention = retention
    }

    /// Reads the entry of a statement; nil for an entry of another kind.
    package init?(_ entry: LedgerEntry) {
        let place: Place
        switch entry.kind {
        case .rowsPurged: place = .ledger
        case .sharedRowsPurged: place = .sharedCopy
        case .licenseIssued, .licenseRenewed, .licenseRefused, .syncReportAccepted, .keyRevealed, .revoked,
            .revocationLifted, .refusalsOmitted, .renewalsRolledUp, .tokenMinted, .ledgerRejoined, .keyCreated,
            .keyImported, .keyAliased, .keyAliasRemoved, .keyWithdrawn, .keyRestored, .keyDeleted, .keyRestoreAccepted,
            .nodeStarted,
            .configurationReloaded, .nodeStopped, .clockAccepted, .deviceRemoved, .playbackEnded, .rentalForgotten,
            .sessionEndReported, .keyDelivered, .rotationSet, .storeRestored:
            return nil
        }
        let numbers = entry.detail.split(separator: " ").compactMap { Int64($0) }
        guard numbers.count == 3 else { return nil }
        self.init(place, at: entry.at, rowCount: numbers[0], through: numbers[1], retention: numbers[2])
    }

    /// The statement as a ledger's entry. Its detail is "ROWS through SEQUENCE kept SECONDS s".
    package func entry(named id: LicenseID) -> LedgerEntry {
        LedgerEntry(
            kind: place == .ledger ? .rowsPurged : .sharedRowsPurged, at: at, license: id,
            detail: "\(rowCount) through \(through) kept \(retention) s")
    }

    /// The statement as a ledger's entry with a random id.
    package func entry() throws(CryptoError) -> LedgerEntry {
        entry(named: try .naming(rowAt: at))
    }
}
