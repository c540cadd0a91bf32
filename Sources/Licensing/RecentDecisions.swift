import ByteCoding
import Entitlements
import Records
import Synchronization

/// What this node has decided lately, so that a request that comes again gets the same licence without a second entry
/// in the ledger.
///
/// A request is known by its SPC, by the party that sends it and by its use. Copies of a request that arrive while the
/// first is being decided wait for its outcome. At most 64 MiB are held: when the younger half is full, the older half
/// is forgotten. A request that was forgotten is decided again, and the store still knows it if it was counted.
final class RecentDecisions: Sendable {
    /// How many requests each half holds: as many as 2^18 places of a dictionary take.
    static let halfCapacity = 3 << 16
    /// What one place takes in bytes, with the mark that says whether it is used.
    static let placeSize = MemoryLayout<Key>.stride + MemoryLayout<Entry>.stride + 1
    /// The most memory in bytes: both halves, and the copy that one of them is moved to when it grows.
    static let sizeMaximum = 3 * (halfCapacity / 3 * 4) * placeSize

    private struct Key: Hashable {
        let request: Bytes16
        let party: Bytes16
        let isOffline: Bool
    }

    private struct Entry {
        let license: LicenseID
        /// The first second in which the request is a new one; seconds since 1970.
        let retryUntil: Int64
    }

    private struct State {
        var younger: [Key: Entry] = [:]
        var older: [Key: Entry] = [:]
        /// The callers that wait for the outcome of a request that is being decided.
        var underWay: [Key: [CheckedContinuation<Void, Never>]] = [:]
    }

    private enum Finding {
        case known(LicenseID)
        case isUnderWay
        case isNew
    }

    private let halfCapacity: Int
    private let state = Mutex(State())

    init(halfCapacity: Int = RecentDecisions.halfCapacity) {
        self.halfCapacity = halfCapacity
    }

    /// How many requests are held.
    var count: Int { state.withLock { $0.younger.count + $0.older.count } }

    /// The answer that a request was given before. Nil for a new request: then the caller decides it, and calls `end`.
    ///
    /// - Parameter beforeWaiting: Called before the caller waits for the outcome of a copy.
    func begin(
        _ replay: ReplayRecord, at now: Int64, beforeWaiting: () -> Void = {}
    ) async -> [UInt8]? {
        guard let (key, asked) = Self.key(of: replay) else { return nil }
        while true {
            switch find(key, at: now) {
            case .known(let license): return RecordedAnswer(license: license, use: asked.use).bytes
            case .isNew: return nil
            case .isUnderWay:
                beforeWaiting()
                await waitForEnd(of: key)
            }
        }
    }

    /// Notes the outcome of a request that `begin` has called new; nil if it could not be decided. Only a recorded
    /// licence is remembered.
    func end(_ replay: ReplayRecord, at now: Int64, with outcome: DecisionOutcome?) {
        guard let (key, asked) = Self.key(of: replay) else { return }
        let (retryUntil, overflows) = now.addingReportingOverflow(replay.retryWindow)
        let waiting = state.withLock { state in
            if outcome == .recorded, replay.retryWindow > 0 {
                makeRoom(in: &state)
                state.younger[key] = Entry(license: asked.license, retryUntil: overflows ? .max : retryUntil)
            }
            return state.underWay.removeValue(forKey: key) ?? []
        }
        for caller in waiting { caller.resume() }
    }

    /// Marks a new request as being decided.
    private func find(_ key: Key, at now: Int64) -> Finding {
        state.withLock { state in
            if let entry = state.younger[key] ?? state.older[key], now < entry.retryUntil {
                return .known(entry.license)
            }
            if state.underWay[key] != nil { return .isUnderWay }
            state.underWay[key] = []
            return .isNew
        }
    }

    private func waitForEnd(of key: Key) async {
        await withCheckedContinuation { caller in
            let isOver = state.withLock { state in
                guard state.underWay[key] != nil else { return true }
                state.underWay[key]?.append(caller)
                return false
            }
            if isOver { caller.resume() }
        }
    }

    private func makeRoom(in state: inout State) {
        guard state.younger.count >= halfCapacity else { return }
        // The old table is freed before the new one grows.
        state.older = state.younger
        state.younger = [:]
    }

    /// Nil for an answer that this version did not encode.
    private static func key(of replay: ReplayRecord) -> (Key, RecordedAnswer)? {
        guard let asked = RecordedAnswer(replay.answer) else { return nil }
        let party = replay.party ?? replay.token
        let key = Key(
            request: replay.request.firstHalf, party: party.firstHalf, isOffline: asked.use == .offline)
        return (key, asked)
    }
}
