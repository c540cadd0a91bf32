import Records
import TestSupport
import Testing

/// Decisions with several parts, and random ones.
enum WholeDecisions {
    static func spendsNothingOnADenial(_ script: DecisionScript) async throws {
        let use = SampleDecisions.use(limit: 1)
        let taken = SampleDecisions.slot(device: 1, session: 1, heldUntil: 100)
        let wanted = SampleDecisions.slot(device: 2, session: 2)
        try await script.expect(.recorded, slots: [taken])
        for _ in 0..<3 {
            try await script.expect(
                .slotsFull(current: 1, limit: 1), replay: SampleDecisions.replay(1), use: use,
                devices: [SampleDecisions.place(device: 2, limit: 1)], slots: [wanted])
        }
        try await script.expect(
            .recorded, devices: [SampleDecisions.place(device: 3, limit: 1)], "the denied device got no place")
        try await script.expect(
            .recorded, at: 100, replay: SampleDecisions.replay(1, answer: [5]), use: use, slots: [wanted],
            "the request was not stored, and the use is left")
        try await script.expect(.repeated(answer: [5]), at: 100, replay: SampleDecisions.replay(1), use: use)
        try await script.expect(.tokenUsed(limit: 1), at: 100, replay: SampleDecisions.replay(2), use: use)
    }

    static func answersWithTheFirstDenial(_ script: DecisionScript) async throws {
        try await script.expect(
            .recorded, replay: SampleDecisions.replay(1), use: SampleDecisions.use(limit: 1),
            devices: [SampleDecisions.place(device: 1, limit: 1)],
            slots: [SampleDecisions.slot(device: 1, session: 1)])
        let device = [SampleDecisions.place(device: 2, limit: 1)]
        let slot = [SampleDecisions.slot(device: 2, session: 2)]
        let use = SampleDecisions.use(limit: 1)
        try await script.expect(
            .repeated(answer: [1]), replay: SampleDecisions.replay(1), use: use, devices: device, slots: slot)
        try await script.expect(
            .tokenUsed(limit: 1), replay: SampleDecisions.replay(2), use: use, devices: device, slots: slot)
        try await script.expect(
            .deviceLimit(limit: 1), replay: SampleDecisions.replay(2), use: SampleDecisions.use(2, limit: 1),
            devices: device, slots: slot)
        try await script.expect(
            .slotsFull(current: 1, limit: 1), replay: SampleDecisions.replay(2), use: SampleDecisions.use(2, limit: 1),
            slots: slot)
        try await script.expect(
            .recorded, replay: SampleDecisions.replay(2), use: SampleDecisions.use(2, limit: 1))
    }

    /// Compares random decisions with the model. The counted slots stay within the largest limit.
    static func agreesWithTheModel(_ script: DecisionScript) async throws {
        var random = SeededGenerator.announced("a store of decisions agrees with its model")
        var now: Int64 = 1000
        for step in 0..<600 {
            now += [0, 0, 1, 2, 5, 40].randomElement(using: &random) ?? 0
            let replay = Bool.random(using: &random) ? randomReplay(now, using: &random) : nil
            let use = Bool.random(using: &random) ? randomUse(now, using: &random) : nil
            let places = (0..<Int.random(in: 0...2, using: &random)).map { _ in randomPlace(now, using: &random) }
            let slots = (0..<Int.random(in: 0...2, using: &random)).map { _ in randomSlot(now, using: &random) }
            let (decided, modelled) = try await script.decide(
                at: now, replay: replay, use: use, devices: places, slots: slots)
            try #require(decided == modelled, "step \(step)")
            for group in 0..<2 as Range<UInt64> {
                #expect(script.countedSlots(of: SampleDecisions.pseudonym(.group, group), at: now) <= 4)
            }
        }
    }

    private static func randomReplay(_ now: Int64, using random: inout SeededGenerator) -> ReplayRecord {
        SampleDecisions.replay(
            .random(in: 0..<60, using: &random), window: .random(in: 0..<60, using: &random),
            keptUntil: now + .random(in: 0..<600, using: &random),
            answer: random.bytes(count: 3))
    }

    private static func randomUse(_ now: Int64, using random: inout SeededGenerator) -> TokenUse {
        SampleDecisions.use(
            .random(in: 0..<8, using: &random), key: .random(in: 0..<3, using: &random),
            limit: .random(in: 1...6, using: &random), keptUntil: now + .random(in: 0..<400, using: &random))
    }

    private static func randomPlace(_ now: Int64, using random: inout SeededGenerator) -> DevicePlace {
        let end = now + .random(in: 0..<200, using: &random)
        return SampleDecisions.place(
            owner: .random(in: 0..<4, using: &random), device: .random(in: 0..<6, using: &random),
            limit: .random(in: 2...5, using: &random),
            keptUntil: Int.random(in: 0..<40, using: &random) == 0 ? nil : end)
    }

    private static func randomSlot(_ now: Int64, using random: inout SeededGenerator) -> SlotClaim {
        let session = UInt64.random(in: 0..<4, using: &random)
        return SampleDecisions.slot(
            group: .random(in: 0..<2, using: &random), limit: .random(in: 1...4, using: &random),
            Bool.random(using: &random) ? .denyNew : .evictOldest, device: .random(in: 0..<4, using: &random),
            session: session == 0 ? nil : session, content: .random(in: 0..<3, using: &random),
            provisional: Int.random(in: 0..<3, using: &random) == 0,
            relayed: Int.random(in: 0..<6, using: &random) == 0, heldUntil: now + .random(in: 0..<120, using: &random))
    }
}
