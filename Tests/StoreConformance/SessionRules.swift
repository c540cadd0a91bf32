import ContentKeys
import Records
import Testing

/// The tokens of a session, each of which gives the next one.
enum SessionRules {
    static func takesATokenUntilItsSuccessorIsUsed(_ script: DecisionScript) async throws {
        let slot = SampleDecisions.slot(device: 1, session: 1)
        for _ in 0..<3 { try await script.expect(.recorded, session: SampleDecisions.session(1, 1), slots: [slot]) }
        try await script.expect(
            .recorded, replay: SampleDecisions.replay(1), session: SampleDecisions.session(1, 2), slots: [slot])
        try await script.expect(
            .sessionSuperseded, replay: SampleDecisions.replay(2), session: SampleDecisions.session(1, 1), slots: [slot]
        )
        try await script.expect(.recorded, session: SampleDecisions.session(2, 1), "another session")
        try await script.expect(.recorded, session: SampleDecisions.session(1, 4), "an answer was lost")
        try await script.expect(
            .repeated(answer: [1]), replay: SampleDecisions.replay(1), session: SampleDecisions.session(1, 2),
            "a repetition has been counted")
        try await script.expect(
            .recorded, replay: SampleDecisions.replay(2), session: SampleDecisions.session(1, 4),
            "the denied request is not known")
        try await script.expect(
            .slotsFull(current: 1, limit: 1), session: SampleDecisions.session(1, 9),
            slots: [SampleDecisions.slot(device: 2, session: 2)])
        try await script.expect(.recorded, session: SampleDecisions.session(1, 4), "the denied one changed nothing")
    }

    static func forgetsASessionAtItsEnd(_ script: DecisionScript) async throws {
        try await script.expect(.recorded, at: 0, session: SampleDecisions.session(1, 5, keptUntil: 500))
        try await script.expect(.recorded, at: 1, session: SampleDecisions.session(1, 5, keptUntil: 300))
        try await script.expect(.sessionSuperseded, at: 499, session: SampleDecisions.session(1, 4, keptUntil: 900))
        try await script.expect(.recorded, at: 500, session: SampleDecisions.session(1, 1, keptUntil: 900))
        try await script.expect(.recorded, at: 501, session: SampleDecisions.session(1, 2, keptUntil: 900))
        try await script.expect(.sessionSuperseded, at: 899, session: SampleDecisions.session(1, 1, keptUntil: 900))
    }
}
