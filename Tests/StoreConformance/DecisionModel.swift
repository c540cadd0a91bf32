import ByteCoding
package import Records

/// A second opinion on `AccountRules`: a model over arrays, which is written to be read and not to be fast. Stores are
/// compared with it.
package struct DecisionModel: Sendable {
    /// A playback slot, as described by `SlotClaim`.
    package struct Slot: Equatable, Sendable {
        package var group: Pseudonym
        package var device: Pseudonym
        package var playback: Playback
        /// The sessions that held the slot before.
        package var former: [Playback] = []
        /// The screen that shows it.
        package var screen: Screen?
        package var content: Pseudonym
        package var isConfirmed: Bool
        package var isCounted = false
        package var isEvicted = false
        /// An older slot has a smaller number. No two slots have the same.
        package var number: Int
        package var heldUntil: Int64
    }

    package struct Screen: Equatable, Sendable {
        let device: Pseudonym
        let playback: Playback
    }

    /// Identifies a playback of a device.
    package enum Playback: Equatable, Sendable {
        case session(UInt64)
        case content(Pseudonym)
    }

    private struct Request {
        var isRecorded = false
        var isHandedOut = false
        let retryUntil: Int64
        let keptUntil: Int64
        let answer: [UInt8]
    }

    private struct UseCount {
        let token: Pseudonym
        let keyID: KeyID
        var uses: UInt32
        var keptUntil: Int64
    }

    private struct Place {
        let owner: Pseudonym
        let device: Pseudonym
        var keptUntil: Int64
    }

    private struct Challenge {
        let challenge: UInt64
        let holder: Pseudonym
        let expiresAt: Int64
    }

    private var requests: [Pseudonym: Request] = [:]
    private var useCounts: [UseCount] = []
    private var sessions: [Pseudonym: SessionTokenUse] = [:]
    private var places: [Place] = []
    private var rentals: [Pseudonym: RentalClaim] = [:]
    /// Rentals whose record another license was computed from.
    private var sharedRentals: Set<Pseudonym> = []
    private(set) package var slots: [Slot] = []
    private var slotNumber = 0
    private var challenges: [Challenge] = []

    package init() {}

    package mutating func commit(_ decision: LicenseDecision) -> DecisionOutcome {
        settle(decision, at: AccountTime(now: decision.now, settled: decision.now))
    }

    /// Answers an action as `AccountRules` does. Of a playback that an operator ends, `slot` is its place among the
    /// live slots of the group, from the smallest number on; nil if it is not live.
    package mutating func perform(_ action: AccountAction, at time: AccountTime, slot: Int? = nil) -> AccountAnswer {
        requests = requests.filter { $0.value.keptUntil > time.settled }
        useCounts.removeAll { $0.keptUntil <= time.settled }
        sessions = sessions.filter { $0.value.keptUntil > time.settled }
        places.removeAll { $0.keptUntil <= time.settled }
        rentals = rentals.filter { $0.value.keptUntil > time.settled }
        slots.removeAll { $0.heldUntil <= time.now }
        challenges.removeAll { $0.expiresAt <= time.now }
        switch action {
        case .settle(let decision): return .outcome(settle(decision, at: time))
        case .noteRecorded(let request):
            guard requests[request]?.isRecorded == false else { return .done(false) }
            requests[request]?.isRecorded = true
            return .done(true)
        case .giveBack(let decision): return .done(giveBack(decision))
        case .release(let claims): return .done(release(claims))
        case .change(.removeDevice(let owner, let device)):
            return .done(places.remove { $0.owner == owner && $0.device == device })
        case .change(.endPlayback(let position)): return .done(end(slot, of: position.group))
        case .change(.forgetRental(let owner, let name)):
            guard rentals[name]?.owner == owner else { return .done(false) }
            rentals[name] = nil
            return .done(true)
        case .openChallenge(let challenge, let holder, let expiresAt, let limit):
            let open = challenges.filter { $0.holder == holder }
            guard open.count < limit, !open.contains(where: { $0.challenge == challenge }) else { return .done(false) }
            challenges.append(Challenge(challenge: challenge, holder: holder, expiresAt: expiresAt))
            return .done(true)
        case .takeChallenge(let challenge, let holder):
            return .done(challenges.remove { $0.challenge == challenge && $0.holder == holder })
        }
    }

    private mutating func settle(_ decision: LicenseDecision, at time: AccountTime) -> DecisionOutcome {
        if let replay = decision.replay, let outcome = outcome(of: replay, at: time) { return outcome }
        var next = self
        if let denial = next.spend(decision, at: time) { return .denied(denial) }
        self = next
        return .recorded
    }

    private mutating func giveBack(_ decision: LicenseDecision) -> Bool {
        guard let replay = decision.replay, let known = requests[replay.request], known.answer == replay.answer,
            !known.isRecorded, !known.isHandedOut
        else { return false }
        requests[replay.request] = nil
        if let use = decision.tokenUse,
            let count = useCounts.firstIndex(where: { $0.token == use.token && $0.keyID == use.keyID })
        {
            useCounts[count].uses -= 1
            useCounts.removeAll { $0.uses == 0 }
        }
        if let claim = decision.rental, rentals[claim.name]?.record == claim.record, claim.known != claim.record,
            !sharedRentals.contains(claim.name)
        {
            if let record = claim.known { rentals[claim.name]?.record = record } else { rentals[claim.name] = nil }
            sharedRentals.insert(claim.name)
        }
        return true
    }

    private mutating func end(_ place: Int?, of group: Pseudonym) -> Bool {
        let live = slots.filter { $0.group == group && !$0.isEvicted }.sorted { $0.number < $1.number }
        guard let place, let index = slots.firstIndex(of: live[place]) else { return false }
        evict(index)
        return true
    }

    /// Takes a slot away, also from its screen.
    private mutating func evict(_ index: Int) {
        slots[index].isEvicted = true
        if let screen = slots[index].screen, screen.device != slots[index].device { endScreen(of: slots[index]) }
    }

    /// Remembers that the screen of a slot has lost it.
    private mutating func endScreen(of slot: Slot) {
        guard let screen = slot.screen else { return }
        var ended = slot
        (ended.device, ended.playback, ended.former, ended.screen) = (screen.device, screen.playback, [], nil)
        ended.isEvicted = true
        ended.number = nextNumber()
        slots.append(ended)
    }

    /// Frees the slots that the playbacks of these claims hold. Returns whether there was one.
    private mutating func release(_ claims: [SlotClaim]) -> Bool {
        let count = slots.count
        for claim in claims {
            let playback = claim.playback.session.map { Playback.session($0) } ?? .content(claim.playback.content)
            slots.removeAll {
                $0.group == claim.group && $0.device == claim.playback.device && $0.playback == playback
                    && !$0.isEvicted
            }
        }
        return slots.count < count
    }

    /// Returns the slots that are counted at a time.
    package func countedSlots(of group: Pseudonym, at now: Int64) -> [Slot] {
        slots.filter { $0.group == group && $0.isCounted && !$0.isEvicted && $0.heldUntil > now }
    }

    // MARK: Replay

    private mutating func outcome(of replay: ReplayRecord, at time: AccountTime) -> DecisionOutcome? {
        guard let known = requests[replay.request], known.keptUntil > time.settled else { return nil }
        guard time.now < known.retryUntil else { return .denied(.replayed) }
        requests[replay.request]?.isHandedOut = true
        return .repeated(answer: known.answer, isRecorded: known.isRecorded)
    }

    // MARK: What is spent

    private mutating func spend(_ decision: LicenseDecision, at time: AccountTime) -> DecisionDenial? {
        if let replay = decision.replay {
            requests[replay.request] = Request(
                retryUntil: time.now + replay.retryWindow, keptUntil: replay.keptUntil, answer: replay.answer)
        }
        if let denial = decision.rental.flatMap({ rent($0, at: time.settled) }) { return denial }
        if let denial = decision.sessionTokenUse.flatMap({ session($0, at: time.settled) }) { return denial }
        if let denial = decision.tokenUse.flatMap({ use($0, at: time.settled) }) { return denial }
        for place in decision.devicePlaces {
            if let denial = take(place, at: time.settled) { return denial }
        }
        for claim in decision.slotClaims {
            if let denial = slot(claim, at: time.now) { return denial }
        }
        return nil
    }

    private mutating func session(_ use: SessionTokenUse, at now: Int64) -> DecisionDenial? {
        guard let known = sessions[use.session], known.keptUntil > now else {
            sessions[use.session] = use
            return nil
        }
        guard use.generation >= known.generation else { return .sessionSuperseded }
        sessions[use.session] = SessionTokenUse(
            session: use.session, generation: use.generation, keptUntil: max(known.keptUntil, use.keptUntil))
        return nil
    }

    private mutating func use(_ use: TokenUse, at now: Int64) -> DecisionDenial? {
        useCounts.removeAll { $0.keptUntil <= now }
        guard let known = useCounts.firstIndex(where: { $0.token == use.token && $0.keyID == use.keyID }) else {
            useCounts.append(UseCount(token: use.token, keyID: use.keyID, uses: 1, keptUntil: use.keptUntil))
            return nil
        }
        guard useCounts[known].uses < use.limit else { return .tokenUsed(limit: use.limit) }
        useCounts[known].uses += 1
        useCounts[known].keptUntil = max(useCounts[known].keptUntil, use.keptUntil)
        return nil
    }

    private mutating func take(_ place: DevicePlace, at now: Int64) -> DecisionDenial? {
        places.removeAll { $0.keptUntil <= now }
        let end = place.keptUntil ?? .max
        if let known = places.firstIndex(where: { $0.owner == place.owner && $0.device == place.device }) {
            places[known].keptUntil = max(places[known].keptUntil, end)
            return nil
        }
        if place.kind == .replacing, place.limit > 0 {
            while places.count(where: { $0.owner == place.owner }) >= place.limit,
                let oldest = places.firstIndex(where: { $0.owner == place.owner })
            {
                places.remove(at: oldest)
            }
        }
        guard places.count(where: { $0.owner == place.owner }) < place.limit else {
            return place.kind == .binding ? .otherDevice : .deviceLimit(limit: place.limit)
        }
        places.append(Place(owner: place.owner, device: place.device, keptUntil: end))
        return nil
    }

    private mutating func rent(_ claim: RentalClaim, at now: Int64) -> DecisionDenial? {
        let stored = rentals[claim.name].flatMap { $0.keptUntil > now ? $0 : nil }
        guard stored?.record == claim.known else { return .rentalDiffers(stored?.record) }
        rentals[claim.name] = claim
        if claim.known == claim.record { sharedRentals.insert(claim.name) } else { sharedRentals.remove(claim.name) }
        rentals[claim.name]?.keptUntil = max(claim.keptUntil, stored?.keptUntil ?? .min)
        return nil
    }

    // MARK: Slots, rule by rule

    private mutating func slot(_ claim: SlotClaim, at now: Int64) -> DecisionDenial? {
        slots.removeAll { $0.heldUntil <= now }
        let (device, content) = (claim.playback.device, claim.playback.content)
        let playback = claim.playback.session.map { Playback.session($0) } ?? .content(content)
        let own = slots.filter { $0.group == claim.group && $0.device == device }
        if own.contains(where: { $0.isEvicted && ($0.playback == playback || $0.former.contains(playback)) }) {
            return .slotEvicted
        }
        let mine = own.filter { $0.playback == playback && !$0.isEvicted }
        var slot: Slot
        if let found = found(claim, mine: mine.first) {
            slots.removeAll { $0.number == found.number }
            slot = found
        } else {
            slot = Slot(
                group: claim.group, device: device, playback: playback, content: content,
                isConfirmed: false, number: nextNumber(), heldUntil: claim.heldUntil)
        }
        if claim.playback.isRelayed {
            if let before = slot.screen, before.device != device { endScreen(of: slot) }
            slot.screen = Screen(device: device, playback: playback)
        }
        if slot.device == device, slot.playback != playback {
            slot.former.removeAll { $0 == playback }
            if case .session = slot.playback { slot.former = (slot.former + [slot.playback]).suffix(8) }
            slot.playback = playback
        }
        slot.content = content
        slot.isConfirmed = slot.isConfirmed || claim.isConfirmed
        slot.heldUntil = max(slot.heldUntil, claim.heldUntil)
        let denial = slot.isCounted ? nil : count(&slot, for: claim)
        slots.append(slot)
        return denial
    }

    private mutating func nextNumber() -> Int {
        slotNumber += 1
        return slotNumber
    }

    /// Rules 1 to 3: returns the slot that the claim finds; nil if it finds none.
    private func found(_ claim: SlotClaim, mine: Slot?) -> Slot? {
        if let mine { return mine }
        let ofContent = oldestFirst(slots.filter { $0.group == claim.group && $0.content == claim.playback.content })
        if claim.playback.isRelayed, let joined = ofContent.first { return joined }
        return ofContent.first { $0.device == claim.playback.device }
    }

    /// Rules 4 to 7, for a slot that was removed from `slots` before.
    private mutating func count(_ slot: inout Slot, for claim: SlotClaim) -> DecisionDenial? {
        let others = oldestFirst(slots.filter { $0.group == slot.group })
        let device = slot.device
        let beside = others.count { $0.device == device && !$0.isCounted }
        let isConfirmedHolder = others.contains { $0.device == device && $0.isConfirmed }
        if !claim.isConfirmed, isConfirmedHolder, beside < claim.limit { return nil }

        let counted = others.filter(\.isCounted)
        let inOrder = counted.filter { $0.device == device } + counted.filter { $0.device != device }
        let victims = inOrder.prefix(max(0, counted.count + 1 - Int(claim.limit)))
        if claim.whenFull == .denyNew, victims.contains(where: { $0.device != device }) {
            return .slotsFull(current: UInt32(counted.count), limit: claim.limit)
        }
        for index in slots.indices where victims.contains(slots[index]) { evict(index) }
        slot.isCounted = true
        slot.number = nextNumber()
        return nil
    }

    /// Returns the slots that are not evicted: the counted ones first, each group from the oldest on.
    private func oldestFirst(_ slots: [Slot]) -> [Slot] {
        let live = slots.filter { !$0.isEvicted }.sorted { $0.number < $1.number }
        return live.filter(\.isCounted) + live.filter { !$0.isCounted }
    }
}

extension Array {
    /// Removes the first element for which a condition holds. Returns whether there was one.
    fileprivate mutating func remove(where isMeant: (Element) -> Bool) -> Bool {
        guard let index = firstIndex(where: isMeant) else { return false }
        remove(at: index)
        return true
    }
}
