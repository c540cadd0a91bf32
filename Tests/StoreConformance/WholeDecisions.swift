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
        let accounts = MemoryCellStore()
        var actions = RandomActions("a store of decisions agrees with its model", on: accounts)
        for step in 0..<600 {
            let decision = try await actions.decision()
            _ = try await accounts.settle(decision)
            let (decided, modelled) = try await script.decide(decision)
            try #require(decided == modelled, "step \(step)")
            for group in RandomActions.owners {
                let name = SampleDecisions.pseudonym(.group, group)
                #expect(script.countedSlots(of: name, at: decision.now) <= RandomActions.slotLimitMaximum)
            }
        }
    }
}
