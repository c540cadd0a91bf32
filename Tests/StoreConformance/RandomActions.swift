import ContentKeys
package import Records
package import TestSupport

/// Random actions on a few accounts, so that they often concern the same device, playback, token or rental.
///
/// All names change slowly, so that limits are reached again and again even if nothing ends.
package struct RandomActions {
    /// The numbers of the subjects. Each has one group of playbacks, with the same number.
    package static let owners = 0..<3 as Range<UInt64>
    package static let rentals = 0..<4 as Range<UInt64>
    package static let slotLimitMaximum = 4

    /// The time of the next action.
    private(set) package var now: Int64
    private var random: SeededGenerator
    private var count: UInt64 = 0
    private let accounts: MemoryCellStore
    private let neverEnds: Bool
    private var decisions: [LicenseDecision] = []
    private var playbacks: [PlaybackPosition] = []

    /// `accounts` has had all previous actions. If `neverEnds`, the time stays 0 and nothing ends in any real time.
    package init(_ test: String, on accounts: MemoryCellStore, neverEnds: Bool = false) {
        random = SeededGenerator.announced(test)
        self.accounts = accounts
        self.neverEnds = neverEnds
        now = neverEnds ? 0 : 1000
    }

    package mutating func next() async throws -> AccountAction {
        switch number(below: 26) {
        case 0..<14: return .settle(try await decision())
        case 14:
            let recent = decisions.compactMap(\.replay?.request).suffix(3)
            return recent.randomElement(using: &random).map { .noteRecorded($0) } ?? .release([])
        case 15..<18: return decisions.randomElement(using: &random).map { .giveBack($0) } ?? .release([])
        case 18: return .release((0..<number(below: 3)).map { _ in slot() })
        case 19: return .change(.removeDevice(owner: owner(), device: name(.device, 6)))
        case 20, 21: return try await end()
        case 22: return .change(.forgetRental(owner: owner(), name: name(.rental, UInt64(Self.rentals.count))))
        case 23:
            return .openChallenge(
                number(below: 4), holder: name(.holder, 2), expiresAt: end(within: 600), limit: Int(number(below: 4)))
        default: return .takeChallenge(number(below: 4), holder: name(.holder, 2))
        }
    }

    /// Makes a decision of random parts, or repeats one.
    package mutating func decision() async throws -> LicenseDecision {
        if !neverEnds { now += [0, 0, 1, 2, 5, 40].randomElement(using: &random) ?? 0 }
        if number(below: 6) == 0, var known = decisions.randomElement(using: &random) {
            known.now = now
            return known
        }
        count += 1
        var decision = LicenseDecision(now: now, entry: SampleDecisions.entry(count, at: now))
        if flip() {
            decision.replay = SampleDecisions.replay(
                count - min(count, number(below: 6)),
                window: neverEnds && flip() ? 1_000_000_000 : end(within: 60) - now,
                keptUntil: end(within: 600), answer: random.bytes(count: 3))
        }
        if flip() {
            decision.tokenUse = SampleDecisions.use(
                slow(8), key: number(below: 3), limit: UInt32(1 + number(below: 5)), keptUntil: end(within: 400))
        }
        if number(below: 4) == 0 {
            decision.sessionTokenUse = SampleDecisions.session(
                slow(3), UInt32(number(below: 6)), keptUntil: end(within: 300))
        }
        if number(below: 3) == 0 { decision.rental = try await rental() }
        decision.devicePlaces = (0..<number(below: 3)).map { _ in place() }
        decision.slotClaims = (0..<number(below: 3)).map { _ in slot() }
        decisions = (decisions + [decision]).suffix(20)
        return decision
    }

    /// Most claims know the stored record, and some another one.
    private mutating func rental() async throws -> RentalClaim {
        let rental = number(below: UInt64(Self.rentals.count))
        let stored = try await accounts.rental(SampleDecisions.pseudonym(.rental, rental), now: now)
        let known = number(below: 5) == 0 ? RentalRecord(openedAt: Int64(number(below: 3))) : stored
        var record = known ?? RentalRecord(openedAt: now)
        if number(below: 3) == 0 { record.firstPlay = Int64(number(below: 1000)) }
        return SampleDecisions.rental(
            rental, owner: rental % UInt64(Self.owners.count), known: known, record, keptUntil: end(within: 300))
    }

    private mutating func place() -> DevicePlace {
        SampleDecisions.place(
            owner: number(below: UInt64(Self.owners.count)), device: number(below: 6), limit: UInt32(number(below: 6)),
            keptUntil: number(below: 40) == 0 ? nil : end(within: 200),
            DevicePlace.Kind.allCases.randomElement(using: &random) ?? .counted)
    }

    private mutating func slot() -> SlotClaim {
        let (owner, session, content) = (number(below: UInt64(Self.owners.count)), slow(4), slow(3))
        let claim = SampleDecisions.slot(
            group: owner, limit: UInt32(1 + number(below: UInt64(Self.slotLimitMaximum))),
            flip() ? .denyNew : .evictOldest, device: number(below: 4), session: session % 4 == 0 ? nil : session,
            content: content, provisional: number(below: 3) == 0, relayed: number(below: 6) == 0,
            heldUntil: end(within: 300))
        return SampleDecisions.named(claim, owner: owner, group: "group-\(owner)", content: "movie-\(content)")
    }

    /// Ends a playback that an operator saw just now or some time ago.
    private mutating func end() async throws -> AccountAction {
        let listed = try await accounts.playbacks(of: owner(), after: nil, now: now, limit: 100).map(\.position)
        playbacks = (playbacks + listed.shuffled(using: &random).prefix(2)).suffix(6)
        guard let position = playbacks.randomElement(using: &random) else { return .release([]) }
        return .change(.endPlayback(position))
    }

    private mutating func end(within duration: UInt64) -> Int64 {
        (neverEnds ? 9_000_000_000 : now) + Int64(number(below: duration))
    }

    private mutating func owner() -> Pseudonym { name(.owner, UInt64(Self.owners.count)) }

    private mutating func name(_ role: SampleDecisions.Role, _ count: UInt64) -> Pseudonym {
        SampleDecisions.pseudonym(role, number(below: count))
    }

    /// One of so many numbers, which grow slowly.
    private mutating func slow(_ size: UInt64) -> UInt64 { count / 40 + number(below: size) }

    private mutating func flip() -> Bool { Bool.random(using: &random) }

    private mutating func number(below limit: UInt64) -> UInt64 { .random(in: 0..<limit, using: &random) }
}
