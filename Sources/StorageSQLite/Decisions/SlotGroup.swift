import Records

/// Applies claims to the slots of one group, by the numbered rules of `SlotClaim`.
struct SlotGroup {
    struct Slot: Equatable {
        /// An older slot has a smaller number.
        var number: Int64
        var device: Pseudonym
        var playback: PlaybackName
        var content: Pseudonym
        var isCounted: Bool
        var isConfirmed: Bool
        var heldUntil: Int64
    }

    /// The slots that have not ended, in the order of their numbers.
    private(set) var slots: [Slot]
    /// The slots that claims on this value have evicted.
    private(set) var evicted: [Slot] = []
    private var nextNumber: Int64
    private let now: Int64

    /// `stored` holds the group's slots in the order of their numbers. Slots that have ended at `now` are left out.
    init(_ stored: [Slot], at now: Int64) {
        slots = stored.filter { $0.heldUntil > now }
        nextNumber = (stored.last?.number ?? 0) + 1
        self.now = now
    }

    /// Grants a claim and returns nil, or returns the denial. After a denial the group must not be stored.
    ///
    /// `wasEvicted` says whether the store has recorded an eviction of this playback.
    mutating func take(_ claim: SlotClaim, wasEvicted: Bool) -> DecisionDenial? {
        let device = claim.playback.device
        let name = PlaybackName(claim.playback)
        let wasEvictedHere = evicted.contains { $0.device == device && $0.playback == name && $0.heldUntil > now }
        if wasEvicted || wasEvictedHere { return .slotEvicted }
        // An earlier claim of the same decision may have had a duration of zero. Its slot has ended too.
        slots.removeAll { $0.heldUntil <= now }
        let place = place(of: claim.playback, name) ?? append(claim, name)
        if slots[place].device == device { slots[place].playback = name }
        slots[place].content = claim.playback.content
        slots[place].isConfirmed = slots[place].isConfirmed || claim.isConfirmed
        slots[place].heldUntil = max(slots[place].heldUntil, claim.heldUntil)
        return slots[place].isCounted ? nil : count(place, for: claim)
    }

    /// Rules 1 to 3: the slot that the playback claims.
    private func place(of playback: SlotClaim.Playback, _ name: PlaybackName) -> Int? {
        let device = playback.device
        if let own = slots.firstIndex(where: { $0.device == device && $0.playback == name }) { return own }
        let ofContent = slots.indices.filter {
            slots[$0].content == playback.content && (playback.isRelayed || slots[$0].device == device)
        }
        return ofContent.first { slots[$0].isCounted } ?? ofContent.first
    }

    private mutating func append(_ claim: SlotClaim, _ name: PlaybackName) -> Int {
        slots.append(
            Slot(
                number: takeNumber(), device: claim.playback.device, playback: name, content: claim.playback.content,
                isCounted: false, isConfirmed: false, heldUntil: claim.heldUntil))
        return slots.count - 1
    }

    private mutating func takeNumber() -> Int64 {
        defer { nextNumber += 1 }
        return nextNumber
    }

    /// Rules 4 to 7, for a slot that is not counted yet.
    private mutating func count(_ place: Int, for claim: SlotClaim) -> DecisionDenial? {
        var slot = slots.remove(at: place)
        if !claim.isConfirmed, mayWait(slot.device, limit: claim.limit) {
            slots.insert(slot, at: place)
            return nil
        }
        if let denial = makeRoom(for: slot.device, claim) { return denial }
        slot.isCounted = true
        slot.number = takeNumber()
        slots.append(slot)
        return nil
    }

    /// Rule 4: whether the device may have another slot that is not counted.
    private func mayWait(_ device: Pseudonym, limit: UInt32) -> Bool {
        let own = slots.filter { $0.device == device }
        return own.contains(where: \.isConfirmed) && own.count { !$0.isCounted } < limit
    }

    /// Rules 5 to 7: evicts slots, or denies the claim, if the group has no free slot.
    private mutating func makeRoom(for device: Pseudonym, _ claim: SlotClaim) -> DecisionDenial? {
        let counted = slots.filter(\.isCounted)
        let surplus = counted.count + 1 - Int(claim.limit)
        guard surplus > 0 else { return nil }
        let own = counted.filter { $0.device == device }
        if own.count < surplus, claim.whenFull == .denyNew {
            return .slotsFull(current: UInt32(counted.count), limit: claim.limit)
        }
        let others = counted.filter { $0.device != device }
        let victims = Array((own + others).prefix(surplus))
        evicted += victims
        slots.removeAll { slot in victims.contains { $0.number == slot.number } }
        return nil
    }
}

/// Identifies a playback of a device: the session's 8 bytes in big-endian order, or the content's 32 bytes if there is
/// no session.
struct PlaybackName: Equatable {
    let bytes: [UInt8]

    init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    init(_ playback: SlotClaim.Playback) {
        bytes =
            playback.session.map { session in (0..<8).map { UInt8(truncatingIfNeeded: session >> (56 - 8 * $0)) } }
            ?? playback.content.bytes
    }
}
