import ContentKeys
import EventLoops
import Records
import Synchronization

/// The decisions of the SPCs of one request, which become durable in one commit.
///
/// Each SPC has a seat. A decision waits until every other seat has brought one too, or was left: an SPC that is
/// refused brings none, and one that waits for the outcome of another request waits alone.
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

        /// Those that wait, once no seat is open.
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

    /// The seats of a new company, one for each SPC. Every seat must bring a decision, or be left.
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

    /// Commits a decision with those of the other seats. A second decision of the same seat, because what the first one
    /// was computed from has changed, is committed alone.
    func commit(
        _ decision: LicenseDecision, in store: any DecisionStore
    ) async throws(StoreError) -> DecisionOutcome {
        guard take() else { return try await store.commit(decision) }
        return try await company.bring(decision, to: store).get()
    }

    /// The other seats wait for this one no longer. Leaving twice, or after a decision, does nothing.
    func leave() {
        if take() { company.leave() }
    }

    private func take() -> Bool { !isTaken.exchange(true, ordering: .relaxed) }
}
