import ByteCoding
import Entitlements
import Records
import Synchronization

/// Remembers this node's recent decisions, so that a repeated request gets the same licence without a second entry in
/// the ledger.
///
/// A request is identified by its SPC, its party and its use. Copies of a request that arrive while the first one is
/// being decided wait for its outcome. What is held is limited by a number, and by time: nothing is held for more than
/// two retry windows while requests come. A forgotten request is decided again. If it has spent something, the store
/// still recognizes it.
final class RecentDecisions: Sendable {
    /// How many requests are held: three quarters of 2^19, as many as two dictionaries with 2^18 places take.
    static let capacity = 3 << 17
    /// The size of one place in bytes, with the byte that says whether the place is used.
    static let placeSize = MemoryLayout<Bytes16>.stride + MemoryLayout<LicenseID>.stride + 1
    /// The most memory in bytes: both halves, and a third table while one of them grows.
    static let sizeMaximum = 3 * (capacity / 2 / 3 * 4) * placeSize

    private struct State {
        /// The licence of each request. Its id tells when it was decided.
        var decided: RecentEntries<Bytes16, LicenseID>
        /// When the younger half of `decided` has lasted for one window, in seconds since 1970.
        var halfEnd = Int64.min
        /// The callers that wait for the outcome of a request that is being decided.
        var underWay: [Bytes16: [CheckedContinuation<Void, Never>]] = [:]

        /// Remembers a licence for `window` seconds. If a half has lasted for that time, all of the half before it is
        /// over.
        mutating func remember(_ license: LicenseID, for key: Bytes16, at now: Int64, window: Int64) {
            if now >= halfEnd || decided.isHalfFull {
                decided.beginHalf()
                halfEnd = RecentDecisions.end(of: window, from: now)
            }
            decided.remember(license, for: key)
        }
    }

    private enum Finding {
        case known(LicenseID)
        case isUnderWay
        case isNew
    }

    private let state: Mutex<State>

    init(capacity: Int = RecentDecisions.capacity) {
        state = Mutex(State(decided: RecentEntries(capacity: capacity)))
    }

    /// How many requests are held.
    var count: Int { state.withLock { $0.decided.count } }

    /// The answer that was given to the same request before; nil for a new request. For a new request, the caller must
    /// decide it and then call `end`.
    ///
    /// - Parameter beforeWaiting: Called before the caller waits for the outcome of a copy.
    func begin(
        _ replay: ReplayRecord, at now: Int64, beforeWaiting: () -> Void = {}
    ) async -> [UInt8]? {
        guard let (key, asked) = Self.key(of: replay) else { return nil }
        while true {
            switch find(key, at: now, within: replay.retryWindow) {
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
        let waiting = state.withLock { state in
            if outcome == .recorded, replay.retryWindow > 0 {
                state.remember(asked.license, for: key, at: now, window: replay.retryWindow)
            }
            return state.underWay.removeValue(forKey: key) ?? []
        }
        for caller in waiting { caller.resume() }
    }

    /// Looks a request up, and marks a new one as being decided. `window` seconds after its licence was decided, a
    /// request counts as a new one again.
    private func find(_ key: Bytes16, at now: Int64, within window: Int64) -> Finding {
        state.withLock { state in
            if let license = state.decided[key], now < Self.end(of: window, from: license.seconds) {
                return .known(license)
            }
            if state.underWay[key] != nil { return .isUnderWay }
            state.underWay[key] = []
            return .isNew
        }
    }

    private func waitForEnd(of key: Bytes16) async {
        await withCheckedContinuation { caller in
            let isOver = state.withLock { state in
                guard state.underWay[key] != nil else { return true }
                state.underWay[key]?.append(caller)
                return false
            }
            if isOver { caller.resume() }
        }
    }

    /// The end of a window of so many seconds that begins at `start`, in seconds since 1970.
    private static func end(of window: Int64, from start: Int64) -> Int64 {
        let (end, overflows) = start.addingReportingOverflow(window)
        return overflows ? .max : end
    }

    /// The key of a request and its answer; nil if the answer is not in the format of this version.
    ///
    /// The names of the SPC and of the party are digests, so their exclusive or is as good a name for both together, in
    /// half of the memory.
    private static func key(of replay: ReplayRecord) -> (Bytes16, RecordedAnswer)? {
        guard let asked = RecordedAnswer(replay.answer) else { return nil }
        let (request, party) = (replay.request.firstHalf, (replay.party ?? replay.token).firstHalf)
        let both = Bytes16(high: request.high ^ party.low, low: request.low ^ party.high)
        let key = asked.use == .offline ? Bytes16(high: ~both.high, low: ~both.low) : both
        return (key, asked)
    }
}
