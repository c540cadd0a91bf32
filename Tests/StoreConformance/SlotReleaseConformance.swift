package import Records
import TestSupport
import Testing

/// The rules of every store of playback slots for devices that report the end of playbacks, on one node or on several
/// nodes that share an empty database.
package enum SlotReleaseConformance {
    package typealias Node = SharedStateStore & PlaybackSlotStore

    package enum Case: String, CaseIterable, Sendable {
        case freesTheSlotOfThePlayback
        case freesNoSlotOfAnother
        case leavesAnEvictionAsItIs
        case freesSeveralGroupsAtOnce
        case makesNothingOfAPlaybackWithoutASlot
    }

    package static func run(_ rule: Case, on nodes: [any Node]) async throws {
        let (first, last) = (nodes[0], nodes[nodes.count - 1])
        switch rule {
        case .freesTheSlotOfThePlayback: try await freesTheSlotOfThePlayback(first, last)
        case .freesNoSlotOfAnother: try await freesNoSlotOfAnother(first, last)
        case .leavesAnEvictionAsItIs: try await leavesAnEvictionAsItIs(first, last)
        case .freesSeveralGroupsAtOnce: try await freesSeveralGroupsAtOnce(first, last)
        case .makesNothingOfAPlaybackWithoutASlot: try await makesNothingOfAPlaybackWithoutASlot(first, last)
        }
    }

    private static func claim(_ claims: [SlotClaim], at node: any Node, _ number: UInt64) async throws
        -> DecisionOutcome
    {
        try await node.settle(
            LicenseDecision(now: 0, slotClaims: claims, entry: SampleDecisions.entry(number, at: 0)))
    }

    private static let full = DecisionOutcome.denied(.slotsFull(current: 1, limit: 1))

    private static func freesTheSlotOfThePlayback(_ first: any Node, _ last: any Node) async throws {
        for session in [5, .max, nil] as [UInt64?] {
            let (mine, other) = (
                SampleDecisions.slot(device: 1, session: session), SampleDecisions.slot(device: 2, session: 6)
            )
            #expect(try await claim([mine], at: first, 1) == .recorded)
            #expect(try await claim([other], at: last, 2) == full)
            try await last.release([mine], at: 0)
            #expect(try await claim([other], at: first, 3) == .recorded)
            #expect(try await claim([mine], at: first, 4) == full)
            try await first.release([other], at: 0)
        }
    }

    private static func freesNoSlotOfAnother(_ first: any Node, _ last: any Node) async throws {
        let mine = SampleDecisions.slot(device: 1, session: 5)
        #expect(try await claim([mine], at: first, 1) == .recorded)
        let others = [
            SampleDecisions.slot(device: 2, session: 5), SampleDecisions.slot(device: 1, session: 6),
            SampleDecisions.slot(device: 1, session: nil), SampleDecisions.slot(group: 2, device: 1, session: 5),
        ]
        for other in others { try await last.release([other], at: 0) }
        #expect(try await claim([SampleDecisions.slot(device: 3, session: 9)], at: last, 2) == full)
    }

    /// A report of its end does not make an evicted playback renewable.
    private static func leavesAnEvictionAsItIs(_ first: any Node, _ last: any Node) async throws {
        let mine = SampleDecisions.slot(.evictOldest, device: 1, session: 5)
        #expect(try await claim([mine], at: first, 1) == .recorded)
        #expect(
            try await claim([SampleDecisions.slot(.evictOldest, device: 2, session: 6)], at: last, 2) == .recorded)
        try await last.release([mine], at: 0)
        #expect(try await claim([mine], at: first, 3) == .denied(.slotEvicted))
    }

    private static func freesSeveralGroupsAtOnce(_ first: any Node, _ last: any Node) async throws {
        let mine = (1...3).map { SampleDecisions.slot(group: $0, device: 1, session: 5) }
        let others = (1...3).map { SampleDecisions.slot(group: $0, device: 2, session: 6) }
        #expect(try await claim(mine, at: first, 1) == .recorded)
        try await last.release(mine, at: 0)
        #expect(try await claim(others, at: first, 2) == .recorded)
    }

    private static func makesNothingOfAPlaybackWithoutASlot(_ first: any Node, _ last: any Node) async throws {
        let mine = SampleDecisions.slot(device: 1, session: 5)
        try await first.release([mine], at: 0)
        try await first.release([], at: 0)
        #expect(try await claim([mine], at: last, 1) == .recorded)
    }
}
