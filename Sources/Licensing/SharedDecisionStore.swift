package import ContentKeys
package import Records
import Synchronization

/// Decisions of one node among many: what the nodes share is settled in their database, and the node's own ledger takes
/// the entry before anything is answered (architecture, "What many nodes share").
///
/// A decision that needs no shared state never asks the database, so that its outage costs nothing there. A renewal by
/// session token waits only a moment: it was granted before, and its token is bound to its device. What a node gives
/// without counting it is marked in the ledger, and `Recount` counts it when the database is back.
package final class SharedDecisionStore: DecisionStore {
    /// What becomes of a licence that needs shared state while the database does not answer.
    package enum OutageRule: String, Sendable, CaseIterable {
        /// It is refused.
        case refuse
        /// It is given within limits, and counted later.
        case admit
    }

    /// What was given in outages.
    package struct Counts: Equatable, Sendable {
        /// Licences that were given although what they spend could not be settled.
        package var admitted: UInt64 = 0
        /// Licences that were refused in an outage because their token or subject had as many as there may be.
        package var overLimit: UInt64 = 0
        /// Renewals that were given without the checks of their session and slots.
        package var uncheckedRenewals: UInt64 = 0
        /// Uses that were given back because the ledger did not take their licence.
        package var givenBack: UInt64 = 0
    }

    private let shared: any RecountedStore
    private let ledger: any DecisionKeeping
    private let patience: Patience?
    private let mark: NodeMark
    private let mayCount: @Sendable () -> Bool
    private let admissions: OutageAdmissions?
    private let state = Mutex(Counts())

    /// Without `patience` renewals wait for the database as all others do.
    ///
    /// - Parameter mayCount: Whether the node's clock agrees with the database's well enough.
    package init(
        shared: any RecountedStore, ledger: any DecisionKeeping, onStoreOutage: OutageRule = .refuse,
        limits: AdmissionLimits = AdmissionLimits(), patience: Patience? = nil, mark: NodeMark = NodeMark(),
        mayCount: @escaping @Sendable () -> Bool = { true }
    ) {
        self.shared = shared
        self.ledger = ledger
        self.patience = patience
        self.mark = mark
        self.mayCount = mayCount
        admissions = onStoreOutage == .admit ? OutageAdmissions(limits) : nil
    }

    package var counts: Counts { state.withLock { $0 } }

    /// Everything that was admitted is counted in the database: tokens and subjects have their limits of an outage
    /// again.
    package func forgetAdmissions() { admissions?.forget() }

    package func commit(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome {
        guard decision.needsSharedState else {
            try await ledger.append(decision.entry)
            return .recorded
        }
        guard mayCount() else { return try await goOn(decision) }
        guard decision.sessionTokenUse == nil else { return try await renew(decision) }
        switch await settle(decision) {
        case .success(let outcome): return try await record(outcome, of: decision)
        case .failure(.unavailable(.unreachable)): return try await admit(decision)
        case .failure(let error): throw error
        }
    }

    /// Decisions that need no shared state are one commit of the ledger. The others are asked about at once, so that
    /// the database and the ledger can take them together.
    package func commit(together decisions: [LicenseDecision]) async -> [Result<DecisionOutcome, StoreError>] {
        let own = decisions.filter { !$0.needsSharedState }
        guard own.count < decisions.count else { return await appendTogether(own) }
        return await withTaskGroup(of: (Int, Result<DecisionOutcome, StoreError>).self) { group in
            for (index, decision) in decisions.enumerated() {
                group.addTask { (index, await self.result(of: decision)) }
            }
            var outcomes = decisions.map { _ in Result<DecisionOutcome, StoreError>.failure(.unavailable(.busy)) }
            for await (index, outcome) in group { outcomes[index] = outcome }
            return outcomes
        }
    }

    private func appendTogether(_ decisions: [LicenseDecision]) async -> [Result<DecisionOutcome, StoreError>] {
        do throws(StoreError) {
            try await ledger.append(together: decisions.map(\.entry))
            return decisions.map { _ in .success(.recorded) }
        } catch {
            return decisions.map { _ in .failure(error) }
        }
    }

    private func settle(_ decision: LicenseDecision) async -> Result<DecisionOutcome, StoreError> {
        do throws(StoreError) { return .success(try await shared.settle(decision)) } catch { return .failure(error) }
    }

    // MARK: With the database

    private func record(
        _ outcome: DecisionOutcome, of decision: LicenseDecision
    ) async throws(StoreError) -> DecisionOutcome {
        switch outcome {
        case .recorded:
            try await recordSettled(decision)
            noteRecorded(decision)
            return outcome
        case .repeated(let answer, let isRecorded): return try await repeated(decision, answer, isRecorded)
        case .denied: return outcome
        }
    }

    private func noteRecorded(_ decision: LicenseDecision) {
        if let replay = decision.replay { shared.noteRecorded(replay.request) }
    }

    /// A licence that the ledger does not take is not given, so what it has spent is given back. If that fails too, the
    /// same request finds its licence again.
    private func recordSettled(_ decision: LicenseDecision) async throws(StoreError) {
        do throws(StoreError) {
            try await ledger.append(decision.entry, keeping: decision, mark: mark.use())
        } catch {
            if let isFound = try? await shared.giveBack(decision), isFound { state.withLock { $0.givenBack += 1 } }
            throw error
        }
    }

    /// The first answer may have been settled and never written down: the ledger failed behind it, or the database's
    /// answer was lost. So a repetition that no ledger is known to have is written down before it is answered, under
    /// the licence's first id.
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
        try await ledger.append(entry)
        noteRecorded(decision)
        return .repeated(answer: bytes, isRecorded: true)
    }

    // MARK: Without it

    /// A renewal goes on in every outage, and while the database is slow: a picture that stops is what neither should
    /// cost. A database that answers otherwise, for example because it is damaged, decides.
    private func renew(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome {
        let answer =
            if let patience {
                await patience.answer { [self] in await settle(decision) }
            } else {
                await settle(decision)
            }
        switch answer {
        case .success(let outcome): return try await record(outcome, of: decision)
        case nil, .failure(.unavailable(.unreachable)), .failure(.unavailable(.busy)),
            .failure(.unavailable(.misconfigured)):
            return try await goOnUnchecked(decision)
        case .failure(let error): throw error
        }
    }

    private func goOnUnchecked(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome {
        if let rental = decision.rental {
            // The play is counted when the database is back; the session's own checks are not made up for.
            var play = LicenseDecision(now: decision.now, entry: decision.entry)
            play.rental = rental
            try await ledger.append(decision.entry.uncounted, keeping: play, mark: nil)
        } else {
            try await ledger.append(decision.entry.uncounted)
        }
        state.withLock { $0.uncheckedRenewals += 1 }
        return .recorded
    }

    /// With a clock that is wrong, renewals go on and nothing else does. It is no outage, so that `onStoreOutage` has
    /// no say.
    private func goOn(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome {
        guard decision.sessionTokenUse != nil else { throw .unavailable(.clockUntrusted) }
        return try await goOnUnchecked(decision)
    }

    /// Only a database that does not answer is an outage. One that answers and is overloaded admits no licence: load is
    /// something that a client that wants to be admitted could make.
    private func admit(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome {
        guard let admissions else { throw .unavailable(.unreachable) }
        switch admissions.admit(decision) {
        case .refused:
            state.withLock { $0.overLimit += 1 }
            throw .unavailable(.unreachable)
        case .repeated(let answer):
            var decision = decision
            decision.entry = decision.entry.uncounted
            return try await repeated(decision, answer, false)
        case .admitted:
            try await ledger.append(decision.entry.uncounted, keeping: decision, mark: nil)
            state.withLock { $0.admitted += 1 }
            return .recorded
        }
    }
}

/// The number that a node counts up in the nodes' database (`DecisionKeeping`).
package final class NodeMark: Sendable {
    private struct State {
        var latest: Int64 = 0
        /// Whether a decision was kept under the latest number.
        var isUsed = false
    }

    private let state = Mutex(State())

    package init() {}

    /// The number that was sent last.
    package var latest: Int64 { state.withLock { $0.latest } }

    /// The mark of a decision that was settled just now.
    func use() -> Int64 {
        state.withLock { state in
            state.isUsed = true
            return state.latest
        }
    }

    /// The number to send now: a new one if decisions were kept under the latest one.
    func next() -> Int64 {
        state.withLock { state in
            if state.isUsed || state.latest == 0 { state.latest += 1 }
            state.isUsed = false
            return state.latest
        }
    }

    func raise(to number: Int64) {
        state.withLock { $0.latest = max($0.latest, number) }
    }
}
