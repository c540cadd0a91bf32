package import ContentKeys
package import Records
import Synchronization
package import Telemetry

/// Commits the decisions of one node among many (architecture, "What many nodes share").
///
/// The nodes' database settles the shared state, and the node's own ledger records the entry before the request is
/// answered.
///
/// A decision that needs no shared state never asks the database, so an outage does not affect it. A renewal by session
/// token waits only a moment for the database: it was granted before, and its token is bound to its device. A license
/// that is given without being counted is marked in the ledger. `Recount` counts it when the database is back.
package final class SharedDecisionStore: DecisionStore {
    /// What happens to a license that needs shared state while the database does not answer.
    package enum OutageRule: String, Sendable, CaseIterable {
        /// It is refused.
        case refuse
        /// It is given within limits, and counted later.
        case admit
    }

    /// How many licenses outages have affected.
    package struct Counts: Equatable, Sendable {
        /// Licenses that were given in an outage before the database had counted them.
        package var admitted: UInt64 = 0
        /// Licenses that were refused in an outage because their token or subject had reached its limit.
        package var overLimit: UInt64 = 0
        /// Renewals that were given without the checks of their session and slots.
        package var uncheckedRenewals: UInt64 = 0
        /// Uses that were given back because the ledger did not record their license.
        package var givenBack: UInt64 = 0
    }

    private let shared: any RecountedStore
    private let ledger: any DecisionKeeping
    private let patience: Patience?
    private let mark: NodeMark
    private let mayCount: @Sendable () -> Bool
    private let connections: SettledConnections?
    private let admissions: OutageAdmissions?
    private let state = Mutex(Counts())

    /// Without `patience`, renewals wait for the database like all other requests.
    ///
    /// - Parameters:
    ///   - connections: The connections on which this node may decide; nil if it may decide on all.
    ///   - mayCount: Whether the node's clock agrees well enough with the clock of the database.
    package init(
        shared: any RecountedStore, ledger: any DecisionKeeping, onStoreOutage: OutageRule = .refuse,
        limits: AdmissionLimits = AdmissionLimits(), patience: Patience? = nil, mark: NodeMark = NodeMark(),
        connections: SettledConnections? = nil, clock: any MonotonicClock = SystemMonotonicClock(),
        mayCount: @escaping @Sendable () -> Bool = { true }
    ) {
        self.shared = shared
        self.ledger = ledger
        self.patience = patience
        self.mark = mark
        self.connections = connections
        self.mayCount = mayCount
        admissions = onStoreOutage == .admit ? OutageAdmissions(limits, clock: clock) : nil
    }

    package var counts: Counts {
        var counts = state.withLock { $0 }
        counts.overLimit += admissions?.refusedCount ?? 0
        return counts
    }

    /// Counts by `body` what was admitted in outages, in the database. While anything is uncounted, the tokens of
    /// admitted licenses get no more than what this node knows to be left.
    ///
    /// What was admitted is forgotten if the last outage is long over. After that, tokens and subjects have their full
    /// limits again.
    package func counting<Result>(
        _ body: () async throws(StoreError) -> Result
    ) async throws(StoreError) -> Result {
        let number = admissions?.writtenNumber
        let result = try await body()
        if let number { admissions?.noteCounted(number) }
        admissions?.forgetEnded()
        return result
    }

    package func commit(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome {
        guard decision.needsSharedState else {
            try await ledger.append(decision.entry)
            return .recorded
        }
        guard mayCount() else { return try await goOn(decision) }
        guard decision.sessionTokenUse == nil else { return try await renew(decision) }
        guard let admissions else { return try await decide(decision) }
        return try await admissions.watching(decision) { () throws(StoreError) in try await decide(decision) }
    }

    private func decide(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome {
        switch await settle(decision) {
        case .success(let outcome): return try await record(outcome, of: decision)
        case .failure(.unavailable(.unreachable)): return try await admit(decision)
        case .failure(let error): throw error
        }
    }

    /// If no decision needs shared state, all of them are one commit of the ledger. Otherwise they run concurrently, so
    /// that the database and the ledger can batch them.
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

    /// Settles a decision in the database.
    ///
    /// The loss of a connection is no outage: the decision is settled once more on a fresh one. The database recognises
    /// it if it was settled before.
    private func settle(_ decision: LicenseDecision) async -> Result<DecisionOutcome, StoreError> {
        guard let connections else { return await settle(decision, on: nil) }
        let newest = connections.newest
        let first = await settle(decision, on: 0...newest)
        guard case .failure(.unavailable(.unreachable)) = first, shared.isReconnecting,
            await connections.waitForNewer(than: newest)
        else { return first }
        return await settle(decision, on: 0...connections.newest)
    }

    private func settle(
        _ decision: LicenseDecision, on connections: ClosedRange<Int>?
    ) async -> Result<DecisionOutcome, StoreError> {
        do throws(StoreError) {
            return .success(try await shared.settle(decision, on: connections))
        } catch {
            return .failure(error)
        }
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

    /// Records a settled decision in the ledger.
    ///
    /// If that fails, the license is not given, so its uses are given back. If that fails too, a repetition of the
    /// request finds its license in the database.
    private func recordSettled(_ decision: LicenseDecision) async throws(StoreError) {
        do throws(StoreError) {
            try await ledger.append(decision.entry, keeping: decision, mark: mark.use())
        } catch {
            if let isFound = try? await shared.giveBack(decision), isFound { state.withLock { $0.givenBack += 1 } }
            throw error
        }
    }

    /// Answers a repeated request, and records it first if no ledger is known to have it.
    ///
    /// The first answer may have been settled but not recorded: the ledger failed, or the database's answer was lost.
    /// The entry has the id of the first license.
    private func repeated(
        _ decision: LicenseDecision, _ bytes: [UInt8], _ isRecorded: Bool
    ) async throws(StoreError) -> DecisionOutcome {
        guard let answer = RecordedAnswer(bytes) else { throw .recordMalformed }
        if let replay = decision.replay, let asked = RecordedAnswer(replay.answer),
            !answer.answers(asked, within: replay.retryWindow)
        {
            // The answer is to another grant, so this decision has no entry for it.
            return .repeated(answer: bytes, isRecorded: isRecorded)
        }
        guard !isRecorded else { return .repeated(answer: bytes, isRecorded: true) }
        var entry = decision.entry
        entry.license = answer.license
        try await ledger.append(entry)
        noteRecorded(decision)
        return .repeated(answer: bytes, isRecorded: true)
    }

    // MARK: Without the database

    /// Decides about a renewal by session token.
    ///
    /// A renewal goes on in every outage, and while the database is slow, so that no playback stops because of them.
    /// Any other error of the database, for example because it is damaged, refuses the renewal.
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
            // `Recount` counts the play when the database is back. The checks of the session are not repeated then.
            var play = LicenseDecision(now: decision.now, entry: decision.entry)
            play.rental = rental
            try await ledger.append(decision.entry.uncounted, keeping: play, mark: nil)
        } else {
            try await ledger.append(decision.entry.uncounted)
        }
        state.withLock { $0.uncheckedRenewals += 1 }
        return .recorded
    }

    /// Decides while the node's clock is wrong: only renewals by session tokens go on. This is no outage, so
    /// `onStoreOutage` does not apply.
    private func goOn(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome {
        guard decision.sessionTokenUse != nil else { throw .unavailable(.clockUntrusted) }
        return try await goOnUnchecked(decision)
    }

    /// Admits a license in an outage, if the rule and the limits allow it.
    ///
    /// Only a database that does not answer is an outage. An overloaded database is none, because a client could cause
    /// the load in order to be admitted.
    private func admit(_ decision: LicenseDecision) async throws(StoreError) -> DecisionOutcome {
        guard let admissions else { throw .unavailable(.unreachable) }
        switch try await admissions.admit(decision, knowing: ledger) {
        case .refused:
            state.withLock { $0.overLimit += 1 }
            throw .unavailable(.unreachable)
        case .repeated(let answer):
            var decision = decision
            decision.entry = decision.entry.uncounted
            return try await repeated(decision, answer, false)
        case .rentalDiffers(let stored): return .denied(.rentalDiffers(stored))
        case .admitted:
            defer { admissions.noteWritten() }
            try await ledger.append(decision.entry.uncounted, keeping: decision, mark: nil)
            state.withLock { $0.admitted += 1 }
            return .recorded
        }
    }
}
