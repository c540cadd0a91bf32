import ContentKeys
package import Records
import Synchronization

/// Records decisions as the ledger's mode demands (design, sections 3 and 8).
package final class DecisionRecorder: Sendable {
    package enum Mode: String, Sendable, CaseIterable {
        /// No ledger entry, no licence.
        case required
        /// A licence that spends nothing, and one that a session token renews, is given out even while nothing can be recorded, and counted.
        case bestEffort = "best-effort"
    }

    /// 90 days.
    package static let deviceLifeDefault: Int64 = 90 * 86_400

    package let pseudonyms: Pseudonymizer
    /// How long the same request with the same token gets the same answer, in seconds.
    package let retryWindow: Int64
    /// How long a subject's device keeps its place after its last licence, in seconds.
    package let deviceLife: Int64
    private let store: any DecisionStore
    private let mode: Mode
    private let unrecorded = Atomic<UInt64>(0)
    private let recent = RecentDecisions()

    package init(
        store: any DecisionStore, pseudonyms: Pseudonymizer, mode: Mode = .required, retryWindow: Int64 = 120,
        deviceLife: Int64 = DecisionRecorder.deviceLifeDefault
    ) {
        self.store = store
        self.pseudonyms = pseudonyms
        self.mode = mode
        self.retryWindow = retryWindow
        self.deviceLife = deviceLife
    }

    /// How many licences were given out without a record.
    package var unrecordedCount: UInt64 { unrecorded.load(ordering: .relaxed) }

    /// A repetition that this node remembers is answered from memory: it spends nothing, and its entry is in the ledger.
    func record(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome {
        guard let replay = decision.localReplay ?? decision.replay else { return try await commit(decision) }
        if let answer = await recent.begin(replay, at: decision.now) {
            return .repeated(answer: answer, isRecorded: true)
        }
        do throws(StoreError) {
            let outcome = try await commit(decision)
            recent.end(replay, at: decision.now, with: outcome)
            return outcome
        } catch {
            recent.end(replay, at: decision.now, with: nil)
            throw error
        }
    }

    private func commit(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome {
        do throws(StoreError) {
            return try await store.commit(decision)
        } catch {
            // A queue that is full is no outage: clients can fill it. What a session renews was granted before.
            guard mode == .bestEffort, case .unavailable(let outage) = error, outage != .busy,
                !decision.needsSharedState || decision.sessionTokenUse != nil
            else { throw error }
            unrecorded.add(1, ordering: .relaxed)
            return .recorded
        }
    }
}
