package import ByteCoding
package import ContentKeys

/// One line of the ledger: what was given, refused or looked at, without saying more of anybody than is needed.
///
/// Times are seconds since 1970.
package struct LedgerEntry: Equatable, Sendable {
    /// What happened. The raw values are stored, and never change.
    package enum Kind: UInt8, Sendable, CaseIterable {
        case licenseIssued = 1
        case licenseRenewed = 2
        case licenseRefused = 3
        case syncReportAccepted = 4
        case keyRevealed = 5
        case revoked = 6
        case revocationLifted = 7
        /// So many refusals, as the detail says, have no row of their own: they came faster than the ledger takes them.
        case refusalsOmitted = 8
        /// So many renewals of one playback, as the detail says, have left the ledger.
        case renewalsRolledUp = 9
        /// A token that this server made for a customer; the licence it leads to is a row of its own.
        case tokenMinted = 16
        /// Rows older than the retention have left this ledger, as `LedgerPurge` says.
        case rowsPurged = 40
        /// The same of the copy of this ledger in PostgreSQL.
        case sharedRowsPurged = 41
        /// The ledger goes on after it was lost or put back to an older state, as the detail says.
        case ledgerRejoined = 42
    }

    package var kind: Kind
    package var at: Int64
    /// The licence; for anything else an id that names this entry alone.
    package var license: LicenseID
    /// The licence that a renewal follows.
    package var previous: LicenseID?
    package var keyID: KeyID?
    /// The content id's text, at most 200 bytes.
    package var content: String?
    /// Of issuer and subject.
    package var subject: Pseudonym?
    /// Of HU.
    package var device: Pseudonym?
    /// The token's id, cut to 64 bytes.
    package var tokenID: String?
    /// The issuer's own mark, at most 64 bytes.
    package var cookie: String?
    /// The name of the licence's validity, of the refusal's code, or of what else was done: at most 64 bytes of ASCII.
    package var detail: String
    /// Seconds; nil for none.
    package var lease: UInt32?
    package var rental: UInt32?
    /// When the licence ends; nil for never or not known.
    package var until: Int64?
    /// How long a kept key is good from its first play on, in seconds; nil for none.
    package var playback: UInt32?
    /// When the app was told to renew the licence; nil where there is nothing to renew.
    package var renewAfter: Int64?

    /// Everything else is set afterwards, where there is something to say.
    package init(
        kind: Kind, at: Int64, license: LicenseID, keyID: KeyID? = nil, content: String? = nil, detail: String = ""
    ) {
        self.kind = kind
        self.at = at
        self.license = license
        self.keyID = keyID
        self.content = content
        self.detail = detail
    }
}

/// The node's own durable record.
package protocol Ledger: Sendable {
    /// Returns when the entry would outlive a power cut.
    func append(_ entry: LedgerEntry) async throws(StoreError)
}
