package import ContentKeys

// What operators see and change of a subject's devices, playbacks and rentals. Times are seconds since 1970.

/// A device that has a place among those of a subject.
package struct KnownDevice: Equatable, Sendable {
    /// Of HU.
    package let device: Pseudonym
    /// When it took its place; nil if a version that did not note it gave the place.
    package let addedAt: Int64?
    /// When it got its last licence that counted devices; nil as above.
    package let seenAt: Int64?
    /// When the place is free without a further licence; nil for never.
    package let keptUntil: Int64?

    package init(device: Pseudonym, addedAt: Int64?, seenAt: Int64?, keptUntil: Int64?) {
        self.device = device
        self.addedAt = addedAt
        self.seenAt = seenAt
        self.keptUntil = keptUntil
    }
}

/// A playback that holds a slot.
package struct KnownPlayback: Equatable, Sendable {
    /// Which slot it is: its place in the answers of `AccountStore.playbacks`, and nothing else.
    package let position: PlaybackPosition
    package let groupName: String
    package let device: Pseudonym
    /// The playback session that the SPC told; nil if it told none.
    package let session: UInt64?
    /// The content id; nil if no node has noted it.
    package let content: String?
    /// Whether it counts against the group's maximum. A slot that is only ready may stand beside one that plays.
    package let isCounted: Bool
    /// Playing, and not only ready to.
    package let isConfirmed: Bool
    package let heldUntil: Int64

    package init(
        position: PlaybackPosition, groupName: String, device: Pseudonym, session: UInt64?, content: String?,
        isCounted: Bool, isConfirmed: Bool, heldUntil: Int64
    ) {
        self.position = position
        self.groupName = groupName
        self.device = device
        self.session = session
        self.content = content
        self.isCounted = isCounted
        self.isConfirmed = isConfirmed
        self.heldUntil = heldUntil
    }
}

/// Names a slot in a store.
package struct PlaybackPosition: Hashable, Sendable {
    package let group: Pseudonym
    package let number: Int64

    package init(group: Pseudonym, number: Int64) {
        self.group = group
        self.number = number
    }
}

/// A rental that is remembered.
package struct KnownRental: Equatable, Sendable {
    /// Of issuer, subject and content id.
    package let name: Pseudonym
    package let content: String
    package let record: RentalRecord
    /// When it is forgotten.
    package let keptUntil: Int64

    package init(name: Pseudonym, content: String, record: RentalRecord, keptUntil: Int64) {
        self.name = name
        self.content = content
        self.record = record
        self.keptUntil = keptUntil
    }
}

/// A change that an operator makes to what is remembered of a subject.
package enum AccountChange: Equatable, Sendable {
    /// Frees the place of a device.
    case removeDevice(owner: Pseudonym, device: Pseudonym)
    /// Frees a slot, and refuses the renewals of its playback until the slot would have ended. `now` is the operator's
    /// time.
    case endPlayback(PlaybackPosition, now: Int64)
    case forgetRental(owner: Pseudonym, name: Pseudonym)
}

/// Where devices, playbacks and rentals of subjects are read and changed. `owner` is of issuer and subject.
///
/// Lists are in a fixed order, begin behind `after`, and have at most `limit` elements. They leave out what has ended
/// at `now`; a store with a clock of its own judges that by its own.
package protocol AccountStore: Sendable {
    /// By the bytes of their pseudonyms.
    func devices(
        of owner: Pseudonym, after: Pseudonym?, now: Int64, limit: Int
    ) async throws(StoreError) -> [KnownDevice]

    /// By group and number. An evicted playback is not listed.
    func playbacks(
        of owner: Pseudonym, after: PlaybackPosition?, now: Int64, limit: Int
    ) async throws(StoreError) -> [KnownPlayback]

    /// By the bytes of their names.
    func rentals(
        of owner: Pseudonym, after: Pseudonym?, now: Int64, limit: Int
    ) async throws(StoreError) -> [KnownRental]

    /// What is remembered of a rental; nil for nothing.
    func rental(_ name: Pseudonym, now: Int64) async throws(StoreError) -> RentalRecord?

    /// Makes a change; whether there was anything to change.
    func change(_ change: AccountChange) async throws(StoreError) -> Bool
}

/// Where changes of operators become durable together with the rows that tell of them.
package protocol AccountRecords: Sendable {
    /// Makes a change and writes the entry. Nothing is written if there was nothing to change. Returns when both would
    /// outlive a power cut.
    func make(_ change: AccountChange, recording entry: LedgerEntry) async throws(StoreError) -> Bool
}
