package import ContentKeys
package import Licensing
package import Records
import Synchronization

/// A store of decisions in memory, with the entries of those that it has recorded.
package final class MemoryDecisionStore: DecisionStore, PlaybackSlotStore {
    private let accounts = MemoryCellStore()
    private let state = Mutex<(entries: [LedgerEntry], commitCount: Int)>(([], 0))
    private let outage: StoreError?

    /// Makes a store. If `outage` is not nil, each decision fails with it.
    package init(outage: StoreError? = nil) {
        self.outage = outage
    }

    /// The recorded entries, in order.
    package var entries: [LedgerEntry] { state.withLock { $0.entries } }
    /// The number of commits. Decisions of one request are one commit.
    package var commitCount: Int { state.withLock { $0.commitCount } }

    package func commit(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome {
        state.withLock { $0.commitCount += 1 }
        return try await settle(decision)
    }

    package func commit(together decisions: [LicenseDecision]) async -> [Result<DecisionOutcome, StoreError>] {
        state.withLock { $0.commitCount += 1 }
        var outcomes: [Result<DecisionOutcome, StoreError>] = []
        for decision in decisions {
            do throws(StoreError) {
                outcomes.append(.success(try await settle(decision)))
            } catch {
                outcomes.append(.failure(error))
            }
        }
        return outcomes
    }

    private func settle(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome {
        if let outage { throw outage }
        let outcome = try await accounts.settle(decision)
        if outcome == .recorded { state.withLock { $0.entries.append(decision.entry) } }
        return outcome
    }

    package func release(_ claims: [SlotClaim], at now: Int64) async throws(StoreError) {
        try await accounts.release(claims, at: now)
    }

    package func recorder() throws -> DecisionRecorder {
        DecisionRecorder(store: self, pseudonyms: try SampleDecisions.pseudonyms())
    }
}
