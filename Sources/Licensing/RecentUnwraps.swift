import ByteCoding
import KeyCrypto
import Records
import Synchronization
import Telemetry

/// Remembers the session keys of SPCs that were opened lately, so that a copy of a request costs no RSA operation.
///
/// Players send the same SPC up to nine times in half a second (clients, section 0, fact 8). An SPC is identified by
/// its SHA-256. Copies that arrive while the first one is being unwrapped wait for it, on every loop. The result of an
/// unwrap is remembered whether the SPC was genuine or not. So the response time of a copy says nothing about its
/// wrapped key.
///
/// Only session keys are kept. Each copy of an SPC is decided again. At most `2 * halfCapacity` keys are held, each for
/// `life`: the older half is forgotten when the younger one is full.
final class RecentUnwraps: Sendable {
    /// How many session keys each half holds. Both halves together take half of the secure slots.
    static let halfCapacity = 2048

    private struct Entry {
        let job: RSAUnwrapJob
        let end: MonotonicTime
    }

    private struct State {
        var opened: RecentEntries<Bytes16, Entry>
        /// The copies that wait for an SPC which is being unwrapped.
        var underWay: [Bytes16: [CheckedContinuation<Start, Never>]] = [:]
        /// Whether a loop is scheduled to sweep.
        var isSwept = false
    }

    /// What the caller of `begin` must do.
    enum Start: Sendable {
        /// It is a copy, and this is its settled job.
        case known(RSAUnwrapJob)
        /// It is new. The caller unwraps it, and then calls `end`.
        case isNew
        /// It is a copy of an SPC that could not be unwrapped in time.
        case failed
    }

    /// How long a session key is remembered. With zero none is remembered, but copies still wait for an unwrap that is
    /// under way.
    let life: Duration
    private let state: Mutex<State>
    private let reused = Atomic<UInt64>(0)

    init(life: Duration, halfCapacity: Int = RecentUnwraps.halfCapacity) {
        self.life = life
        state = Mutex(State(opened: RecentEntries(capacity: 2 * halfCapacity)))
    }

    /// How many SPCs were opened without an RSA operation of their own.
    var reusedCount: UInt64 { reused.load(ordering: .relaxed) }

    /// How many session keys are held.
    var count: Int { state.withLock { $0.opened.count } }

    /// Looks an SPC up by its digest. Waits while a copy is being unwrapped.
    func begin(_ digest: Pseudonym, at now: MonotonicTime) async -> Start {
        let key = digest.firstHalf
        let start =
            if let start = find(key, at: now) { start } else {
                await withCheckedContinuation { copy in
                    if let start = find(key, at: now, waiting: copy) { copy.resume(returning: start) }
                }
            }
        if case .known = start { reused.wrappingAdd(1, ordering: .relaxed) }
        return start
    }

    /// Notes the settled job of an SPC for which `begin` returned `isNew`; nil if it could not be unwrapped. Returns
    /// whether the caller must schedule a call of `sweep` after `life`.
    func end(_ digest: Pseudonym, at now: MonotonicTime, with job: RSAUnwrapJob?) -> Bool {
        let key = digest.firstHalf
        let (waiting, mustSweep) = state.withLock { state in
            var mustSweep = false
            if let job, life > .zero {
                state.opened.remember(Entry(job: job, end: now + life), for: key)
                mustSweep = !state.isSwept
                state.isSwept = true
            }
            return (state.underWay.removeValue(forKey: key) ?? [], mustSweep)
        }
        let start: Start = job.map { .known($0) } ?? .failed
        for copy in waiting { copy.resume(returning: start) }
        return mustSweep
    }

    /// Forgets session keys whose time is over, also if no request comes. Returns whether it must be called again.
    func sweep(at now: MonotonicTime) -> Bool {
        state.withLock { state in
            state.opened.forgetAll { now >= $0.end }
            state.isSwept = state.opened.count > 0
            return state.isSwept
        }
    }

    /// Looks an SPC up, and marks a new one as being unwrapped. Returns nil while a copy is being unwrapped: then
    /// `waiting` is resumed at the end of that.
    private func find(
        _ key: Bytes16, at now: MonotonicTime, waiting: CheckedContinuation<Start, Never>? = nil
    ) -> Start? {
        state.withLock { state in
            if let entry = state.opened[key], now < entry.end { return .known(entry.job) }
            guard state.underWay[key] != nil else {
                state.underWay[key] = []
                return .isNew
            }
            if let waiting { state.underWay[key]?.append(waiting) }
            return nil
        }
    }
}
