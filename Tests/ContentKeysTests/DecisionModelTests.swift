import ContentKeys
import StoreConformance
import Synchronization
import Testing

/// The model with which stores are compared keeps the rules itself.
@Suite struct DecisionModelTests {
    private final class Model: Sendable {
        private let state = Mutex(DecisionModel())

        func commit(_ decision: LicenseDecision) -> DecisionOutcome { state.withLock { $0.commit(decision) } }
    }

    @Test(arguments: DecisionConformance.Case.allCases)
    func decides(by rule: DecisionConformance.Case) async throws {
        let model = Model()
        try await DecisionConformance.run(rule, on: [{ decision async throws(StoreError) in model.commit(decision) }])
    }
}
