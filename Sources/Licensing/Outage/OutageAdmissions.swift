import ByteCoding
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
    private static let capacity = 65_536
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

    private struct KeyUse: Hashable {
        let token: Pseudonym
        let keyID: KeyID

        init(_ use: TokenUse) {
            (token, keyID) = (use.token, use.keyID)
        }
    }

    fileprivate struct Place: Hashable {
        let owner: Pseudonym
        let device: Pseudonym
    }

    /// A name under which licenses of an outage are counted.
    enum CountedName: Hashable {
        case pseudonym(Pseudonym)
        case tokenID(String)
    }

    /// The uses and places of decisions that are under way. The database may have given them, and this node does not
    /// know it yet.
    private struct UnderWay {
        private(set) var uses: [KeyUse: UInt32] = [:]
        private var places: [Place: Int] = [:]
        private(set) var devices: [Pseudonym: Set<Pseudonym>] = [:]

        mutating func add(_ decision: LicenseDecision) {
            if let use = decision.tokenUse { uses[KeyUse(use), default: 0] += 1 }
            for place in decision.places {
                places[place, default: 0] += 1
                devices[place.owner, default: []].insert(place.device)
            }
        }

        mutating func remove(_ decision: LicenseDecision) {
            if let use = decision.tokenUse, let count = uses[KeyUse(use)] {
                uses[KeyUse(use)] = count > 1 ? count - 1 : nil
            }
            for place in decision.places {
                guard let count = places[place] else { continue }
                places[place] = count > 1 ? count - 1 : nil
                guard count == 1 else { continue }
                devices[place.owner]?.remove(place.device)
                if devices[place.owner]?.isEmpty == true { devices[place.owner] = nil }
            }
        }
    }

    /// Decisions that ended without an outcome that this node knows: the database may have settled them, and gives them
    /// out when their requests are repeated. They are in doubt for as long as that can happen.
    private struct Doubts {
        private var ends: [Pseudonym: (decision: LicenseDecision, end: MonotonicTime)] = [:]
        private var inOrder: [Pseudonym] = []
        private(set) var held = UnderWay()

        var isFull: Bool { inOrder.count >= OutageAdmissions.capacity }

        mutating func add(_ decision: LicenseDecision, at now: MonotonicTime) {
            guard let replay = decision.replay, ends[replay.request] == nil else { return }
            ends[replay.request] = (decision, now + .seconds(replay.retryWindow))
            inOrder.append(replay.request)
            held.add(decision)
        }

        /// Ends the doubt about a decision, which is under way again.
        mutating func remove(_ decision: LicenseDecision) {
            guard let replay = decision.replay, let doubt = ends.removeValue(forKey: replay.request) else { return }
            held.remove(doubt.decision)
        }

        mutating func removeEnded(at now: MonotonicTime) {
            let ended = inOrder.prefix { name in ends[name].map { $0.end <= now } ?? true }
            for name in ended {
                if let doubt = ends.removeValue(forKey: name) { held.remove(doubt.decision) }
            }
            inOrder.removeFirst(ended.count)
        }
    }

    private struct State {
        /// How many licenses were admitted for each token and subject.
        var counts: [CountedName: Int] = [:]
        /// The answers to the requests that were admitted, or decided by this node before.
        var answers: [Pseudonym: [UInt8]] = [:]
        var uses: [KeyUse: UInt32] = [:]
        var devices: [Pseudonym: Set<Pseudonym>] = [:]
        /// Until when each device holds a playback, by group.
        var playbacks: [Pseudonym: [Pseudonym: Int64]] = [:]
        var rentals: [Pseudonym: RentalRecord] = [:]
        /// The last of the node's own decisions that is known.
        var lastOwn: Int64 = 0
        var ownCount = 0
        var admittedCount = 0
        var lastAdmitted: MonotonicTime?
        var knowsOwed = false

        mutating func note(_ decision: LicenseDecision) {
            if let use = decision.tokenUse { uses[KeyUse(use), default: 0] += 1 }
            for place in decision.devicePlaces { devices[place.owner, default: []].insert(place.device) }
            for claim in decision.slotClaims {
                let held = playbacks[claim.group]?[claim.playback.device] ?? .min
                playbacks[claim.group, default: [:]][claim.playback.device] = max(held, claim.heldUntil)
            }
            if let claim = decision.rental {
                rentals[claim.name] = claim.record.merged(with: rentals[claim.name])
            }
            if let replay = decision.replay { answers[replay.request] = replay.answer }
        }

        func knows(_ decision: LicenseDecision) -> Bool {
            decision.replay.map { answers[$0.request] != nil } ?? false
        }

        /// Notes a decision of this node, unless it is known.
        mutating func noteOwn(_ decision: LicenseDecision) {
            guard !knows(decision) else { return }
            note(decision)
            ownCount += 1
        }

        mutating func noteAdmitted(_ decision: LicenseDecision) {
            let names = [decision.countedToken, decision.entry.subject.map { .pseudonym($0) }]
            for name in Set(names.compactMap(\.self)) { counts[name, default: 0] += 1 }
            note(decision)
            admittedCount += 1
        }

        /// Whether the uses and places that this node has given, or may have given, leave room for the decision. It is
        /// one of those under way.
        func leavesRoom(for decision: LicenseDecision, beside underWay: UnderWay, _ doubts: UnderWay) -> Bool {
            if let use = decision.tokenUse {
                let key = KeyUse(use)
                let others = underWay.uses[key, default: 0] + doubts.uses[key, default: 0]
                if uses[key, default: 0] + others > use.limit { return false }
            }
            func devicesUnderWay(_ owner: Pseudonym) -> Set<Pseudonym> {
                (underWay.devices[owner] ?? []).union(doubts.devices[owner] ?? [])
            }
            let hasRoom = decision.slotClaims.allSatisfy { claim in
                let live = (playbacks[claim.group] ?? [:]).filter { $0.value > decision.now }.keys
                let device = claim.playback.device
                if live.contains(device) || claim.whenFull == .evictOldest { return true }
                return Set(live).union(devicesUnderWay(claim.group)).count <= Int(claim.limit)
            }
            return hasRoom
                && decision.devicePlaces.allSatisfy { place in
                    let known = devices[place.owner] ?? []
                    if known.contains(place.device) || place.kind == .replacing { return true }
                    return known.union(devicesUnderWay(place.owner)).count <= Int(place.limit)
                }
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
        (known: State(), underWay: UnderWay(), doubts: Doubts(), debt: Debt(), forgottenCount: 0))

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
            state.doubts.remove(decision)
            state.underWay.add(decision)
            guard state.debt.isOpen, let token = decision.countedToken, state.known.counts[token] != nil,
                !state.known.knows(decision),
                !state.known.leavesRoom(for: decision, beside: state.underWay, state.doubts.held)
            else { return true }
            state.underWay.remove(decision)
            state.debt.refusedCount += 1
            return false
        }
        guard mayBeDecided else { throw .unavailable(.unreachable) }
    }

    /// `outcome` is nil if this node does not know it.
    private func end(_ decision: LicenseDecision, with outcome: DecisionOutcome?) {
        state.withLock { [now = clock.monotonicTime] state in
            state.underWay.remove(decision)
            switch outcome {
            case .recorded: state.known.noteOwn(decision)
            case .repeated(let answer, _):
                // The answer to the first request may have been lost, and then this node did not know of its use.
                var first = decision
                first.replay?.answer = answer
                state.known.noteOwn(first)
            case .denied: break
            case nil:
                state.doubts.removeEnded(at: now)
                state.doubts.add(decision, at: now)
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
                for one in owed where !state.known.knows(one.decision) { state.known.noteAdmitted(one.decision) }
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
            state.doubts.removeEnded(at: now)
            if let replay = decision.replay, let known = state.known.answers[replay.request] {
                return .repeated(answer: known)
            }
            if let claim = decision.rental, let stored = state.known.rentals[claim.name], claim.known != stored {
                return .rentalDiffers(stored)
            }
            guard state.known.counts.count < Self.capacity, state.known.admittedCount < Self.capacity,
                state.known.ownCount < Self.ownCapacity,
                !state.doubts.isFull, state.known.leavesRoom(for: decision, beside: state.underWay, state.doubts.held)
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

    /// The device places, and the devices of the playbacks in each group.
    fileprivate var places: [OutageAdmissions.Place] {
        devicePlaces.map { OutageAdmissions.Place(owner: $0.owner, device: $0.device) }
            + slotClaims.map { OutageAdmissions.Place(owner: $0.group, device: $0.playback.device) }
    }
}
