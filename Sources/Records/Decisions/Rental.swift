/// What an installation remembers of one rental: the rental of one content by one subject.
///
/// Times are seconds since 1970.
package struct RentalRecord: Hashable, Sendable {
    /// When its first license was issued. The time to begin playback counts from here.
    package var openedAt: Int64
    /// When it was first played; nil if it was not played yet.
    package var firstPlay: Int64?

    package init(openedAt: Int64, firstPlay: Int64? = nil) {
        self.openedAt = openedAt
        self.firstPlay = firstPlay
    }

    /// Combines two records that are both true: takes the earlier opening and the earlier first play.
    package func merged(with other: RentalRecord?) -> RentalRecord {
        guard let other else { return self }
        return RentalRecord(
            openedAt: min(openedAt, other.openedAt),
            firstPlay: [firstPlay, other.firstPlay].compactMap(\.self).min())
    }
}

/// A license's change of a rental.
///
/// The store compares and sets. The license was computed from `known`, so it is granted only if the store has the same
/// record. Otherwise it is denied with the stored record, and the license is computed again. Of several first plays at
/// the same time, only one is therefore the first.
package struct RentalClaim: Equatable, Sendable {
    /// The pseudonym of issuer, subject and content id.
    package var name: Pseudonym
    /// The pseudonym of issuer and subject, for lists.
    package var owner: Pseudonym
    /// The content id, for lists; at most 200 bytes.
    package var content: String
    /// The record that the license was computed from; nil if there was none.
    package var known: RentalRecord?
    /// The record from now on.
    package var record: RentalRecord
    /// Until when the rental is remembered; from then on it counts as a new one. If several claims name different ends,
    /// the latest one holds.
    package var keptUntil: Int64

    package init(
        name: Pseudonym, owner: Pseudonym, content: String, known: RentalRecord?, record: RentalRecord, keptUntil: Int64
    ) {
        self.name = name
        self.owner = owner
        self.content = content
        self.known = known
        self.record = record
        self.keptUntil = keptUntil
    }

    /// Combines the claim with the stored record. This is for a license that was issued without asking the store.
    package func merged(over stored: RentalRecord?) -> RentalClaim {
        var claim = self
        claim.known = stored
        claim.record = record.merged(with: stored)
        return claim
    }
}
