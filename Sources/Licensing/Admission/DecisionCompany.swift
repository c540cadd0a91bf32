import ContentKeys
import EventLoops
import Records
import Synchronization

/// The decisions of the SPCs of one request, which become durable in one commit.
///
/// Each SPC has a seat. A decision waits until every other seat has brought its decision or was left. An SPC that is
/// refused leaves its seat. An SPC that waits for the outcome of another request leaves it too, and commits alone.
final class DecisionCompany: Sendable {
    fileprivate typealias Outcome = Result<DecisionOutcome, StoreError>

    private struct Waiting {
        let decision: LicenseDecision
        let store: any DecisionStore
        let caller: CheckedContinuation<Outcome, Never>
    }

    private struct State {
        var openSeats: Int
        var waiting: [Waiting] = []

        /// Takes all waiting decisions once no seat is open; takes none before that.
        mutating func takeComplete() -> [Waiting] {
            guard openSeats == 0 else { return [] }
            defer { waiting = [] }
            return waiting
        }
    }

    private let loop: LoopContext
    private let state: Mutex<State>

    private init(size: Int, on loop: LoopContext) {
        self.loop = loop
        state = Mutex(State(openSeats: size))
    }

    /// Returns the seats of a new company, one for each SPC. Every seat must bring a decision or be left.
    static func seats(_ count: Int, on loop: LoopContext) -> [DecisionSeat] {
        let company = DecisionCompany(size: count, on: loop)
        return (0..<count).map { _ in DecisionSeat(in: company) }
    }

    fileprivate func bring(_ decision: LicenseDecision, to store: any DecisionStore) async -> Outcome {
        await withCheckedContinuation { caller in
            commit(
                state.withLock { state in
                    state.openSeats -= 1
                    state.waiting.append(Waiting(decision: decision, store: store, caller: caller))
                    return state.takeComplete()
                })
        }
    }

    fileprivate func leave() {
        commit(
            state.withLock { state in
                state.openSeats -= 1
                return state.takeComplete()
            })
    }

    private func commit(_ complete: [Waiting]) {
        guard let store = complete.first?.store else { return }
        loop.spawn {
            let outcomes = await store.commit(together: complete.map(\.decision))
            for (waiting, outcome) in zip(complete, outcomes) { waiting.caller.resume(returning: outcome) }
        }
    }
}

/// The place of one SPC among those of its request.
final class DecisionSeat: Sendable {
    private let company: DecisionCompany
    private let isTaken = Atomic<Bool>(false)

    fileprivate init(in company: DecisionCompany) {
        self.company = company
    }

    /// Commits a decision together with the decisions of the other seats.
    ///
    /// A second decision of the same seat is committed alone. It is made if the state from which the first one was
    /// computed has changed.
    func commit(
        _ decision: LicenseDecision, in store: any DecisionStore
    ) async throws(StoreError) -> DecisionOutcome {
        guard take() else { return try await store.commit(decision) }
        return try await company.bring(decision, to: store).get()
    }

    /// Leaves the seat, so that the other seats do not wait for it. Does nothing after a decision or when called twice.
    func leave() {
        if take() { company.leave() }
    }

    private func take() -> Bool { !isTaken.exchange(true, ordering: .relaxed) }
}
