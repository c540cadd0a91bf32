/// Applies claims to the playbacks of one group, by the numbered rules of `SlotClaim`.
struct SlotGroup {
    struct Slot: Equatable {
        /// An older slot has a smaller number.
        var number: Int64
        var device: Pseudonym
        /// The playback session; nil if the content identifies the playback.
        var session: UInt64?
        /// Sessions of the device that held the slot before, the newest last. They end with the slot.
        var formerSessions: [UInt64] = []
        /// The screen or adapter that shows the playback, one at a time; nil without one.
        var screen: Screen?
        var content: Pseudonym
        /// The content id, for lists; nil if no claim has told it.
        var contentName: String?
        var isCounted: Bool
        var isConfirmed: Bool
        /// Whether an operator has ended it.
        var isEnded = false
        var heldUntil: Int64

        /// A playback on a screen or adapter of the viewer.
        struct Screen: Equatable {
            let device: Pseudonym
            let session: UInt64?
        }

        func belongs(to playback: SlotClaim.Playback) -> Bool {
            device == playback.device && session == playback.session
                && (session != nil || content == playback.content)
        }

        /// Whether the playback holds the slot, or has held it before another session of its device.
        func hasBelonged(to playback: SlotClaim.Playback) -> Bool {
            belongs(to: playback)
                || device == playback.device && playback.session.map(formerSessions.contains) ?? false
        }

        /// Gives the slot to another session of its device.
        mutating func take(by next: UInt64?) {
            guard next != session else { return }
            formerSessions.removeAll { $0 == next }
            if let session { formerSessions = (formerSessions + [session]).suffix(AccountRules.formerMaximum) }
            session = next
        }
    }

    /// The playbacks, without those that have ended.
    private(set) var list: PlaybackList
    private var nextNumber: Int64
    private let now: Int64

    private var slots: [Slot] {
        get { list.slots }
        set { list.slots = newValue }
    }

    /// Slots that have ended at `now` are left out. The stored ones are in the order of their numbers.
    init(_ stored: PlaybackList, at now: Int64) {
        list = stored
        list.slots.removeAll { $0.heldUntil <= now }
        list.evicted.removeAll { $0.heldUntil <= now }
        // Two playbacks never have the same number, or an operator could end another one than was shown. The time
        // tells them apart if the cell was deleted meanwhile.
        nextNumber = (stored.slots + stored.evicted).map(\.number).reduce(now, max) &+ 1
        self.now = now
    }

    /// Grants a claim and returns nil, or returns the denial. After a denial the group must not be stored.
    mutating func take(_ claim: SlotClaim) -> DecisionDenial? {
        // An earlier claim of the same decision may have had a duration of zero. Its slot has ended too.
        slots.removeAll { [now] in $0.heldUntil <= now }
        if list.evicted.contains(where: { $0.hasBelonged(to: claim.playback) }) { return .slotEvicted }
        var claim = claim
        claim.limit = min(claim.limit, UInt32(AccountRules.countedMaximum))
        guard let place = place(of: claim.playback) ?? append(claim) else {
            return .slotsFull(current: UInt32(slots.count { $0.isCounted }), limit: claim.limit)
        }
        if claim.playback.isRelayed { show(claim.playback, at: place) }
        if slots[place].device == claim.playback.device { slots[place].take(by: claim.playback.session) }
        slots[place].content = claim.playback.content
        slots[place].isConfirmed = slots[place].isConfirmed || claim.isConfirmed
        slots[place].heldUntil = max(slots[place].heldUntil, claim.heldUntil)
        if let description = claim.description {
            slots[place].contentName = description.content
            list.group = PlaybackList.Group(owner: description.owner, name: description.groupName)
        }
        return slots[place].isCounted ? nil : count(place, for: claim)
    }

    /// Frees the slot that a playback holds. An evicted playback stays evicted. Returns whether the slot was held.
    mutating func release(_ playback: SlotClaim.Playback) -> Bool {
        guard let place = slots.firstIndex(where: { $0.belongs(to: playback) }) else { return false }
        slots.remove(at: place)
        return true
    }

    /// Ends the playback with this number, and refuses its renewals until its slot would have ended. Returns whether
    /// the slot was held.
    mutating func end(_ number: Int64) -> Bool {
        guard var slot = slots.first(where: { $0.number == number }) else { return false }
        slot.isEnded = true
        evict([slot])
        return true
    }

    /// Rules 1 to 3: the slot that the playback claims.
    private func place(of playback: SlotClaim.Playback) -> Int? {
        if let own = slots.firstIndex(where: { $0.belongs(to: playback) }) { return own }
        let ofContent = slots.indices.filter {
            slots[$0].content == playback.content && (playback.isRelayed || slots[$0].device == playback.device)
        }
        return ofContent.first { slots[$0].isCounted } ?? ofContent.first
    }

    /// Returns nil if the group has as many slots as a cell can hold.
    private mutating func append(_ claim: SlotClaim) -> Int? {
        guard slots.count < AccountRules.slotsMaximum else { return nil }
        slots.append(
            Slot(
                number: takeNumber(), device: claim.playback.device, session: claim.playback.session,
                content: claim.playback.content, contentName: nil, isCounted: false, isConfirmed: false,
                heldUntil: claim.heldUntil))
        return slots.count - 1
    }

    /// Shows a playback on a screen. Another screen, on which it was shown before, loses it.
    private mutating func show(_ playback: SlotClaim.Playback, at place: Int) {
        if let before = slots[place].onScreen, before.device != playback.device { remember([before]) }
        slots[place].screen = Slot.Screen(device: playback.device, session: playback.session)
    }

    private mutating func takeNumber() -> Int64 {
        defer { nextNumber &+= 1 }
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
        evict((own + others).prefix(surplus))
        return nil
    }

    /// Takes slots away, and remembers their playbacks and those of their screens.
    private mutating func evict(_ victims: some Collection<Slot>) {
        slots.removeAll { slot in victims.contains { $0.number == slot.number } }
        // A screen may hold a slot by itself.
        remember(
            victims.flatMap { slot in [slot] + [slot.onScreen].compactMap(\.self).filter { $0.device != slot.device } })
    }

    /// Remembers playbacks that have lost their slots, until the slots would have ended. If there are too many, those
    /// that end first are forgotten, and those that an operator has ended last of all. A forgotten playback is a new
    /// one, which the limit counts.
    private mutating func remember(_ victims: some Sequence<Slot>) {
        let all = (list.evicted + victims).sorted {
            ($0.isEnded ? 1 : 0, $0.heldUntil) < ($1.isEnded ? 1 : 0, $1.heldUntil)
        }
        list.evicted = all.suffix(AccountRules.evictedMaximum)
    }
}

extension SlotGroup.Slot {
    /// The slot as its screen would hold it; nil if it has no screen.
    fileprivate var onScreen: SlotGroup.Slot? {
        guard let screen else { return nil }
        var slot = self
        (slot.device, slot.session, slot.formerSessions, slot.screen) = (screen.device, screen.session, [], nil)
        return slot
    }
}
