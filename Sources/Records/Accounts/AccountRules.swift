package import ContentKeys

/// The rules of what a subject may use, and of what counts as a repeat.
///
/// They are one function from an action, the cells that it names and the time to an answer and the changed cells. Each
/// store calls it while no other action can change these cells. It has no other input, and makes no changes of its own.
package enum AccountRules {
    /// The largest number of devices of a subject or token. A larger limit counts as this one.
    package static let devicesMaximum = 512
    /// The largest number of counted slots in a group. A larger limit counts as this one.
    package static let countedMaximum = 512
    /// The largest number of slots in a group, the counted and the others together.
    package static let slotsMaximum = 576
    /// How many former sessions of a slot are remembered.
    package static let formerMaximum = 8
    /// How many evicted playbacks of a group are remembered.
    package static let evictedMaximum = 32

    /// Applies an action to its cells, which must have been added before.
    ///
    /// A denial changes nothing. Throws `recordMalformed`, with nothing changed, if a cell has no meaning.
    package static func apply(
        _ action: AccountAction, to cells: inout AccountCells, at time: AccountTime
    ) throws(StoreError) -> AccountAnswer {
        do throws(StoreError) {
            let answer = try draft(action, in: &cells, at: time)
            cells.acceptDraft()
            return answer
        } catch {
            cells.discardDraft()
            throw error
        }
    }

    private static func draft(
        _ action: AccountAction, in cells: inout AccountCells, at time: AccountTime
    ) throws(StoreError) -> AccountAnswer {
        switch action {
        case .settle(let decision): .outcome(try settle(decision, in: &cells, at: time))
        case .noteRecorded(let request): .done(try noteRecorded(request, in: &cells, at: time))
        case .giveBack(let decision): .done(try giveBack(decision, in: &cells, at: time))
        case .release(let claims): .done(try release(claims, in: &cells, at: time))
        case .change(let change): .done(try make(change, in: &cells, at: time))
        case .openChallenge(let challenge, let holder, let expiresAt, let limit):
            .done(try open(challenge, for: holder, until: expiresAt, limit: limit, in: &cells, at: time))
        case .takeChallenge(let challenge, let holder): .done(try take(challenge, from: holder, in: &cells, at: time))
        }
    }

    // MARK: Decisions

    private static func settle(
        _ decision: LicenseDecision, in cells: inout AccountCells, at time: AccountTime
    ) throws(StoreError) -> DecisionOutcome {
        if let replay = decision.replay {
            if let outcome = try repetition(of: replay, in: &cells, at: time) { return outcome }
            cells.write(KnownRequest(replay, at: time.now), replay.request)
        }
        if let denial = try spend(decision, in: &cells, at: time) {
            cells.discardDraft()
            return .denied(denial)
        }
        return .recorded
    }

    /// A request that was decided before gets its answer again within its window, and is refused after it.
    private static func repetition(
        of replay: ReplayRecord, in cells: inout AccountCells, at time: AccountTime
    ) throws(StoreError) -> DecisionOutcome? {
        guard var known = try cells.read(KnownRequest.self, replay.request, at: time) else { return nil }
        guard time.now < known.retryUntil else { return .denied(.replayed) }
        let wasRecorded = known.isRecorded
        if !known.isHandedOut {
            known.isHandedOut = true
            cells.write(known, replay.request)
        }
        return .repeated(answer: known.answer, isRecorded: wasRecorded)
    }

    /// Spends all parts of a decision, in the order of the rules. Returns the first denial.
    private static func spend(
        _ decision: LicenseDecision, in cells: inout AccountCells, at time: AccountTime
    ) throws(StoreError) -> DecisionDenial? {
        if let claim = decision.rental, let denial = try rent(claim, in: &cells, at: time) { return denial }
        if let use = decision.sessionTokenUse, let denial = try renew(use, in: &cells, at: time) { return denial }
        if let use = decision.tokenUse, let denial = try count(use, in: &cells, at: time) { return denial }
        for place in decision.devicePlaces {
            if let denial = try take(place, in: &cells, at: time) { return denial }
        }
        for claim in decision.slotClaims {
            var group = try slots(of: claim.group, in: cells, at: time)
            if let denial = group.take(claim) { return denial }
            cells.write(group.list, claim.group)
        }
        return nil
    }

    /// The stored rental must be the one that the license was computed from.
    private static func rent(
        _ claim: RentalClaim, in cells: inout AccountCells, at time: AccountTime
    ) throws(StoreError) -> DecisionDenial? {
        let stored = try cells.read(StoredRental.self, claim.name, at: time)
        guard stored?.record == claim.known else { return .rentalDiffers(stored?.record) }
        let isChanged = claim.known != claim.record
        cells.write(
            StoredRental(
                subject: claim.owner, content: claim.content, record: claim.record,
                isShared: !isChanged, keptUntil: max(claim.keptUntil, stored?.keptUntil ?? .min)), claim.name)
        return nil
    }

    /// A token that is older than the newest one that its session has used is worthless.
    private static func renew(
        _ use: SessionTokenUse, in cells: inout AccountCells, at time: AccountTime
    ) throws(StoreError) -> DecisionDenial? {
        let known = try cells.read(SessionStanding.self, use.session, at: time)
        if let known, known.generation > use.generation { return .sessionSuperseded }
        let end = max(use.keptUntil, known?.keptUntil ?? .min)
        cells.write(SessionStanding(generation: use.generation, keptUntil: end), use.session)
        return nil
    }

    private static func count(
        _ use: TokenUse, in cells: inout AccountCells, at time: AccountTime
    ) throws(StoreError) -> DecisionDenial? {
        let name = UseCount.name(use.token, use.keyID)
        var count = try cells.read(UseCount.self, name, at: time) ?? UseCount(uses: 0, keptUntil: use.keptUntil)
        guard count.uses < use.limit else { return .tokenUsed(limit: use.limit) }
        count.uses += 1
        count.keptUntil = max(count.keptUntil, use.keptUntil)
        cells.write(count, name)
        return nil
    }

    /// A device that has a place keeps it. Another one needs a free place, or takes the oldest one.
    private static func take(
        _ place: DevicePlace, in cells: inout AccountCells, at time: AccountTime
    ) throws(StoreError) -> DecisionDenial? {
        var list = try devices(of: place.owner, in: cells, at: time)
        if let known = list.devices.firstIndex(where: { $0.device == place.device }) {
            list.devices[known].take(until: place.keptUntil, at: time.now)
        } else {
            let limit = min(Int(place.limit), devicesMaximum)
            if place.kind == .replacing, limit > 0 {
                list.devices.removeFirst(max(0, list.devices.count + 1 - limit))
            }
            guard list.devices.count < limit else { return place.denial }
            list.devices.append(
                KnownDevice(device: place.device, addedAt: time.now, seenAt: time.now, keptUntil: place.keptUntil))
        }
        cells.write(list, place.owner)
        return nil
    }

    /// The devices whose places have not ended.
    private static func devices(
        of owner: Pseudonym, in cells: AccountCells, at time: AccountTime
    ) throws(StoreError) -> DeviceList {
        var list = try cells.read(DeviceList.self, owner, at: time) ?? DeviceList()
        list.devices.removeAll { $0.keptUntil ?? .max <= time.settled }
        return list
    }

    private static func slots(
        of group: Pseudonym, in cells: AccountCells, at time: AccountTime
    ) throws(StoreError) -> SlotGroup {
        SlotGroup(try cells.read(PlaybackList.self, group, at: time) ?? PlaybackList(), at: time.now)
    }

    // MARK: Other actions

    private static func noteRecorded(
        _ request: Pseudonym, in cells: inout AccountCells, at time: AccountTime
    ) throws(StoreError) -> Bool {
        guard var known = try cells.read(KnownRequest.self, request, at: time), !known.isRecorded else { return false }
        known.isRecorded = true
        cells.write(known, request)
        return true
    }

    /// Takes back the use and the rental, and forgets the request. Changes nothing if the request was settled with
    /// another answer, or if a node has recorded it or has got its answer again: that node gives the license. Keeps a
    /// rental from which another license was computed. Places and slots stay, because the device keeps them when it
    /// asks again.
    private static func giveBack(
        _ decision: LicenseDecision, in cells: inout AccountCells, at time: AccountTime
    ) throws(StoreError) -> Bool {
        guard let replay = decision.replay, let known = try cells.read(KnownRequest.self, replay.request, at: time),
            known.answer == replay.answer, !known.isRecorded, !known.isHandedOut
        else { return false }
        cells.remove(.request, replay.request)
        if let use = decision.tokenUse {
            let name = UseCount.name(use.token, use.keyID)
            if var count = try cells.read(UseCount.self, name, at: time), count.uses > 0 {
                count.uses -= 1
                cells.write(count, name)
            }
        }
        if let claim = decision.rental, var rental = try cells.read(StoredRental.self, claim.name, at: time),
            rental.record == claim.record, claim.known != claim.record, !rental.isShared
        {
            if let known = claim.known {
                rental.record = known
                rental.isShared = true
                cells.write(rental, claim.name)
            } else {
                cells.remove(.rental, claim.name)
            }
        }
        return true
    }

    private static func release(
        _ claims: [SlotClaim], in cells: inout AccountCells, at time: AccountTime
    ) throws(StoreError) -> Bool {
        var hasChanged = false
        for claim in claims {
            var group = try slots(of: claim.group, in: cells, at: time)
            guard group.release(claim.playback) else { continue }
            cells.write(group.list, claim.group)
            hasChanged = true
        }
        return hasChanged
    }

    private static func make(
        _ change: AccountChange, in cells: inout AccountCells, at time: AccountTime
    ) throws(StoreError) -> Bool {
        switch change {
        case .removeDevice(let owner, let device):
            var list = try devices(of: owner, in: cells, at: time)
            guard let known = list.devices.firstIndex(where: { $0.device == device }) else { return false }
            list.devices.remove(at: known)
            cells.write(list, owner)
        case .endPlayback(let position):
            var group = try slots(of: position.group, in: cells, at: time)
            guard group.end(position.number) else { return false }
            cells.write(group.list, position.group)
        case .forgetRental(let owner, let name):
            guard try cells.read(StoredRental.self, name, at: time)?.subject == owner else { return false }
            cells.remove(.rental, name)
        }
        return true
    }

    // MARK: Challenges

    private static func open(
        _ challenge: UInt64, for holder: Pseudonym, until expiresAt: Int64, limit: Int, in cells: inout AccountCells,
        at time: AccountTime
    ) throws(StoreError) -> Bool {
        var list = try cells.read(ChallengeList.self, holder, at: time) ?? ChallengeList()
        list.challenges.removeAll { $0.expiresAt <= time.now }
        guard list.challenges.count < min(limit, ChallengeList.countMaximum),
            !list.challenges.contains(where: { $0.challenge == challenge })
        else { return false }
        list.challenges.append(ChallengeList.OpenChallenge(challenge: challenge, expiresAt: expiresAt))
        cells.write(list, holder)
        return true
    }

    private static func take(
        _ challenge: UInt64, from holder: Pseudonym, in cells: inout AccountCells, at time: AccountTime
    ) throws(StoreError) -> Bool {
        guard var list = try cells.read(ChallengeList.self, holder, at: time),
            let known = list.challenges.firstIndex(where: { $0.challenge == challenge })
        else { return false }
        let isOpen = list.challenges.remove(at: known).expiresAt > time.now
        cells.write(list, holder)
        return isOpen
    }
}

extension KnownRequest {
    fileprivate init(_ replay: ReplayRecord, at now: Int64) {
        let (retryUntil, overflows) = now.addingReportingOverflow(replay.retryWindow)
        self.init(
            isRecorded: false, isHandedOut: false, retryUntil: overflows ? .max : retryUntil,
            keptUntil: replay.keptUntil,
            answer: replay.answer)
    }
}

extension KnownDevice {
    /// Notes another license. Of two ends, the later one holds.
    fileprivate mutating func take(until end: Int64?, at now: Int64) {
        seenAt = now
        if let end, let known = keptUntil { keptUntil = max(known, end) } else { keptUntil = nil }
    }
}
