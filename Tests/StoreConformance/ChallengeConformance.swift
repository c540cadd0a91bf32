package import Records
import TestSupport
import Testing

/// The rules of every challenge store, on one node or on several nodes that share an empty database.
package enum ChallengeConformance {
    package enum Case: String, CaseIterable, Sendable {
        case takesAChallengeOnce
        case takesNoChallengeOfAnother
        case takesNoChallengeAtItsEnd
        case boundsWhatAHolderHasOpen
        case opensTheSameOnce
        case takesAChallengeOnceInParallel
        case boundsWhatIsOpenInParallel
    }

    package static func run(_ rule: Case, on nodes: [any ChallengeStore]) async throws {
        let (first, last) = (nodes[0], nodes[nodes.count - 1])
        switch rule {
        case .takesAChallengeOnce: try await takesAChallengeOnce(first, last)
        case .takesNoChallengeOfAnother: try await takesNoChallengeOfAnother(first, last)
        case .takesNoChallengeAtItsEnd: try await takesNoChallengeAtItsEnd(first, last)
        case .boundsWhatAHolderHasOpen: try await boundsWhatAHolderHasOpen(first, last)
        case .opensTheSameOnce: try await opensTheSameOnce(first, last)
        case .takesAChallengeOnceInParallel: try await takesAChallengeOnceInParallel(nodes)
        case .boundsWhatIsOpenInParallel: try await boundsWhatIsOpenInParallel(nodes)
        }
    }

    private static let (one, other) = (SampleDecisions.pseudonym(.holder, 1), SampleDecisions.pseudonym(.holder, 2))

    private static func takesAChallengeOnce(_ first: any ChallengeStore, _ last: any ChallengeStore) async throws {
        for challenge in [1, .max, 1 << 63] as [UInt64] {
            #expect(try await first.open(challenge, for: one, now: 0, expiresAt: 300, limit: 3))
            #expect(try await last.take(challenge &+ 1, from: one, now: 0) == false)
            #expect(try await last.take(challenge, from: one, now: 299))
            #expect(try await first.take(challenge, from: one, now: 299) == false)
        }
    }

    private static func takesNoChallengeOfAnother(
        _ first: any ChallengeStore, _ last: any ChallengeStore
    ) async throws {
        #expect(try await first.open(5, for: one, now: 0, expiresAt: 300, limit: 3))
        #expect(try await last.take(5, from: other, now: 0) == false)
        #expect(try await last.open(5, for: other, now: 0, expiresAt: 300, limit: 3))
        #expect(try await last.take(5, from: one, now: 0))
        #expect(try await last.take(5, from: other, now: 0))
    }

    private static func takesNoChallengeAtItsEnd(
        _ first: any ChallengeStore, _ last: any ChallengeStore
    ) async throws {
        #expect(try await first.open(5, for: one, now: 0, expiresAt: 300, limit: 3))
        #expect(try await first.open(6, for: one, now: 0, expiresAt: 301, limit: 3))
        #expect(try await last.take(5, from: one, now: 300) == false)
        #expect(try await last.take(6, from: one, now: 301) == false)
    }

    private static func boundsWhatAHolderHasOpen(
        _ first: any ChallengeStore, _ last: any ChallengeStore
    ) async throws {
        for challenge in 1...3 as ClosedRange<UInt64> {
            #expect(
                try await first.open(challenge, for: one, now: 0, expiresAt: 100 * Int64(challenge), limit: 3))
        }
        #expect(try await last.open(4, for: one, now: 99, expiresAt: 900, limit: 3) == false)
        #expect(try await last.take(4, from: one, now: 99) == false)
        #expect(try await last.open(4, for: other, now: 99, expiresAt: 900, limit: 3))
        #expect(try await last.take(2, from: one, now: 99))
        #expect(try await last.open(5, for: one, now: 99, expiresAt: 900, limit: 3), "one was taken")
        #expect(try await first.open(6, for: one, now: 99, expiresAt: 900, limit: 3) == false)
        #expect(try await first.open(6, for: one, now: 100, expiresAt: 900, limit: 3), "one has ended")
        #expect(try await first.open(7, for: one, now: 100, expiresAt: 900, limit: 3) == false)
    }

    private static func opensTheSameOnce(_ first: any ChallengeStore, _ last: any ChallengeStore) async throws {
        #expect(try await first.open(5, for: one, now: 0, expiresAt: 100, limit: 3))
        #expect(try await last.open(5, for: one, now: 99, expiresAt: 900, limit: 3) == false)
        #expect(try await last.open(5, for: one, now: 100, expiresAt: 200, limit: 3), "it had ended")
        #expect(try await first.take(5, from: one, now: 199))
    }

    private static func takesAChallengeOnceInParallel(_ nodes: [any ChallengeStore]) async throws {
        #expect(try await nodes[0].open(9, for: one, now: 0, expiresAt: 300, limit: 3))
        let taken = try await inParallel(200) { number in
            try await nodes[number % nodes.count].take(9, from: one, now: 0)
        }
        #expect(taken == 1)
    }

    private static func boundsWhatIsOpenInParallel(_ nodes: [any ChallengeStore]) async throws {
        let kept = try await inParallel(200) { number in
            try await nodes[number % nodes.count]
                .open(UInt64(number), for: one, now: 0, expiresAt: 300, limit: 4)
        }
        #expect(kept == 4)
    }

    /// Returns the number of parallel calls that return true.
    private static func inParallel(
        _ count: Int, _ body: @escaping @Sendable (Int) async throws -> Bool
    ) async throws -> Int {
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<count { group.addTask { try await body(number) } }
            var yes = 0
            for try await answer in group where answer { yes += 1 }
            return yes
        }
    }
}
