import Records
import TestSupport
import Testing

/// Rules for many parallel decisions, which are spread over the nodes.
enum ParallelDecisions {
    /// A token with three uses yields exactly three licenses, for any number of parallel requests.
    static func givesThreeLicensesForThreeUses(_ nodes: [any SharedStateStore]) async throws {
        let outcomes = try await decideAtOnce(1000, on: nodes) { number in
            LicenseDecision(
                now: 0, replay: SampleDecisions.replay(number), tokenUse: SampleDecisions.use(limit: 3),
                entry: SampleDecisions.entry(number))
        }
        #expect(outcomes.count { $0 == .recorded } == 3)
        #expect(outcomes.count { $0 == .denied(.tokenUsed(limit: 3)) } == 997)
    }

    static func keepsTheLimitsInParallel(_ nodes: [any SharedStateStore]) async throws {
        try await takesNoMoreSlotsThanThereAre(nodes)
        try await evictsAllButTheLimit(nodes)
        try await givesNoMorePlacesThanThereAre(nodes)
    }

    private static func takesNoMoreSlotsThanThereAre(_ nodes: [any SharedStateStore]) async throws {
        let outcomes = try await decideAtOnce(300, on: nodes) { number in
            decision(
                number,
                slots: [SampleDecisions.slot(group: 1, limit: 5, device: number, session: number, content: number)])
        }
        #expect(outcomes.count { $0 == .recorded } == 5)
        #expect(outcomes.count { $0 == .denied(.slotsFull(current: 5, limit: 5)) } == 295)
    }

    /// All requests are granted. Afterwards, exactly `limit` slots are left, and all others are remembered as evicted.
    private static func evictsAllButTheLimit(_ nodes: [any SharedStateStore]) async throws {
        let claim = { @Sendable (number: UInt64) in
            decision(
                number,
                slots: [
                    SampleDecisions.slot(
                        group: 2, limit: 5, .evictOldest, device: number, session: number, content: number)
                ])
        }
        let count = UInt64(AccountRules.evictedMaximum) + 5
        let outcomes = try await decideAtOnce(count, on: nodes, claim)
        #expect(outcomes.allSatisfy { $0 == .recorded })
        let renewals = try await decideAtOnce(count, on: nodes, claim)
        #expect(renewals.count { $0 == .recorded } == 5)
        #expect(renewals.count { $0 == .denied(.slotEvicted) } == AccountRules.evictedMaximum)
    }

    private static func givesNoMorePlacesThanThereAre(_ nodes: [any SharedStateStore]) async throws {
        let outcomes = try await decideAtOnce(300, on: nodes) { number in
            LicenseDecision(
                now: 0, devicePlaces: [SampleDecisions.place(device: number, limit: 7)],
                entry: SampleDecisions.entry(number))
        }
        #expect(outcomes.count { $0 == .recorded } == 7)
        #expect(outcomes.count { $0 == .denied(.deviceLimit(limit: 7)) } == 293)
    }

    /// Of many parallel first plays, exactly one is recorded. All others are denied with its record.
    static func givesOneFirstPlayInParallel(_ nodes: [any SharedStateStore]) async throws {
        let outcomes = try await decideAtOnce(300, on: nodes) { number in
            var decision = LicenseDecision(now: 0, entry: SampleDecisions.entry(number))
            decision.rental = SampleDecisions.rental(
                known: nil, RentalRecord(openedAt: 0, firstPlay: Int64(number)))
            return decision
        }
        let first = try #require(outcomes.firstIndex(of: .recorded))
        #expect(outcomes.count { $0 == .recorded } == 1)
        let played = RentalRecord(openedAt: 0, firstPlay: Int64(first))
        #expect(outcomes.count { $0 == .denied(.rentalDiffers(played)) } == 299)
    }

    /// Two devices repeatedly compete for the last place.
    static func givesTheLastPlaceOnceInParallel(_ nodes: [any SharedStateStore]) async throws {
        for round in 100..<120 as Range<UInt64> {
            let outcomes = try await decideAtOnce(2, on: nodes) { number in
                LicenseDecision(
                    now: 0, devicePlaces: [SampleDecisions.place(owner: round, device: number, limit: 1)],
                    entry: SampleDecisions.entry(round * 2 + number))
            }
            #expect(outcomes.count { $0 == .recorded } == 1)
            #expect(outcomes.count { $0 == .denied(.deviceLimit(limit: 1)) } == 1)
        }
    }

    /// Of many parallel copies of one request, one is decided, and all others get its answer.
    static func answersARepetitionInParallel(_ nodes: [any SharedStateStore]) async throws {
        let outcomes = try await decideAtOnce(200, on: nodes) { number in
            LicenseDecision(
                now: 0, replay: SampleDecisions.replay(1, answer: [UInt8(truncatingIfNeeded: number)]),
                tokenUse: SampleDecisions.use(limit: 1), entry: SampleDecisions.entry(number))
        }
        let first = try #require(outcomes.firstIndex(of: .recorded))
        #expect(outcomes.count { $0 == .recorded } == 1)
        #expect(outcomes.count { $0 == .repeated(answer: [UInt8(truncatingIfNeeded: first)]) } == 199)
    }

    private static func decision(_ number: UInt64, slots: [SlotClaim]) -> LicenseDecision {
        LicenseDecision(now: 0, slotClaims: slots, entry: SampleDecisions.entry(number))
    }

    /// Returns the outcomes in the order of the decisions' numbers.
    private static func decideAtOnce(
        _ count: UInt64, on nodes: [any SharedStateStore], _ decision: @escaping @Sendable (UInt64) -> LicenseDecision
    ) async throws -> [DecisionOutcome] {
        try await withThrowingTaskGroup(of: (UInt64, DecisionOutcome).self) { group in
            for number in 0..<count {
                let node = nodes[Int(number) % nodes.count]
                group.addTask { (number, try await node.settle(decision(number))) }
            }
            var outcomes: [(UInt64, DecisionOutcome)] = []
            for try await outcome in group { outcomes.append(outcome) }
            return outcomes.sorted { $0.0 < $1.0 }.map(\.1)
        }
    }
}
