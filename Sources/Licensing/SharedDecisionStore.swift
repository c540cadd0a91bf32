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
    private let admitted = Atomic<UInt64>(0)

    package init(shared: any SharedStateStore, ledger: any Ledger, onStoreOutage: OutageRule = .refuse) {
        self.shared = shared
        self.ledger = ledger
        self.onStoreOutage = onStoreOutage
    }

    /// How many licences were given although what they spend could not be settled.
    package var admittedCount: UInt64 { admitted.load(ordering: .relaxed) }

    package func commit(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome {
        guard decision.needsSharedState else { return try await append(decision.entry) }
        let outcome: DecisionOutcome
        do throws(StoreError) {
            outcome = try await shared.settle(decision)
        } catch {
            return try await admit(decision, after: error)
        }
        switch outcome {
        case .recorded:
            let outcome = try await append(decision.entry)
            if let replay = decision.replay { shared.noteRecorded(replay.request) }
            return outcome
        case .repeated(let answer, let isRecorded):
            return try await repeated(decision, answer, isRecorded)
        case .denied: return outcome
        }
    }

    /// A renewal by session token goes on in every outage: it was granted before, its token is bound to its device, and a picture that
    /// stops is what an outage should not cost. Only a database that does not answer is an outage. One that answers and is overloaded or damaged admits nobody: load is something
    /// that whoever wants to be admitted could make.
    private func admit(
        _ decision: LicenseDecision, after error: StoreError
    ) async throws(StoreError) -> DecisionOutcome {
        guard onStoreOutage == .admit || decision.sessionTokenUse != nil, error == .unavailable(.unreachable) else {
            throw error
        }
        let outcome = try await append(decision.entry)
        admitted.add(1, ordering: .relaxed)
        return outcome
    }

    /// The first answer may have been settled and never written down: the ledger failed behind it, or the database's answer was lost. So
    /// a repetition that no ledger is known to have is written down before it is answered, under the licence's first id.
    ///
    /// A repetition for another use is answered with a refusal, so that no ledger says that it was issued.
    private func repeated(
        _ decision: LicenseDecision, _ bytes: [UInt8], _ isRecorded: Bool
    ) async throws(StoreError) -> DecisionOutcome {
        guard let answer = RecordedAnswer(bytes) else { throw .recordMalformed }
        if let replay = decision.replay, let asked = RecordedAnswer(replay.answer), asked.use != answer.use {
            return .denied(.replayed)
        }
        guard !isRecorded else { return .repeated(answer: bytes, isRecorded: true) }
        var entry = decision.entry
        entry.license = answer.license
        _ = try await append(entry)
        if let replay = decision.replay { shared.noteRecorded(replay.request) }
        return .repeated(answer: bytes, isRecorded: true)
    }

    private func append(_ entry: LedgerEntry) async throws(StoreError) -> DecisionOutcome {
        try await ledger.append(entry)
        return .recorded
    }
}
