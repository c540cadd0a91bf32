/// What an installation remembers of one rental: of one subject's rental of one content.
///
/// Times are seconds since 1970.
package struct RentalRecord: Hashable, Sendable {
    /// When its first licence was given. The time to begin playback counts from here.
    package var openedAt: Int64
    /// When it was first played; nil before.
    package var firstPlay: Int64?

    package init(openedAt: Int64, firstPlay: Int64? = nil) {
        self.openedAt = openedAt
        self.firstPlay = firstPlay
    }

    /// The earlier of each: what is true if both are.
    package func merged(with other: RentalRecord?) -> RentalRecord {
        guard let other else { return self }
        return RentalRecord(
            openedAt: min(openedAt, other.openedAt),
            firstPlay: [firstPlay, other.firstPlay].compactMap(\.self).min())
    }
}

/// What a licence makes of a rental.
///
/// The store compares and sets: the licence was computed from `known`, so it is granted only if that is what the store
/// remembers. Otherwise it is denied with what the store remembers, and its maker computes it again. So of several
/// first plays at once one is the first.
package struct RentalClaim: Equatable, Sendable {
    /// Of issuer, subject and content id.
    package var name: Pseudonym
    /// Of issuer and subject, for lists.
    package var owner: Pseudonym
    /// The content id, for lists; at most 200 bytes.
    package var content: String
    /// What the licence was computed from; nil if nothing was remembered.
    package var known: RentalRecord?
    /// What is remembered from now on.
    package var record: RentalRecord
    /// Until when. The latest end that was told counts. From then on the rental is a new one.
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

    /// The same fact over what the store remembers: for a licence that was given without asking.
    package func merged(over stored: RentalRecord?) -> RentalClaim {
        var claim = self
        claim.known = stored
        claim.record = record.merged(with: stored)
        return claim
    }
}
