package import ContentKeys

// Values through which operators see and change a subject's devices, playbacks and rentals. Times are seconds since
// 1970.

/// A device that has one of a subject's device places.
package struct KnownDevice: Equatable, Sendable {
    /// The pseudonym of the device's HU.
    package let device: Pseudonym
    /// When it took its place.
    package let addedAt: Int64
    /// When it got its last license that counted devices.
    package var seenAt: Int64
    /// When the place ends if no further license extends it; nil if it never ends.
    package var keptUntil: Int64?
}

/// A playback that holds a slot.
package struct KnownPlayback: Equatable, Sendable {
    /// Identifies the slot in the answers of `AccountStore.playbacks`. It has no other meaning.
    package let position: PlaybackPosition
    package let groupName: String
    package let device: Pseudonym
    /// The playback session of the SPC; nil if the SPC named none.
    package let session: UInt64?
    /// The content id; nil if no license has told it.
    package let content: String?
    /// Whether it counts against the group's maximum. A slot that is only ready may exist beside one that plays.
    package let isCounted: Bool
    /// Whether it plays, and is not only ready to play.
    package let isConfirmed: Bool
    package let heldUntil: Int64
}

/// Identifies a slot in a store.
package struct PlaybackPosition: Hashable, Sendable {
    package let group: Pseudonym
    package let number: Int64

    package init(group: Pseudonym, number: Int64) {
        self.group = group
        self.number = number
    }
}

/// A rental that the store remembers.
package struct KnownRental: Equatable, Sendable {
    /// The pseudonym of issuer, subject and content id.
    package let name: Pseudonym
    package let content: String
    package let record: RentalRecord
    /// When the store forgets it.
    package let keptUntil: Int64
}

/// An operator's change of a subject's devices, playbacks or rentals.
package enum AccountChange: Equatable, Sendable {
    /// Frees the place of a device.
    case removeDevice(owner: Pseudonym, device: Pseudonym)
    /// Frees a slot, and refuses the renewals of its playback until the slot would have ended.
    case endPlayback(PlaybackPosition)
    case forgetRental(owner: Pseudonym, name: Pseudonym)
}

/// Reads and changes devices, playbacks and rentals of subjects. `owner` is the pseudonym of issuer and subject.
///
/// Lists have a fixed order, start after the element `after`, and have at most `limit` elements. They leave out
/// elements that have ended at `now`. A store with its own clock uses that clock instead of `now`.
package protocol AccountStore: Sendable {
    /// Returns devices in the order of their pseudonyms' bytes.
    func devices(
        of owner: Pseudonym, after: Pseudonym?, now: Int64, limit: Int
    ) async throws(StoreError) -> [KnownDevice]

    /// Returns playbacks in the order of group and number. An evicted playback is not listed.
    func playbacks(
        of owner: Pseudonym, after: PlaybackPosition?, now: Int64, limit: Int
    ) async throws(StoreError) -> [KnownPlayback]

    /// Returns rentals in the order of their names' bytes.
    func rentals(
        of owner: Pseudonym, after: Pseudonym?, now: Int64, limit: Int
    ) async throws(StoreError) -> [KnownRental]

    /// Returns the stored record of a rental; nil if there is none.
    func rental(_ name: Pseudonym, now: Int64) async throws(StoreError) -> RentalRecord?

    /// Makes a change. Returns false if there was nothing to change.
    func change(_ change: AccountChange, now: Int64) async throws(StoreError) -> Bool
}

/// Makes operators' changes durable together with their ledger entries.
package protocol AccountRecords: Sendable {
    /// Makes a change and writes the entry; both are durable when this returns. Returns false, and writes nothing, if
    /// there was nothing to change.
    func make(_ change: AccountChange, recording entry: LedgerEntry) async throws(StoreError) -> Bool
}
