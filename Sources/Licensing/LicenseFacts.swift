package import FairPlay
package import Records

/// What an app may know about a license (entitlement, section 4.5). FairPlay itself tells an app nothing of it.
///
/// The answer's header fields, its JSON and the ledger are all written from these facts, so that they cannot differ.
/// Times are in seconds since 1970, durations in seconds.
package struct LicenseFacts: Equatable, Sendable {
    package let id: LicenseID
    /// The name of the license's validity.
    package let type: String
    package let issuedAt: Int64
    /// The first second in which the license is no longer valid if it is neither played nor renewed; nil if it has no
    /// such end.
    package let expiresAt: Int64?
    /// When to ask for a renewal; nil if there is nothing to renew.
    package let renewAfter: Int64?
    package let lease: UInt32?
    package let rental: UInt32?
    /// How long a kept key is valid after its first play.
    package let playback: UInt32?
    /// Whether the device keeps the key.
    package let isPersistent: Bool

    /// Until when playback with a kept key may begin.
    package var storageExpiresAt: Int64? { isPersistent ? expiresAt : nil }

    package init(_ id: LicenseID, _ terms: LicenseTerms, _ times: LicenseTimes) {
        self.id = id
        type = terms.validity.name
        issuedAt = times.issuedAt
        expiresAt = times.expiresAt
        renewAfter = times.renewAfter
        lease = terms.lease?.value
        rental = terms.rental?.value
        playback = terms.validity.playback?.value
        isPersistent = terms.isPersistent
    }

    /// The facts in an entry of the ledger; nil if the entry is not about an issued or renewed license.
    package init?(_ entry: LedgerEntry) {
        switch entry.kind {
        case .licenseIssued, .licenseRenewed: break
        case .licenseRefused, .syncReportAccepted, .keyRevealed, .revoked, .revocationLifted, .refusalsOmitted,
            .renewalsRolledUp, .tokenMinted, .keyCreated, .keyImported, .keyAliased, .keyAliasRemoved, .keyWithdrawn,
            .keyRestored,
            .keyDeleted, .keyRestoreAccepted, .nodeStarted, .configurationReloaded, .nodeStopped, .clockAccepted,
            .rowsPurged, .sharedRowsPurged, .ledgerRejoined, .deviceRemoved, .playbackEnded, .rentalForgotten,
            .sessionEndReported, .keyDelivered, .rotationSet, .storeRestored:
            return nil
        }
        id = entry.license
        type = entry.validityName
        issuedAt = entry.at
        expiresAt = entry.until
        renewAfter = entry.renewAfter
        lease = entry.lease
        rental = entry.rental
        playback = entry.playback
        isPersistent = LicenseTerms.Validity.persistentNames.contains(entry.validityName)
    }
}
