package import ContentKeys
package import Records

/// Counts in the nodes' database what it lacks: licences that were admitted in an outage, and decisions that it had
/// taken and lost.
///
/// A database that takes over for another one may lack the last commits. The node finds that by its mark: the number
/// that it counts up there is lower than one that the database had taken. Then the node settles again what it has kept
/// since that number. Settling is idempotent, because the database knows a request again.
///
/// It has no clock and no task: its owner calls `pass` about once a second, one call at a time.
package final class Recount {
    /// Decisions that are read and settled at once.
    private static let pieceSize = 64
    /// How often a rental is merged with what other nodes have made of it meanwhile, before the pass ends.
    private static let mergesMaximum = 8
    /// Marks for which decisions are kept: at least five minutes, because there is at most one mark a second.
    static let marksKept: Int64 = 300

    /// What a pass has done.
    package struct Report: Equatable, Sendable {
        /// Owed decisions that are counted now.
        package var counted = 0
        /// Owed decisions that the database refuses, because another node has given the last use or place.
        package var refused = 0
        /// Decisions that the database had lost and has again.
        package var restored = 0

        package init() {}
    }

    private let node: NodeID
    private let ledger: any DecisionKeeping
    private let shared: any RecountedStore
    private let mark: NodeMark
    /// The mark that the database is known to have taken; nil before the ledger was read.
    private var taken: Int64?
    /// The mark up to which the ledger was cleared of what it kept.
    private var cleared: Int64 = 0

    package init(node: NodeID, ledger: any DecisionKeeping, shared: any RecountedStore, mark: NodeMark) {
        self.node = node
        self.ledger = ledger
        self.shared = shared
        self.mark = mark
    }

    /// Counts all that the database lacks. Throws at the first failure; the next call goes on.
    package func pass() async throws(StoreError) -> Report {
        var report = Report()
        let expected = try await knownMark()
        let next = mark.next()
        let found = try await shared.replaceMark(of: node, with: next, expected: expected)
        if found < expected {
            report.restored = try await restore(from: found)
            // The loss is remembered by the old mark until all is there again.
            taken = found
        } else {
            taken = next
            mark.raise(to: found)
        }
        try await settleOwed(&report)
        try await clear()
        return report
    }

    private func knownMark() async throws(StoreError) -> Int64 {
        if let taken { return taken }
        let latest = try await ledger.latestMark()
        mark.raise(to: latest)
        return latest
    }

    private func restore(from lost: Int64) async throws(StoreError) -> Int {
        var (number, count) = (Int64(0), 0)
        while true {
            let kept = try await ledger.keptDecisions(from: lost, behind: number, limit: Self.pieceSize)
            guard let last = kept.last else { return count }
            for one in kept {
                if try await settle(one.decision) == .recorded { count += 1 }
            }
            try await ledger.noteSettled(kept.map(\.number), mark: mark.latest)
            number = last.number
        }
    }

    private func settleOwed(_ report: inout Report) async throws(StoreError) {
        while true {
            let owed = try await ledger.owedDecisions(limit: Self.pieceSize)
            if owed.isEmpty { return }
            var settled: [Int64] = []
            for one in owed {
                if try await count(one.decision) { report.counted += 1 } else { report.refused += 1 }
                settled.append(one.number)
            }
            try await ledger.noteSettled(settled, mark: mark.latest)
        }
    }

    /// Whether the decision is counted, or at least what it spends of its token: places and slots may be taken
    /// meanwhile.
    private func count(_ decision: LicenseDecision) async throws(StoreError) -> Bool {
        guard case .denied(let denial) = try await settle(decision) else { return true }
        switch denial {
        case .replayed: return true
        case .tokenUsed, .slotEvicted, .sessionSuperseded, .rentalDiffers: return false
        case .deviceLimit, .otherDevice, .slotsFull:
            var rest = decision
            (rest.devicePlaces, rest.slotClaims) = ([], [])
            _ = try await settle(rest)
            return false
        }
    }

    /// A licence that was given without asking what is remembered of its rental is merged with that: the earlier play
    /// is the first.
    private func settle(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome {
        var decision = decision
        for _ in 0..<Self.mergesMaximum {
            let outcome = try await shared.settle(decision)
            guard case .denied(.rentalDiffers(let stored)) = outcome, let rental = decision.rental else {
                return outcome
            }
            decision.rental = rental.merged(over: stored)
        }
        throw .unavailable(.busy)
    }

    private func clear() async throws(StoreError) {
        let end = mark.latest - Self.marksKept
        guard end >= cleared + 10 else { return }
        try await ledger.forgetKept(before: end)
        cleared = end
    }
}
