import ByteCoding
import ContentKeys
import TestSupport
import Testing

@testable import Records

/// Rules that neither the conformance of stores nor the model reaches.
@Suite struct AccountRulesTests {
    private static let start = AccountTime(now: 0, settled: 0)
    private static let owner = SampleDecisions.pseudonym(.owner, 1)
    private static let group = SampleDecisions.pseudonym(.group, 1)

    private static func decision(
        replay: ReplayRecord? = nil, use: TokenUse? = nil, devices: [DevicePlace] = [], slots: [SlotClaim] = [],
        rental: RentalClaim? = nil
    ) -> AccountAction {
        var decision = LicenseDecision(
            now: 0, replay: replay, tokenUse: use, devicePlaces: devices, slotClaims: slots,
            entry: SampleDecisions.entry(1))
        decision.rental = rental
        return .settle(decision)
    }

    /// Applies an action to a single cell that is stored.
    private func apply(
        _ action: AccountAction, to contents: some CellContents, _ name: Pseudonym
    ) throws -> (answer: AccountAnswer, cells: AccountCells) {
        var cells = AccountCells()
        for cell in action.cells { cells.add(cell.key, nil) }
        cells.add(CellKey(type(of: contents).kind, name), contents.encoded())
        return (try AccountRules.apply(action, to: &cells, at: Self.start), cells)
    }

    // MARK: The sizes of cells

    @Test func admitsNoMoreDevicesThanACellCanHold() throws {
        func devices(_ count: UInt64) -> DeviceList {
            DeviceList(
                devices: (0..<count).map {
                    KnownDevice(device: SampleDecisions.pseudonym(.device, $0), addedAt: 0, seenAt: 0, keptUntil: nil)
                })
        }
        func place(_ device: UInt64, _ kind: DevicePlace.Kind = .counted) -> AccountAction {
            Self.decision(devices: [SampleDecisions.place(device: device, limit: .max, kind)])
        }
        #expect(try apply(place(900), to: devices(511), Self.owner).answer == .outcome(.recorded))
        #expect(
            try apply(place(900), to: devices(512), Self.owner).answer
                == .outcome(.denied(.deviceLimit(limit: .max))))
        #expect(try apply(place(7), to: devices(512), Self.owner).answer == .outcome(.recorded))
        let replaced = try apply(place(900, .replacing), to: devices(512), Self.owner)
        let list = try #require(try replaced.cells.read(DeviceList.self, Self.owner, at: Self.start))
        #expect(replaced.answer == .outcome(.recorded) && list.devices.count == 512)
        #expect(list.devices.first?.device == SampleDecisions.pseudonym(.device, 1), "the oldest one was replaced")
    }

    @Test func notesWhenADeviceWasSeen() async throws {
        let store = MemoryCellStore()
        for (now, end) in [(5, 100), (7, 90), (9, nil), (8, 300)] as [(Int64, Int64?)] {
            let place = SampleDecisions.place(device: 1, limit: 1, keptUntil: end)
            #expect(try await store.perform(Self.decision(devices: [place]), now: now) == .outcome(.recorded))
            let device = try #require(try await store.devices(of: Self.owner, after: nil, now: now, limit: 1).first)
            #expect(device.addedAt == 5 && device.seenAt == now && device.keptUntil == (now < 8 ? 100 : nil))
        }
    }

    @Test(arguments: SlotClaim.WhenFull.allCases)
    func countsNoMoreSlotsThanACellCanHold(whenFull: SlotClaim.WhenFull) throws {
        func slots(_ count: UInt64, counted: Bool = true) -> PlaybackList {
            PlaybackList(
                slots: (0..<count).map {
                    SlotGroup.Slot(
                        number: Int64($0), device: SampleDecisions.pseudonym(.device, $0), session: $0,
                        content: SampleDecisions.pseudonym(.content, $0), contentName: nil, isCounted: counted,
                        isConfirmed: true, heldUntil: 1000)
                })
        }
        func claim(_ device: UInt64) -> AccountAction {
            Self.decision(slots: [
                SampleDecisions.slot(limit: .max, whenFull, device: device, session: device, content: device)
            ])
        }
        #expect(try apply(claim(900), to: slots(511), Self.group).answer == .outcome(.recorded))
        let full = try apply(claim(900), to: slots(512), Self.group)
        #expect(
            full.answer
                == .outcome(whenFull == .denyNew ? .denied(.slotsFull(current: 512, limit: 512)) : .recorded))
        #expect(try apply(claim(7), to: slots(512), Self.group).answer == .outcome(.recorded))
        #expect(
            try apply(claim(900), to: slots(576, counted: false), Self.group).answer
                == .outcome(.denied(.slotsFull(current: 0, limit: 512))))
    }

    /// A playback whose eviction was forgotten is a new one. Whatever is forgotten, the limit holds.
    @Test func forgetsTheEvictionsThatEndFirstAndKeepsTheLimit() throws {
        var random = SeededGenerator.announced("a group forgets evictions and keeps its limit")
        var cells = AccountCells()
        cells.add(CellKey(.playbacks, Self.group), nil)
        var evicted: [SlotGroup.Slot] = []
        var forgotten = 0
        for _ in 0..<TestLength.inputs(short: 600, long: 6_000) {
            let playback = UInt64.random(in: 0..<60, using: &random)
            let claim = SampleDecisions.slot(
                limit: 3, .evictOldest, device: playback, session: playback, content: playback,
                heldUntil: .random(in: 1...1000, using: &random))
            let isEvicted = evicted.contains { $0.belongs(to: claim.playback) }
            let answer = try AccountRules.apply(Self.decision(slots: [claim]), to: &cells, at: Self.start)
            #expect(answer == .outcome(isEvicted ? .denied(.slotEvicted) : .recorded))
            let list = try #require(try cells.read(PlaybackList.self, Self.group, at: Self.start))
            #expect(list.slots.count(where: \.isCounted) <= 3 && list.evicted.count <= 32)
            let lost = evicted.filter { !list.evicted.contains($0) }
            #expect(lost.allSatisfy { one in list.evicted.allSatisfy { one.heldUntil <= $0.heldUntil } })
            forgotten += lost.count
            evicted = list.evicted
        }
        #expect(forgotten > 0)
    }

    /// A viewer whose playback an operator has ended could start others until the end was forgotten.
    @Test func forgetsAnOperatorsEndAfterAllEvictions() async throws {
        let store = MemoryCellStore()
        func start(_ number: UInt64) async throws -> DecisionOutcome {
            let claim = SampleDecisions.slot(
                limit: 1, .evictOldest, device: 1, session: number, content: number, heldUntil: 100 + Int64(number))
            return try await store.perform(Self.decision(slots: [claim]), now: 0).outcome
        }
        #expect(try await start(1) == .recorded)
        let cells = try await store.cell(CellKey(.playbacks, Self.group), now: 0)
        let stored = try #require(cells.cells.first)
        let number = try #require(try PlaybackList(parsing: stored.bytes).slots.first?.number)
        let position = PlaybackPosition(group: Self.group, number: number)
        #expect(try await store.change(.endPlayback(position), now: 0))
        for number in 2...60 as ClosedRange<UInt64> { #expect(try await start(number) == .recorded) }
        #expect(try await start(2) == .recorded, "an eviction was forgotten")
        #expect(try await start(1) == .denied(.slotEvicted))
    }

    /// A device that had started a film twice went on with its first session when its slot was taken away.
    @Test func takesTheSlotOfAllSessionsOfAPlayback() async throws {
        let store = MemoryCellStore()
        func start(_ device: UInt64, _ session: UInt64) async throws -> DecisionOutcome {
            let claim = SampleDecisions.slot(limit: 1, .evictOldest, device: device, session: session)
            return try await store.perform(Self.decision(slots: [claim]), now: 0).outcome
        }
        for session in [7, 8, 7, 9] as [UInt64] { #expect(try await start(1, session) == .recorded) }
        #expect(try await start(2, 1) == .recorded)
        for session in [7, 8, 9] as [UInt64] { #expect(try await start(1, session) == .denied(.slotEvicted)) }
        #expect(try await start(1, 10) == .recorded, "another session is a new playback")
        #expect(try await start(2, 1) == .denied(.slotEvicted))
    }

    /// Any number of screens could show one playback, and they went on when its slot was taken away.
    @Test(arguments: [true, false])
    func showsAPlaybackOnOneScreen(hasSender: Bool) async throws {
        let store = MemoryCellStore()
        func start(_ device: UInt64, relayed: Bool = true, content: UInt64 = 1) async throws -> DecisionOutcome {
            let claim = SampleDecisions.slot(
                limit: 1, .evictOldest, device: device, session: device, content: content, relayed: relayed)
            return try await store.perform(Self.decision(slots: [claim]), now: 0).outcome
        }
        if hasSender { #expect(try await start(1, relayed: false) == .recorded) }
        for screen in [7, 7, 8, 9, 9] as [UInt64] { #expect(try await start(screen) == .recorded) }
        for screen in [7, 8] as [UInt64] { #expect(try await start(screen) == .denied(.slotEvicted)) }
        #expect(try await start(9) == .recorded)
        #expect(try await start(2, relayed: false, content: 2) == .recorded)
        for screen in [7, 8, 9] as [UInt64] { #expect(try await start(screen) == .denied(.slotEvicted)) }
        if hasSender { #expect(try await start(1, relayed: false) == .denied(.slotEvicted)) }
    }

    @Test func countsOnAfterTheLargestNumber() throws {
        var slot = SlotGroup.Slot(
            number: .max, device: SampleDecisions.pseudonym(.device, 1), session: 1,
            content: SampleDecisions.pseudonym(.content, 1), contentName: nil, isCounted: true, isConfirmed: true,
            heldUntil: .max)
        let claim = Self.decision(slots: [SampleDecisions.slot(limit: 2, device: 2, session: 2, heldUntil: .max)])
        for number in [Int64.max, .max - 1, .min] {
            slot.number = number
            #expect(try apply(claim, to: PlaybackList(slots: [slot]), Self.group).answer == .outcome(.recorded))
        }
    }

    // MARK: Give-backs

    private static let opened = RentalRecord(openedAt: 5)
    private static let played = RentalRecord(openedAt: 5, firstPlay: 7)

    private func spending(known: RentalRecord?, _ record: RentalRecord, request: UInt64 = 1) -> LicenseDecision {
        var decision = LicenseDecision(
            now: 0, replay: SampleDecisions.replay(request), tokenUse: SampleDecisions.use(limit: 1),
            devicePlaces: [SampleDecisions.place(device: 1, limit: 1)],
            slotClaims: [SampleDecisions.slot(device: 1, session: 1)], entry: SampleDecisions.entry(1))
        decision.rental = SampleDecisions.rental(known: known, record)
        return decision
    }

    /// Places and slots stay, and everything else is as it was before the decision.
    @Test(arguments: [nil, opened])
    func givesBackTheUseAndTheRental(known: RentalRecord?) async throws {
        let store = MemoryCellStore()
        let rental = SampleDecisions.pseudonym(.rental, 1)
        if let known {
            let first = Self.decision(rental: SampleDecisions.rental(known: nil, known))
            #expect(try await store.perform(first, now: 0) == .outcome(.recorded))
        }
        let decision = spending(known: known, Self.played)
        for _ in 0..<2 {
            #expect(try await store.settle(decision) == .recorded)
            #expect(try await store.rental(rental, now: 0) == Self.played)
            #expect(try await store.perform(.giveBack(decision), now: 0) == .done(true))
            #expect(try await store.rental(rental, now: 0) == known)
            #expect(try await store.perform(.giveBack(decision), now: 0) == .done(false))
        }
        let other = Self.decision(devices: [SampleDecisions.place(device: 2, limit: 1)])
        #expect(try await store.perform(other, now: 0) == .outcome(.denied(.deviceLimit(limit: 1))))
        let otherSlot = Self.decision(slots: [SampleDecisions.slot(device: 2, session: 2)])
        #expect(try await store.perform(otherSlot, now: 0) == .outcome(.denied(.slotsFull(current: 1, limit: 1))))
    }

    @Test func leavesARentalThatAnotherDecisionHasChanged() async throws {
        let store = MemoryCellStore()
        let decision = spending(known: nil, Self.opened)
        #expect(try await store.settle(decision) == .recorded)
        let play = Self.decision(rental: SampleDecisions.rental(known: Self.opened, Self.played))
        #expect(try await store.perform(play, now: 0) == .outcome(.recorded))
        #expect(try await store.perform(.giveBack(decision), now: 0) == .done(true))
        #expect(try await store.rental(SampleDecisions.pseudonym(.rental, 1), now: 0) == Self.played)
    }

    /// A node that got the answer of a repeated request gives the license, and notes it only later.
    @Test func givesNothingBackAfterARepeatedRequest() async throws {
        let store = MemoryCellStore()
        let decision = spending(known: nil, Self.opened)
        #expect(try await store.settle(decision) == .recorded)
        #expect(try await store.settle(decision) == .repeated(answer: [1]))
        #expect(try await store.perform(.giveBack(decision), now: 0) == .done(false))
        #expect(try await store.settle(decision) == .repeated(answer: [1]))
    }

    /// Another device may have got a license that was computed from the first play.
    @Test(arguments: [nil, opened])
    func keepsARentalThatAnotherLicenseWasComputedFrom(known: RentalRecord?) async throws {
        let store = MemoryCellStore()
        if let known {
            let first = Self.decision(rental: SampleDecisions.rental(known: nil, known))
            #expect(try await store.perform(first, now: 0) == .outcome(.recorded))
        }
        let decision = spending(known: known, Self.played)
        #expect(try await store.settle(decision) == .recorded)
        let other = Self.decision(rental: SampleDecisions.rental(known: Self.played, Self.played))
        #expect(try await store.perform(other, now: 0) == .outcome(.recorded))
        #expect(try await store.perform(.giveBack(decision), now: 0) == .done(true))
        #expect(try await store.rental(SampleDecisions.pseudonym(.rental, 1), now: 0) == Self.played)
    }

    @Test func givesNothingBackForAnotherAnswerOrARecordedRequest() async throws {
        let store = MemoryCellStore()
        let decision = spending(known: nil, Self.opened)
        #expect(try await store.settle(decision) == .recorded)
        var (other, unnamed) = (decision, decision)
        other.replay?.answer = [9]
        unnamed.replay = nil
        for wrong in [other, unnamed, spending(known: nil, Self.opened, request: 2)] {
            #expect(try await store.perform(.giveBack(wrong), now: 0) == .done(false))
        }
        store.noteRecorded(SampleDecisions.pseudonym(.request, 1))
        #expect(try await store.perform(.giveBack(decision), now: 0) == .done(false))
        #expect(try await store.settle(decision) == .repeated(answer: [1], isRecorded: true))
        #expect(try await store.rental(SampleDecisions.pseudonym(.rental, 1), now: 0) == Self.opened)
    }

    // MARK: Cells without a meaning

    @Test(arguments: CellKey.Kind.allCases)
    func changesNothingIfACellHasNoMeaning(kind: CellKey.Kind) throws {
        var decision = spending(known: nil, Self.opened)
        decision.sessionTokenUse = SampleDecisions.session(1, 1)
        let action: AccountAction =
            kind == .challenges
            ? .openChallenge(1, holder: Self.owner, expiresAt: 5, limit: 1) : .settle(decision)
        var cells = AccountCells()
        for cell in action.cells { cells.add(cell.key, nil) }
        let damaged = try #require(action.cells.first { $0.key.kind == kind }).key
        cells.add(damaged, [9])
        #expect(throws: StoreError.recordMalformed) {
            try AccountRules.apply(action, to: &cells, at: Self.start)
        }
        #expect(cells.changes.isEmpty)
        // The parts that were decided before are not kept either.
        cells.add(damaged, nil)
        let answer = try AccountRules.apply(action, to: &cells, at: Self.start)
        #expect(answer == (kind == .challenges ? .done(true) : .outcome(.recorded)))
        #expect(Set(cells.changes.map(\.key)) == Set(action.cells.map(\.key)))
    }

    // MARK: Names

    @Test func namesTheUsesOfEachTokenAndKey() {
        var names: Set<Pseudonym> = []
        for token in 0..<20 as Range<UInt64> {
            for key in 0..<20 as Range<UInt64> {
                for keyID in [SampleKeys.keyID(key), KeyID(words: Bytes16(high: key + 1, low: 0))] {
                    names.insert(UseCount.name(SampleDecisions.spread(.token, token), keyID))
                    names.insert(UseCount.name(SampleDecisions.pseudonym(.token, token), keyID))
                }
            }
        }
        #expect(names.count == 20 * 20 * 4)
    }
}
