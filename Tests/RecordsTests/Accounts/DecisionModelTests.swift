import ContentKeys
import Records
import StoreConformance
import Synchronization
import TestSupport
import Testing

/// Tests of the model, with which stores are compared.
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

    /// The settled time is behind the clock now and then. Whether a store deletes cells makes no difference.
    @Test func agreesWithTheRules() async throws {
        let (deleting, keeping) = (MemoryCellStore(), MemoryCellStore(deletesEnded: false))
        var model = DecisionModel()
        var actions = RandomActions("the model agrees with the rules", on: deleting)
        var settled: Int64 = 0
        var kinds: [String: Int] = [:]
        for step in 0..<TestLength.inputs(short: 2_000, long: 20_000) {
            let action = try await actions.next()
            if step / 100 % 2 == 0 { settled = actions.now }
            let time = AccountTime(now: actions.now, settled: settled)
            let answer = model.perform(action, at: time, slot: try await place(of: action, in: keeping, actions.now))
            try #require(try deleting.perform(action, at: time) == answer, "step \(step): \(action)")
            try #require(try keeping.perform(action, at: time) == answer, "step \(step): \(action)")
            if answer != .done(false) { kinds[kind(of: action, answer), default: 0] += 1 }
        }
        // Every kind of other action has changed something, and every outcome of a decision has occurred.
        #expect(kinds.count == 18, "\(kinds)")
    }

    private func kind(of action: AccountAction, _ answer: AccountAnswer) -> String {
        let meant: Any =
            switch (action, answer) {
            case (_, .outcome(.denied(let denial))): denial
            case (_, .outcome(let outcome)): outcome
            case (.change(let change), _): change
            default: action
            }
        return Mirror(reflecting: meant).children.first?.label ?? "\(meant)"
    }

    /// The place of the playback that an operator ends, among the live ones of its group.
    private func place(of action: AccountAction, in store: MemoryCellStore, _ now: Int64) async throws -> Int? {
        guard case .change(.endPlayback(let position)) = action else { return nil }
        for owner in RandomActions.owners {
            let listed = try await store.playbacks(
                of: SampleDecisions.pseudonym(.owner, owner), after: nil, now: now, limit: 1000)
            if let place = listed.map(\.position).firstIndex(of: position) { return place }
        }
        return nil
    }
}
