import ContentKeys
import Records
import TestSupport
import Testing

/// Rules for repeated requests (entitlement, section 4.7).
enum ReplayRules {
    static func repeatsTheAnswerWithinTheWindow(_ script: DecisionScript) async throws {
        let replay = SampleDecisions.replay(1, window: 120, answer: [7, 8])
        let again = SampleDecisions.replay(1, window: 5, answer: [9])
        try await script.expect(.recorded, at: 100, replay: replay, use: SampleDecisions.use(limit: 2))
        for now in [100, 101, 219] as [Int64] {
            try await script.expect(
                .repeated(answer: [7, 8]), at: now, replay: again, use: SampleDecisions.use(limit: 2))
        }
        try await script.expect(.recorded, at: 219, use: SampleDecisions.use(limit: 2), "one use is left")
        try await script.expect(.tokenUsed(limit: 2), at: 219, use: SampleDecisions.use(limit: 2))
    }

    static func refusesARepetitionOutsideTheWindow(_ script: DecisionScript) async throws {
        try await script.expect(.recorded, at: 100, replay: SampleDecisions.replay(1, window: 120))
        for now in [220, 221, 5000] as [Int64] {
            // The window of a later request changes nothing.
            try await script.expect(.replayed, at: now, replay: SampleDecisions.replay(1, window: 9000))
        }
        try await script.expect(.recorded, at: 100, replay: SampleDecisions.replay(2, window: 0))
        try await script.expect(.replayed, at: 100, replay: SampleDecisions.replay(2, window: 0))
    }

    /// A request with another name is another request, and is decided in full.
    static func tellsRequestsApart(_ script: DecisionScript) async throws {
        let use = SampleDecisions.use(limit: 1)
        try await script.expect(.recorded, replay: SampleDecisions.replay(1), use: use)
        try await script.expect(.tokenUsed(limit: 1), replay: SampleDecisions.replay(2), use: use)
        try await script.expect(.repeated(answer: [1]), replay: SampleDecisions.replay(1), use: use)
        try await script.expect(
            .recorded, replay: SampleDecisions.replay(2, answer: [2]), use: SampleDecisions.use(2, limit: 1))
        try await script.expect(.repeated(answer: [1]), replay: SampleDecisions.replay(1))
        try await script.expect(.repeated(answer: [2]), replay: SampleDecisions.replay(2))
    }

    static func forgetsARequestAtItsEnd(_ script: DecisionScript) async throws {
        let replay = SampleDecisions.replay(1, window: 10, keptUntil: 500)
        try await script.expect(.recorded, at: 0, replay: replay)
        try await script.expect(.replayed, at: 499, replay: replay)
        let again = SampleDecisions.replay(1, window: 10, keptUntil: 900, answer: [3])
        try await script.expect(.recorded, at: 500, replay: again)
        try await script.expect(.repeated(answer: [3]), at: 509, replay: again)
        try await script.expect(.replayed, at: 899, replay: again)
    }

    static func keepsEveryAnswerAsItIs(_ script: DecisionScript) async throws {
        let answers: [[UInt8]] = [
            [], [0], [0, 0], Array(0...255), [UInt8](repeating: 0x27, count: 1024), Array("\\x00\u{0}'".utf8),
        ]
        for (index, answer) in answers.enumerated() {
            let replay = SampleDecisions.replay(UInt64(index), answer: answer)
            try await script.expect(.recorded, replay: replay)
            try await script.expect(.repeated(answer: answer), replay: replay)
        }
    }
}
