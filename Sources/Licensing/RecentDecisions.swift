import ByteCoding
import Records
import Synchronization

/// Remembers this node's recent decisions, so that a repeated request gets the same license without a second entry in
/// the ledger.
///
/// A request is identified by its name (`RequestName`). Copies of a request that arrive while the first one is
/// being decided wait for its outcome. What is held is limited by a number, and by time: nothing is held for more than
/// two retry windows while requests come. A forgotten request is decided again. If it has spent something, the store
/// still recognizes it.
final class RecentDecisions: Sendable {
    /// How many requests are held: three quarters of 2^19, as many as two dictionaries with 2^18 places take.
    static let capacity = 3 << 17
    /// The size of one place in bytes, with the byte that says whether the place is used.
    private static let placeSize = MemoryLayout<Bytes16>.stride + MemoryLayout<Remembered>.stride + 1
    /// The most memory in bytes: both halves, and a third table while one of them grows.
    static let sizeMaximum = 3 * (capacity / 2 / 3 * 4) * placeSize

    private struct State {
        /// The license of each request. Its id tells when it was decided.
        var decided: RecentEntries<Bytes16, Remembered>
        /// When the younger half of `decided` has lasted for one window, in seconds since 1970.
        var halfEnd = Int64.min
        /// The callers that wait for the outcome of a request that is being decided.
        var underWay: [Bytes16: [CheckedContinuation<Void, Never>]] = [:]

        mutating func answer(for key: Bytes16, at now: Int64, within window: Int64) -> RecordedAnswer? {
            guard let answer = decided[key]?.answer,
                now < RecentDecisions.end(of: window, from: answer.license.seconds)
            else { return nil }
            return answer
        }

        /// Remembers a license for `window` seconds. If a half has lasted for that time, all of the half before it is
        /// over.
        mutating func remember(_ answer: RecordedAnswer, for key: Bytes16, at now: Int64, window: Int64) {
            if now >= halfEnd || decided.isHalfFull {
                decided.beginHalf()
                halfEnd = RecentDecisions.end(of: window, from: now)
            }
            decided.remember(Remembered(answer), for: key)
        }
    }

    private enum Finding {
        case known(RecordedAnswer)
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
        let key = replay.request.firstHalf
        while true {
            switch find(key, at: now, within: replay.retryWindow) {
            case .known(let answer): return answer.bytes
            case .isNew: return nil
            case .isUnderWay:
                beforeWaiting()
                await waitForEnd(of: key)
            }
        }
    }

    /// The answer that was given to the same request before; nil for a new request, and for one that is being decided.
    func answer(to replay: ReplayRecord, at now: Int64) -> RecordedAnswer? {
        state.withLock { $0.answer(for: replay.request.firstHalf, at: now, within: replay.retryWindow) }
    }

    /// Notes the outcome of a request for which `begin` returned nil. `outcome` is nil if the request could not be
    /// decided. Only a recorded license is remembered.
    func end(_ replay: ReplayRecord, at now: Int64, with outcome: DecisionOutcome?) {
        let key = replay.request.firstHalf
        let waiting = state.withLock { state in
            if outcome == .recorded, replay.retryWindow > 0, let asked = RecordedAnswer(replay.answer) {
                state.remember(asked, for: key, at: now, window: replay.retryWindow)
            }
            return state.underWay.removeValue(forKey: key) ?? []
        }
        for caller in waiting { caller.resume() }
    }

    /// Looks a request up, and marks a new one as being decided. `window` seconds after its license was decided, a
    /// request counts as a new one again.
    private func find(_ key: Bytes16, at now: Int64, within window: Int64) -> Finding {
        state.withLock { state in
            if let answer = state.answer(for: key, at: now, within: window) { return .known(answer) }
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
}

/// A recorded answer in 20 bytes. It has no field of eight bytes, so that a table has no gaps.
private struct Remembered {
    private static let withoutEnd = UInt32.max

    private let license: (UInt32, UInt32, UInt32, UInt32)
    /// The end of the right in seconds after the decision. An end after more than 136 years counts as none.
    private let secondsToEnd: UInt32

    init(_ answer: RecordedAnswer) {
        let id = answer.license.bytes
        license = (
            UInt32(truncatingIfNeeded: id.high >> 32), UInt32(truncatingIfNeeded: id.high),
            UInt32(truncatingIfNeeded: id.low >> 32), UInt32(truncatingIfNeeded: id.low)
        )
        secondsToEnd = answer.rightEnd.map { UInt32(clamping: $0 - answer.license.seconds) } ?? Self.withoutEnd
    }

    var answer: RecordedAnswer {
        let id = LicenseID(
            Bytes16(
                high: UInt64(license.0) << 32 | UInt64(license.1), low: UInt64(license.2) << 32 | UInt64(license.3)))
        return RecordedAnswer(
            license: id, rightEnd: secondsToEnd == Self.withoutEnd ? nil : id.seconds + Int64(secondsToEnd))
    }
}
