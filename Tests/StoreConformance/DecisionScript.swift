package import ContentKeys
package import Records
import Synchronization
import TestSupport
import Testing

/// Presents a store of whole decisions as a store of shared state, so that the same rules run on both.
package struct WholeDecisionStore: SharedStateStore {
    private let store: any DecisionStore

    package init(_ store: any DecisionStore) {
        self.store = store
    }

    package func settle(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome {
        try await store.commit(decision)
    }

    package func noteRecorded(_ request: Pseudonym) {}
}

/// A series of decisions with their expected outcomes. Each runs on the next node and on the model.
final class DecisionScript: Sendable {
    private struct State {
        var model = DecisionModel()
        var count = 0
    }

    private let nodes: [any SharedStateStore]
    private let state = Mutex(State())

    /// Makes a script. `nodes` share one database, which is empty.
    init(_ nodes: [any SharedStateStore]) {
        precondition(!nodes.isEmpty, "a node has to decide")
        self.nodes = nodes
    }

    func expect(
        _ outcome: DecisionOutcome, at now: Int64 = 0, replay: ReplayRecord? = nil, session: SessionTokenUse? = nil,
        use: TokenUse? = nil, devices: [DevicePlace] = [], slots: [SlotClaim] = [], rental: RentalClaim? = nil,
        _ comment: Comment? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let (decided, modelled) = try await decide(
            at: now, replay: replay, session: session, use: use, devices: devices, slots: slots, rental: rental)
        #expect(decided == outcome, comment, sourceLocation: sourceLocation)
        #expect(modelled == outcome, "the model", sourceLocation: sourceLocation)
    }

    func expect(
        _ denial: DecisionDenial, at now: Int64 = 0, replay: ReplayRecord? = nil, session: SessionTokenUse? = nil,
        use: TokenUse? = nil, devices: [DevicePlace] = [], slots: [SlotClaim] = [], rental: RentalClaim? = nil,
        _ comment: Comment? = nil,
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await expect(
            .denied(denial), at: now, replay: replay, session: session, use: use, devices: devices, slots: slots,
            rental: rental, comment,
            sourceLocation: sourceLocation)
    }

    /// Returns the outcomes of the next node and of the model.
    func decide(
        at now: Int64, replay: ReplayRecord? = nil, session: SessionTokenUse? = nil, use: TokenUse? = nil,
        devices: [DevicePlace] = [], slots: [SlotClaim] = [], rental: RentalClaim? = nil
    ) async throws -> (DecisionOutcome, DecisionOutcome) {
        let number = state.withLock { $0.count } + 1
        var decision = LicenseDecision(
            now: now, replay: replay, tokenUse: use, devicePlaces: devices, slotClaims: slots,
            entry: SampleDecisions.entry(UInt64(number), at: now))
        decision.sessionTokenUse = session
        decision.rental = rental
        return try await decide(decision)
    }

    func decide(_ decision: LicenseDecision) async throws -> (DecisionOutcome, DecisionOutcome) {
        let (number, modelled) = state.withLock { state in
            state.count += 1
            return (state.count, state.model.commit(decision))
        }
        return (try await nodes[number % nodes.count].settle(decision), modelled)
    }

    /// Returns the number of slots that the model counts.
    func countedSlots(of group: Pseudonym, at now: Int64) -> Int {
        state.withLock { $0.model.countedSlots(of: group, at: now).count }
    }
}
