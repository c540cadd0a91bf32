package import ByteCoding
package import ContentKeys

/// One line of the ledger: what was issued, refused or shown. It has no more personal data than needed.
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
        /// The number of refusals in the detail has no rows, because they came faster than the ledger can store them.
        case refusalsOmitted = 8
        /// The number of renewals of one playback in the detail has left the ledger.
        case renewalsRolledUp = 9
        /// This server made a token for a customer. The license that is issued with it has its own row.
        case tokenMinted = 16
        /// A content key was made and stored.
        case keyCreated = 32
        /// A content key that a packager uses already was stored.
        case keyImported = 33
        /// A further asset id was added to a key. The detail is the asset id.
        case keyAliased = 34
        /// An alias of a content key was removed. `detail` is the alias.
        case keyAliasRemoved = 38
        /// A key is not delivered any more, but stays in the list.
        case keyWithdrawn = 35
        /// A withdrawn key is delivered again.
        case keyRestored = 36
        /// A key was deleted permanently, with its aliases.
        case keyDeleted = 37
        /// An operator has accepted that a restored database lacks random keys. Contents without a key get new ones.
        /// The detail has the number of keys.
        case keyRestoreAccepted = 39
        /// Rows older than the retention were purged from this ledger. `LedgerPurge` reads the detail.
        case rowsPurged = 40
        /// Rows older than the retention were purged from the copy of this ledger in PostgreSQL.
        case sharedRowsPurged = 41
        /// The ledger continues after it was lost or restored to an older state. The detail describes how.
        case ledgerRejoined = 42
        /// An operator has put a backup in the place of this store. The detail says when the backup was made, and with
        /// which sequence its ledger ended.
        case storeRestored = 43
        /// The daemon has started to serve. The detail is its version.
        case nodeStarted = 48
        /// A reload put a new configuration in force.
        case configurationReloaded = 49
        /// The daemon was told to stop and has finished its requests. A start that does not follow such a row shows a
        /// crash.
        case nodeStopped = 50
        /// An operator has accepted the wall clock, although it was stepped or is behind.
        case clockAccepted = 51
        /// An operator has removed a device. Subject and device name its place.
        case deviceRemoved = 56
        /// An operator has ended a playback. The detail is the name of its group.
        case playbackEnded = 57
        /// An operator has deleted the record of a rental. The detail says when it was first played.
        case rentalForgotten = 58
        /// A device has reported the end of a playback session ("secure stop"). The detail is the session's id.
        case sessionEndReported = 59
        /// An existing key was delivered to a packager. The detail names the interface and the key period.
        case keyDelivered = 60
        /// An operator has changed the key rotation of a live content. The detail describes the new rotation.
        case rotationSet = 61
    }

    package var kind: Kind
    package var at: Int64
    /// The license. An entry that is not about a license has an id that identifies only this entry.
    package var license: LicenseID
    /// The license that a renewal follows.
    package var previous: LicenseID?
    package var keyID: KeyID?
    /// The content id's text, at most 200 bytes.
    package var content: String?
    /// The pseudonym of issuer and subject.
    package var subject: Pseudonym?
    /// The pseudonym of the device's HU.
    package var device: Pseudonym?
    /// The token's id, cut to 64 bytes.
    package var tokenID: String?
    /// The issuer's own mark for the license, at most 64 bytes.
    package var cookie: String?
    /// The name of the license's validity, the code of the refusal, or a description of another kind's action: at most
    /// 64 bytes of ASCII.
    package var detail: String
    /// The duration of the lease in seconds; nil if there is none. `rental` is the duration of the rental in the same
    /// form.
    package var lease: UInt32?
    package var rental: UInt32?
    /// When the license ends; nil if it never ends or its end is not known.
    package var until: Int64?
    /// How long a kept key is valid from its first play on, in seconds; nil if there is no such limit.
    package var playback: UInt32?
    /// The time at which the app was told to renew the license; nil if it was told none.
    package var renewAfter: Int64?
    /// The operator who acted, as `user:NAME` for a user of the operating system or `token:NAME` for an admin token; or
    /// a packager as `packager:NAME`. At most 64 bytes; nil if neither acted.
    package var actor: String?
    /// The id of the request, as in `X-Request-Id` and the log, at most 64 bytes. Only refusals and deliveries to
    /// packagers have one.
    package var request: String?
    /// The content of a device's report; nil for all kinds but `syncReportAccepted`. Also nil for reports of version 1,
    /// which have no more content than `until`.
    package var report: DeviceReport?
    /// What the device has stated about itself, of a license and of a refusal whose SPC was open.
    package var stated: DeviceSummary?
    /// What was found and expected, of a refusal. Other kinds have at most the facts `issuer`, `playerSession` and
    /// `playerContent`. Content, key id and subject are in the entry's own fields.
    package var facts = RefusalFacts() {
        didSet { facts = facts.withoutEntryFields }
    }

    /// The issuer of the token. An entry with a subject does not need it, because the pseudonym is of the issuer and
    /// the subject together.
    package var issuer: String? {
        get { facts[.issuer] }
        set { facts[.issuer] = newValue }
    }

    /// Makes an entry. The caller sets the other fields afterwards.
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

/// The content of a sync report besides the end of the key.
package struct DeviceReport: Hashable, Sendable {
    /// The largest number of stream ids in a report.
    package static let streamIDCountMaximum = 250

    /// The request to the device and its outcome, as the bits of the report.
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

/// A node's own ledger.
package protocol Ledger: Sendable {
    /// Appends an entry. It is durable when this returns.
    func append(_ entry: LedgerEntry) async throws(StoreError)

    /// Appends entries that belong together, in one commit if the ledger can. They are durable when this returns.
    func append(together entries: [LedgerEntry]) async throws(StoreError)
}

extension Ledger {
    /// Appends the entries one after the other.
    package func append(together entries: [LedgerEntry]) async throws(StoreError) {
        for entry in entries { try await append(entry) }
    }
}

extension LedgerEntry {
    /// The text after the name of a license's validity that marks an uncounted license. It was issued without its
    /// counts and checks in the nodes' database.
    private static let uncountedMark = " uncounted"

    /// Whether the license was issued without counting what it spends, or without checking its renewal.
    package var isUncounted: Bool { detail.hasSuffix(Self.uncountedMark) }

    /// The detail without the mark of an uncounted license.
    package var validityName: String { isUncounted ? String(detail.dropLast(Self.uncountedMark.count)) : detail }

    /// The same entry with the mark of an uncounted license.
    package var uncounted: LedgerEntry {
        guard !isUncounted else { return self }
        var entry = self
        entry.detail += Self.uncountedMark
        return entry
    }
}
