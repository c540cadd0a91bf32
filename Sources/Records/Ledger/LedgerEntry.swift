package import ByteCoding
package import ContentKeys

/// One line of the ledger: what was given, refused or looked at, without more personal data than is needed.
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
        /// A content key was made and stored.
        case keyCreated = 32
        /// A content key that a packager has already used was stored.
        case keyImported = 33
        /// A further asset id names a key; the detail is the asset id.
        case keyAliased = 34
        /// A key is given out no more, and stays in the list.
        case keyWithdrawn = 35
        /// A withdrawn key is given out again.
        case keyRestored = 36
        /// A key was deleted for good, with its aliases.
        case keyDeleted = 37
        /// An operator has accepted that a restored database lacks random keys, as the detail says: contents without a
        /// key get new ones.
        case keyRestoreAccepted = 39
        /// Rows older than the retention have left this ledger, as `LedgerPurge` says.
        case rowsPurged = 40
        /// The same of the copy of this ledger in PostgreSQL.
        case sharedRowsPurged = 41
        /// The ledger goes on after it was lost or put back to an older state, as the detail says.
        case ledgerRejoined = 42
        /// An operator has put a backup in the place of this store. The detail says when the backup was made, and with
        /// which sequence its ledger ended.
        case storeRestored = 43
        /// The daemon serves from now on; the detail is its version.
        case nodeStarted = 48
        /// A reload put a new configuration in force.
        case configurationReloaded = 49
        /// The daemon was told to stop and has finished its requests. No such row in front of a start tells of a crash.
        case nodeStopped = 50
        /// An operator has accepted the wall clock, although it was stepped or behind.
        case clockAccepted = 51
        /// An operator has taken the place of a device from it; subject and device are those.
        case deviceRemoved = 56
        /// An operator has ended a playback; the detail is the name of its group.
        case playbackEnded = 57
        /// An operator has made the server forget a rental; the detail says when it was first played.
        case rentalForgotten = 58
        /// A device has reported that a playback session has ended ("secure stop"); the detail is the session's id.
        case sessionEndReported = 59
        /// A key that was there was given to a packager; the detail is the way that it took, and its period.
        case keyDelivered = 60
        /// An operator has changed how the keys of a live content rotate; the detail says how they do from then on.
        case rotationSet = 61

        /// Whether a version 1 entry can have this kind.
        var isOfVersion1: Bool { rawValue <= 9 || self == .tokenMinted }
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
    /// When the app was told to renew the licence; nil if there is nothing to renew.
    package var renewAfter: Int64?
    /// The operator who did it: a user of the operating system as `user:NAME`, or an admin token as `token:NAME`; or a
    /// packager as `packager:NAME`. At most 64 bytes; nil for what none of them did.
    package var actor: String?
    /// The id of the request, as `X-Request-Id` and the log have it: at most 64 bytes. Only refusals and what packagers
    /// get have one.
    package var request: String?
    /// What a device reported; nil for all kinds but `syncReportAccepted`, and for reports of version 1, which say no
    /// more than `until`.
    package var report: DeviceReport?

    /// Everything else is set afterwards, if there is something to say.
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

/// What a sync report says beside when the key ends.
package struct DeviceReport: Hashable, Sendable {
    /// The most stream ids that a report has.
    package static let streamIDCountMaximum = 250

    /// What was asked of the device, and the outcome, as the bits of the report.
    package var flags: UInt64
    package var titleID: Bytes16
    /// The keys that were invalidated: at most 250.
    package var streamIDs: [Bytes16]

    package init(flags: UInt64, titleID: Bytes16, streamIDs: [Bytes16]) {
        self.flags = flags
        self.titleID = titleID
        self.streamIDs = streamIDs
    }
}

/// The node's own durable record.
package protocol Ledger: Sendable {
    /// Returns when the entry would outlive a power cut.
    func append(_ entry: LedgerEntry) async throws(StoreError)

    /// The same of entries that belong together: in one commit if the ledger can.
    func append(together entries: [LedgerEntry]) async throws(StoreError)
}

extension Ledger {
    /// One after the other.
    package func append(together entries: [LedgerEntry]) async throws(StoreError) {
        for entry in entries { try await append(entry) }
    }
}

extension LedgerEntry {
    /// Behind the name of a licence's validity: the licence was given without its counts and checks in the nodes'
    /// database.
    private static let uncountedMark = " uncounted"

    /// Whether what the licence spends was not counted, or its renewal not checked, when it was given.
    package var isUncounted: Bool { detail.hasSuffix(Self.uncountedMark) }

    /// The detail without that mark.
    package var validityName: String { isUncounted ? String(detail.dropLast(Self.uncountedMark.count)) : detail }

    /// The same entry of a licence that is given without counts and checks.
    package var uncounted: LedgerEntry {
        guard !isUncounted else { return self }
        var entry = self
        entry.detail += Self.uncountedMark
        return entry
    }
}
