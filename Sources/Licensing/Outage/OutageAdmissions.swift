import ByteCoding
import ContentKeys
import Records
import Synchronization

/// How many licences a node gives in an outage of the nodes' database, before their uses are counted there.
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

/// Counts what a node admits in an outage of the nodes' database.
///
/// Tokens, subjects and requests are remembered until the outage is over and the database has counted all of them. When
/// `capacity` of them are remembered, nothing more is admitted.
final class OutageAdmissions: Sendable {
    private static let capacity = 65_536

    /// Whether a licence is admitted.
    enum Verdict: Equatable {
        case admitted
        /// The same request was admitted before, with this answer.
        case repeated(answer: [UInt8])
        case refused
    }

    private struct State {
        var counts: [Pseudonym: Int] = [:]
        var answers: [Pseudonym: [UInt8]] = [:]
    }

    private let limits: AdmissionLimits
    private let state = Mutex(State())

    init(_ limits: AdmissionLimits) {
        self.limits = limits
    }

    func admit(_ decision: LicenseDecision) -> Verdict {
        let token = decision.tokenUse?.token ?? decision.devicePlaces.first?.owner
        let tokenLimit = min(limits.perToken, decision.tokenUse.map { Int($0.limit) } ?? .max)
        let subject = decision.entry.subject
        return state.withLock { state in
            if let replay = decision.replay, let known = state.answers[replay.request] {
                return .repeated(answer: known)
            }
            guard state.counts.count < Self.capacity, state.answers.count < Self.capacity else { return .refused }
            let isAllowed =
                token.map { state.counts[$0, default: 0] < tokenLimit } ?? true
                && subject.map { state.counts[$0, default: 0] < limits.perSubject } ?? true
            guard isAllowed else { return .refused }
            for name in [token, subject].compactMap(\.self) { state.counts[name, default: 0] += 1 }
            if let replay = decision.replay { state.answers[replay.request] = replay.answer }
            return .admitted
        }
    }

    /// Forgets everything. Called when the outage is over and the database has counted all.
    func forget() {
        state.withLock { $0 = State() }
    }
}
