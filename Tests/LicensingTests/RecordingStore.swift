import ContentKeys
import Licensing
import Records
import Synchronization
import TestSupport

/// A store that gives the outcome that a test sets, and records the decisions it gets.
final class RecordingStore: DecisionStore {
    private let outcomes: Mutex<Result<DecisionOutcome, StoreError>>
    private let asked = Mutex<[LicenseDecision]>([])
    private let sizes = Mutex<[Int]>([])

    init(_ outcome: Result<DecisionOutcome, StoreError> = .success(.recorded)) {
        outcomes = Mutex(outcome)
    }

    var decisions: [LicenseDecision] { asked.withLock { $0 } }

    /// The number of decisions in each commit of several decisions.
    var batchSizes: [Int] { sizes.withLock { $0 } }

    func commit(together decisions: [LicenseDecision]) async -> [Result<DecisionOutcome, StoreError>] {
        sizes.withLock { $0.append(decisions.count) }
        var outcomes: [Result<DecisionOutcome, StoreError>] = []
        for decision in decisions { outcomes.append(await result(of: decision)) }
        return outcomes
    }

    func answer(with outcome: Result<DecisionOutcome, StoreError>) {
        outcomes.withLock { $0 = outcome }
    }

    func commit(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome {
        asked.withLock { $0.append(decision) }
        return try outcomes.withLock { $0 }.get()
    }

    func recorder(_ mode: DecisionRecorder.Mode = .required) throws -> DecisionRecorder {
        DecisionRecorder(store: self, pseudonyms: try SampleDecisions.pseudonyms(), mode: mode)
    }
}
