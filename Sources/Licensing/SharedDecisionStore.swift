package import ContentKeys
package import Records
import Synchronization

/// Decisions of one node among many: what the nodes share is settled in their database, and the node's own ledger takes the entry
/// before anything is answered (design, section 8).
///
/// A decision that needs no shared state never asks the database, so that its outage costs nothing there.
package final class SharedDecisionStore: DecisionStore {
    /// What becomes of a licence that needs shared state while the database does not answer.
    package enum OutageRule: String, Sendable, CaseIterable {
        /// It is refused.
        case refuse
        /// It is given without counting anything, and counted itself.
        case admit
    }

    private let shared: any SharedStateStore
    private let ledger: any Ledger
    private let onStoreOutage: OutageRule
    private let mayCount: @Sendable () -> Bool
    private let admitted = Atomic<UInt64>(0)

    /// - Parameter mayCount: Whether the node's clock agrees with the database's well enough.
    package init(
        shared: any SharedStateStore, ledger: any Ledger, onStoreOutage: OutageRule = .refuse,
        mayCount: @escaping @Sendable () -> Bool = { true }
    ) {
        self.shared = shared
        self.ledger = ledger
        self.onStoreOutage = onStoreOutage
        self.mayCount = mayCount
    }

    /// How many licences were given although what they spend could not be settled.
    package var admittedCount: UInt64 { admitted.load(ordering: .relaxed) }

    package func commit(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome {
        guard decision.needsSharedState else { return try await append(decision.entry) }
        guard mayCount() else { return try await admit(decision, after: .unavailable(.clockUntrusted)) }
        let outcome: DecisionOutcome
        do throws(StoreError) {
            outcome = try await shared.settle(decision)
        } catch {
            return try await admit(decision, after: error)
        }
        switch outcome {
        case .recorded: return try await append(decision.entry)
        case .repeated(let answer):
            try await appendAgain(decision.entry, answer)
            return outcome
        case .denied: return outcome
        }
    }

    /// A renewal by session token goes on in every outage: it was granted before, its token is bound to its device, and a picture that
    /// stops is what an outage should not cost. Only a database that does not answer is an outage. One that answers and is overloaded or damaged admits nobody: load is something
    /// that whoever wants to be admitted could make.
    private func admit(
        _ decision: LicenseDecision, after error: StoreError
    ) async throws(StoreError) -> DecisionOutcome {
        let isOutage = error == .unavailable(.unreachable)
        // A wrong clock is no outage, so that `onStoreOutage` has no say.
        let goesOn = decision.sessionTokenUse != nil && (isOutage || error == .unavailable(.clockUntrusted))
        guard goesOn || (isOutage && onStoreOutage == .admit) else { throw error }
        let outcome = try await append(decision.entry)
        admitted.add(1, ordering: .relaxed)
        return outcome
    }

    /// The first answer may have been settled and never written down: the ledger failed behind it, or the database's answer was lost. So
    /// a repetition is written down whenever it is answered, under the licence's first name.
    private func appendAgain(_ entry: LedgerEntry, _ answer: [UInt8]) async throws(StoreError) {
        guard let answer = RecordedAnswer(answer) else { throw .recordMalformed }
        var entry = entry
        entry.license = answer.license
        _ = try await append(entry)
    }

    private func append(_ entry: LedgerEntry) async throws(StoreError) -> DecisionOutcome {
        try await ledger.append(entry)
        return .recorded
    }
}
