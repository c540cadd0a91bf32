import ContentKeys
import Records
import StoreConformance
import Synchronization
import Testing

/// Tests that the model, with which stores are compared, follows the rules itself.
@Suite struct DecisionModelTests {
    private final class Model: SharedStateStore {
        private let state = Mutex(DecisionModel())

        func settle(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome {
            state.withLock { $0.commit(decision) }
        }

        func noteRecorded(_ request: Pseudonym) {}
    }

    @Test(arguments: DecisionConformance.Case.allCases)
    func decides(by rule: DecisionConformance.Case) async throws {
        try await DecisionConformance.run(rule, on: [Model()])
    }
}
