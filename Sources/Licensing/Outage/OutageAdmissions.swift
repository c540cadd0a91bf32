import ContentKeys
import Records
import Synchronization
import Telemetry

/// How many licenses a node gives in an outage of the nodes' database, before their uses are counted there.
package struct AdmissionLimits: Equatable, Sendable {
    /// For one token. The token's own number of uses limits it too.
    package var perToken: Int
    /// For all tokens of one subject.
    package var perSubject: Int

    package init(perToken: Int = 3, perSubject: Int = 10) {
        self.perToken = perToken
        self.perSubject = perSubject
    }
}

/// Decides what a node admits in an outage of the nodes' database.
///
/// It knows what the node itself has decided in the last minutes: a use or a place that this node has given, or that
/// the database may have given to one of its requests, is not given again. What other nodes have given is not known, so
/// the licenses for each token and subject are limited too. The limits last until ten minutes have passed without such
/// a license. When `capacity` tokens, subjects or requests are remembered, nothing more is admitted.
final class OutageAdmissions: Sendable {
    static let capacity = 65_536
    /// How many of the node's own decisions are remembered: a thousand a second for almost nine minutes.
    private static let ownCapacity = 1 << 19
    private static let pieceSize = 1024
    /// How long the limits last after the last license that was admitted.
    static let limitsLast: Duration = .seconds(600)

    /// Whether a license is admitted.
    enum Verdict: Equatable {
        case admitted
        /// The same request was decided before, with this answer.
        case repeated(answer: [UInt8])
        /// This node remembers the rental differently from how the license was computed.
        case rentalDiffers(RentalRecord)
        case refused
    }

    /// A name under which licenses of an outage are counted.
    enum CountedName: Hashable {
        case pseudonym(Pseudonym)
        case tokenID(String)
    }

    private struct State {
        /// How many licenses were admitted for each token and subject.
        var counts: [CountedName: Int] = [:]
        /// The decisions of this node, and those that were admitted.
        var decisions = KnownDecisions()
        /// The last of the node's own decisions that is known.
        var lastOwn: Int64 = 0
        var ownCount = 0
        var admittedCount = 0
        var lastAdmitted: MonotonicTime?
        var knowsOwed = false

        /// Notes a decision of this node, unless it is known.
        mutating func noteOwn(_ decision: LicenseDecision) {
            if decisions.note(decision) { ownCount += 1 }
        }

        /// Notes a decision that was admitted, unless it is known.
        mutating func noteAdmitted(_ decision: LicenseDecision) {
            guard decisions.note(decision) else { return }
            let names = [decision.countedToken, decision.entry.subject.map { .pseudonym($0) }]
            for name in Set(names.compactMap(\.self)) { counts[name, default: 0] += 1 }
            admittedCount += 1
        }
    }

    /// Which of the admitted licenses the database may not have counted.
    private struct Debt {
        /// How many were ever admitted.
        var number = 0
        /// How many are not in the ledger yet.
        var pendingCount = 0
        var isOpen = false
        /// How many decisions were refused because of it.
        var refusedCount: UInt64 = 0
    }

    private let limits: AdmissionLimits
    private let clock: any MonotonicClock
    private let state = Mutex(
        (known: State(), uncertain: UncertainDecisions(), debt: Debt(), forgottenCount: 0))

    init(_ limits: AdmissionLimits, clock: any MonotonicClock) {
        self.limits = limits
        self.clock = clock
    }

    /// Decides by `body`, with the decision under way until its outcome is durable.
    func watching(
        _ decision: LicenseDecision, _ body: () async throws(StoreError) -> DecisionOutcome
    ) async throws(StoreError) -> DecisionOutcome {
        try begin(decision)
        do throws(StoreError) {
            let outcome = try await body()
            end(decision, with: outcome)
            return outcome
        } catch {
            end(decision, with: nil)
            throw error
        }
    }

    /// Throws if the decision must wait until the database has counted what was admitted for its token: it would give
    /// the same use once more.
    private func begin(_ decision: LicenseDecision) throws(StoreError) {
        let mayBeDecided = state.withLock { state in
            state.uncertain.begin(decision)
            guard state.debt.isOpen, let token = decision.countedToken, state.known.counts[token] != nil else {
                return true
            }
            // The database decides about the rental, but the rest must fit in any case.
            var rest = decision
            rest.rental = nil
            switch state.known.decisions.outcome(of: rest, beside: state.uncertain) {
            case .recorded, .repeated, .denied(.replayed): return true
            case .denied, nil:
                state.uncertain.end(decision)
                state.debt.refusedCount += 1
                return false
            }
        }
        guard mayBeDecided else { throw .unavailable(.unreachable) }
    }

    /// `outcome` is nil if this node does not know it.
    private func end(_ decision: LicenseDecision, with outcome: DecisionOutcome?) {
        state.withLock { [now = clock.monotonicTime] state in
            guard let outcome else { return state.uncertain.doubt(decision, at: now) }
            state.uncertain.end(decision)
            switch outcome {
            case .recorded: state.known.noteOwn(decision)
            case .repeated(let answer, _):
                // The answer to the first request may have been lost, and then this node did not know of its use.
                var first = decision
                first.replay?.answer = answer
                state.known.noteOwn(first)
            case .denied: break
            }
        }
    }

    /// Reads the decisions that the node has kept since the last call. The first call also reads those that were
    /// admitted before a restart. Returns how often everything was forgotten before.
    private func learn(from ledger: any DecisionKeeping) async throws(StoreError) -> Int {
        let forgottenCount = state.withLock { $0.forgottenCount }
        if state.withLock({ !$0.known.knowsOwed }) {
            let owed = try await ledger.owedDecisions(limit: Self.capacity)
            state.withLock { state in
                guard !state.known.knowsOwed else { return }
                state.known.knowsOwed = true
                for one in owed { state.known.noteAdmitted(one.decision) }
            }
        }
        while true {
            let last = state.withLock { $0.known.lastOwn }
            let kept = try await ledger.keptDecisions(from: 0, behind: last, limit: Self.pieceSize)
            if kept.isEmpty { return forgottenCount }
            state.withLock { state in
                for one in kept where one.number > state.known.lastOwn {
                    state.known.lastOwn = one.number
                    state.known.noteOwn(one.decision)
                }
            }
        }
    }

    /// Decides about a decision that is under way (`watching`), by what the node has decided before.
    func admit(_ decision: LicenseDecision, knowing ledger: any DecisionKeeping) async throws(StoreError) -> Verdict {
        while true {
            let learned = try await learn(from: ledger)
            if let verdict = verdict(on: decision, learned) { return verdict }
        }
    }

    /// Returns nil if what was learned was forgotten meanwhile.
    private func verdict(on decision: LicenseDecision, _ learned: Int) -> Verdict? {
        let tokenLimit = min(limits.perToken, decision.tokenUse.map { Int($0.limit) } ?? .max)
        let subject = decision.entry.subject.map { CountedName.pseudonym($0) }
        return state.withLock { [now = clock.monotonicTime] state in
            guard state.forgottenCount == learned else { return nil }
            state.uncertain.removeEnded(at: now)
            switch state.known.decisions.outcome(of: decision, beside: state.uncertain) {
            case .repeated(let answer, _): return .repeated(answer: answer)
            case .denied(.rentalDiffers(let known?)): return .rentalDiffers(known)
            case .denied, nil: return .refused
            case .recorded: break
            }
            guard state.known.counts.count < Self.capacity, state.known.admittedCount < Self.capacity,
                state.known.ownCount < Self.ownCapacity, !state.uncertain.isFull
            else { return .refused }
            let token = decision.countedToken
            let isAllowed =
                token.map { state.known.counts[$0, default: 0] < tokenLimit } ?? true
                && subject.map { state.known.counts[$0, default: 0] < limits.perSubject } ?? true
            guard isAllowed else { return .refused }
            state.known.noteAdmitted(decision)
            state.known.lastAdmitted = now
            state.debt.number += 1
            state.debt.pendingCount += 1
            state.debt.isOpen = true
            return .admitted
        }
    }

    /// How many decisions were refused before the database was asked.
    var refusedCount: UInt64 { state.withLock { $0.debt.refusedCount } }

    /// Notes that an admitted license is in the ledger, or that its writing has failed.
    func noteWritten() { state.withLock { $0.debt.pendingCount -= 1 } }

    /// How many licenses were admitted, all of which are in the ledger; nil while one is being written.
    var writtenNumber: Int? { state.withLock { $0.debt.pendingCount == 0 ? $0.debt.number : nil } }

    /// Notes that the database has counted what the ledger had when `writtenNumber` was this number.
    func noteCounted(_ number: Int) {
        state.withLock { state in
            if state.debt.number == number, state.debt.pendingCount == 0 { state.debt.isOpen = false }
        }
    }

    /// Forgets everything if the limits are over. Called when the database has counted all.
    func forgetEnded() {
        state.withLock { [now = clock.monotonicTime] state in
            if let last = state.known.lastAdmitted, now - last < Self.limitsLast { return }
            state.known = State()
            state.forgottenCount += 1
        }
    }
}

extension LicenseDecision {
    /// The token whose licenses are limited in an outage; nil if the decision does not name it.
    fileprivate var countedToken: OutageAdmissions.CountedName? {
        if let tokenUse { return .pseudonym(tokenUse.token) }
        if let tokenID = entry.tokenID { return .tokenID(tokenID) }
        return devicePlaces.first.map { .pseudonym($0.owner) }
    }
}
