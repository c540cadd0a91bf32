package import ContentKeys
package import Records

/// Settles in the nodes' database the decisions that it lacks: licenses that were admitted in an outage, and decisions
/// that the database has lost.
///
/// A database that takes over for another one may lack the last commits. The node notices this by its mark, a number
/// that it counts up in the database: the number there is lower than one that the database had taken. Then the node
/// settles again the decisions that it has kept since that number. Settling is idempotent, because the database
/// recognizes a repeated request.
///
/// It has no clock and no task. Its owner calls `pass` about once a second, one call at a time.
package final class Recount {
    /// How many decisions are read and settled at once.
    private static let pieceSize = 64
    /// How often a rental is merged with the changes of other nodes before the pass ends.
    private static let mergesMaximum = 8
    /// For how many marks decisions are kept: for at least five minutes, because there is at most one mark a second.
    static let marksKept: Int64 = 300

    /// How many decisions a pass has settled.
    package struct Report: Equatable, Sendable {
        /// Decisions admitted in an outage that the database counts now.
        package var counted = 0
        /// Decisions admitted in an outage that the database refuses, because another node has given the last use or
        /// place.
        package var refused = 0
        /// Decisions that the database had lost and has got back.
        package var restored = 0

        package init() {}
    }

    private let node: NodeID
    private let ledger: any DecisionKeeping
    private let shared: any RecountedStore
    private let mark: NodeMark
    private let connections: SettledConnections?
    /// The newest connection that a pass has settled everything on.
    private var newestConnection = 0
    /// The last mark that the database has taken; nil before the ledger was read.
    private var taken: Int64?
    /// The mark before which the ledger has forgotten its kept decisions.
    private var cleared: Int64 = 0

    package init(
        node: NodeID, ledger: any DecisionKeeping, shared: any RecountedStore, mark: NodeMark,
        connections: SettledConnections? = nil
    ) {
        self.connections = connections
        self.node = node
        self.ledger = ledger
        self.shared = shared
        self.mark = mark
    }

    /// Settles everything that the database lacks. Throws at the first failure; the next call goes on from there.
    package func pass() async throws(StoreError) -> Report {
        var report = Report()
        let newest = max(shared.newestConnection, newestConnection)
        let isNew = newest > newestConnection
        // The new connections may lead to another database than the old ones, so the pass is made there.
        let numbers = connections.map { _ in isNew ? newestConnection + 1...newest : 0...newest }
        let expected = try await knownMark()
        let next = mark.next()
        let found = try await shared.replaceMark(of: node, with: next, expected: expected, on: numbers)
        // Behind a new connection, what was decided since the last mark may be missing too.
        if found < expected || isNew {
            report.restored = try await restore(from: min(found, expected), on: numbers)
        }
        if found < expected {
            // Until all decisions are restored, the old mark stays, so that a failed pass does not hide the loss.
            taken = found
        } else {
            taken = next
            mark.raise(to: found)
        }
        newestConnection = newest
        connections?.allow(upTo: newest)
        try await settleOwed(&report, on: numbers)
        try await clear()
        return report
    }

    private func knownMark() async throws(StoreError) -> Int64 {
        if let taken { return taken }
        let latest = try await ledger.latestMark()
        mark.raise(to: latest)
        return latest
    }

    private func restore(from lost: Int64, on numbers: ClosedRange<Int>?) async throws(StoreError) -> Int {
        var (number, count) = (Int64(0), 0)
        while true {
            let kept = try await ledger.keptDecisions(from: lost, behind: number, limit: Self.pieceSize)
            guard let last = kept.last else { return count }
            for one in kept {
                if try await settle(one.decision, on: numbers) == .recorded { count += 1 }
            }
            try await ledger.noteSettled(kept.map(\.number), mark: mark.latest)
            number = last.number
        }
    }

    private func settleOwed(_ report: inout Report, on numbers: ClosedRange<Int>?) async throws(StoreError) {
        while true {
            let owed = try await ledger.owedDecisions(limit: Self.pieceSize)
            if owed.isEmpty { return }
            var settled: [Int64] = []
            for one in owed {
                if try await count(one.decision, on: numbers) { report.counted += 1 } else { report.refused += 1 }
                settled.append(one.number)
            }
            try await ledger.noteSettled(settled, mark: mark.latest)
        }
    }

    /// Settles a decision, and returns whether the database has counted all of it.
    ///
    /// If its device place or its slot was taken meanwhile, the rest of it is counted, for example the use of its
    /// token.
    private func count(
        _ decision: LicenseDecision, on numbers: ClosedRange<Int>?
    ) async throws(StoreError) -> Bool {
        guard case .denied(let denial) = try await settle(decision, on: numbers) else { return true }
        switch denial {
        case .replayed: return true
        case .tokenUsed, .slotEvicted, .sessionSuperseded, .rentalDiffers: return false
        case .deviceLimit, .otherDevice, .slotsFull:
            var rest = decision
            (rest.devicePlaces, rest.slotClaims) = ([], [])
            _ = try await settle(rest, on: numbers)
            return false
        }
    }

    /// Settles a decision. Its rental was made without knowing the stored one, so the two are merged: the earlier first
    /// play counts.
    private func settle(
        _ decision: LicenseDecision, on numbers: ClosedRange<Int>?
    ) async throws(StoreError) -> DecisionOutcome {
        var decision = decision
        for _ in 0..<Self.mergesMaximum {
            let outcome = try await shared.settle(decision, on: numbers)
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
