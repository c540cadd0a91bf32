import ByteCoding
import Entitlements
import Records
import Synchronization

/// Remembers this node's recent decisions, so that a repeated request gets the same licence without a second entry in
/// the ledger.
///
/// A request is identified by its SPC, its party and its use. Copies of a request that arrive while the first one is
/// being decided wait for its outcome. At most 64 MiB are held: when the younger half is full, the older half is
/// forgotten. A forgotten request is decided again. If it has spent something, the store still recognizes it.
final class RecentDecisions: Sendable {
    /// How many requests each half holds: three quarters of 2^18, as many as a dictionary with 2^18 places takes.
    static let halfCapacity = 3 << 16
    /// The size of one place in bytes, with the byte that says whether the place is used.
    static let placeSize = MemoryLayout<Key>.stride + MemoryLayout<Entry>.stride + 1
    /// The most memory in bytes: both halves, and a third table while one of them grows.
    static let sizeMaximum = 3 * (halfCapacity / 3 * 4) * placeSize

    private struct Key: Hashable {
        let request: Bytes16
        let party: Bytes16
        let isOffline: Bool
    }

    private struct Entry {
        let license: LicenseID
        /// When the request counts as a new one again, in seconds since 1970.
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

    /// The answer that was given to the same request before; nil for a new request. For a new request, the caller must
    /// decide it and then call `end`.
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

    /// Notes the outcome of a request for which `begin` returned nil. `outcome` is nil if the request could not be
    /// decided. Only a recorded licence is remembered.
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

    /// Looks a request up, and marks a new one as being decided.
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

    /// The key of a request and its answer; nil if the answer is not in the format of this version.
    private static func key(of replay: ReplayRecord) -> (Key, RecordedAnswer)? {
        guard let asked = RecordedAnswer(replay.answer) else { return nil }
        let party = replay.party ?? replay.token
        let key = Key(
            request: replay.request.firstHalf, party: party.firstHalf, isOffline: asked.use == .offline)
        return (key, asked)
    }
}
