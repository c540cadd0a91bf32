package import KeyCrypto
import Synchronization
package import Telemetry

/// The numbers given out so that a sync report can prove that it is fresh: each is accepted once, within its life, from whom it was given to.
///
/// They are held in memory and are bounded: a few for each holder, and a number in all. A restart forgets them, and the app asks again.
package final class ServerChallenges: Sendable {
    package struct Limits: Sendable {
        package var life: Duration = .seconds(300)
        package var countPerHolder = 8
        package var countInAll = 65_536

        package init() {}
    }

    /// Whom a challenge was given to: the subject of one issuer's token.
    package struct Holder: Hashable, Sendable {
        let issuer: String
        let subject: String
    }

    package enum Issued: Equatable, Sendable {
        /// Never 0.
        case challenge(UInt64)
        /// Too many are open, of this holder or in all; a place is free after so long.
        case tooMany(retryAfter: Duration)
    }

    fileprivate struct Entry {
        let holder: Holder
        let expiresAt: MonotonicTime
    }

    fileprivate struct State {
        var entries: [UInt64: Entry] = [:]
        /// The open ones of each holder, the oldest first.
        var numbersByHolder: [Holder: [UInt64]] = [:]
        /// In the order of their ends, as all have the same life. Those accepted meanwhile are passed over; the first one is open
        /// after `forget`.
        var queue: [(challenge: UInt64, expiresAt: MonotonicTime)] = []
        var queueStart = 0
    }

    package let limits: Limits
    private let clock: any MonotonicClock
    private let state = Mutex(State())

    package init(limits: Limits = Limits(), clock: any MonotonicClock = SystemMonotonicClock()) {
        self.limits = limits
        self.clock = clock
    }

    /// How many are open.
    package var count: Int { state.withLock { $0.entries.count } }

    /// How many are remembered for any reason: for tests of the bound.
    var heldCount: Int { state.withLock { $0.queue.count - $0.queueStart } }

    /// Gives out a number that `draw` draws by chance, or says that there are too many.
    package func issue(
        to holder: Holder, drawing draw: () throws(CryptoError) -> UInt64
    ) throws(CryptoError) -> Issued {
        let now = clock.monotonicTime
        return try state.withLock { (state) throws(CryptoError) in
            state.forget(until: now, atMost: limits.countInAll)
            let held = state.numbersByHolder[holder, default: []].count
            guard held < limits.countPerHolder, state.entries.count < limits.countInAll else {
                let oldest = held < limits.countPerHolder ? state.oldest : state.oldest(of: holder)
                return .tooMany(retryAfter: (oldest ?? now) - now)
            }
            var challenge = try draw()
            while challenge == 0 || state.entries[challenge] != nil { challenge = try draw() }
            state.insert(challenge, Entry(holder: holder, expiresAt: now + limits.life))
            return .challenge(challenge)
        }
    }

    /// Whether `challenge` is open and `holder`'s; it is not any more afterwards.
    package func accept(_ challenge: UInt64, from holder: Holder) -> Bool {
        let now = clock.monotonicTime
        return state.withLock { state in
            state.forget(until: now, atMost: limits.countInAll)
            guard let entry = state.entries[challenge], entry.holder == holder else { return false }
            state.remove(challenge)
            return true
        }
    }
}

extension ServerChallenges.State {
    /// Drops what has ended; and what was accepted, once that is more than may be open.
    fileprivate mutating func forget(until now: MonotonicTime, atMost countMaximum: Int) {
        while queueStart < queue.count {
            let isOpen = isOpen(queue[queueStart])
            guard queue[queueStart].expiresAt <= now || !isOpen else { break }
            if isOpen { remove(queue[queueStart].challenge) }
            queueStart += 1
        }
        // Moving the rest costs less than one step for each number that was given out.
        if queueStart > queue.count / 2 || queue.count - queueStart > 2 * countMaximum {
            queue.removeFirst(queueStart)
            queueStart = 0
            if queue.count > countMaximum { queue = queue.filter { isOpen($0) } }
        }
    }

    private func isOpen(_ queued: (challenge: UInt64, expiresAt: MonotonicTime)) -> Bool {
        entries[queued.challenge]?.expiresAt == queued.expiresAt
    }

    fileprivate mutating func insert(_ challenge: UInt64, _ entry: ServerChallenges.Entry) {
        entries[challenge] = entry
        numbersByHolder[entry.holder, default: []].append(challenge)
        queue.append((challenge, entry.expiresAt))
    }

    fileprivate mutating func remove(_ challenge: UInt64) {
        guard let entry = entries.removeValue(forKey: challenge) else { return }
        numbersByHolder[entry.holder]?.removeAll { $0 == challenge }
        if numbersByHolder[entry.holder]?.isEmpty ?? false { numbersByHolder[entry.holder] = nil }
    }

    /// When the oldest open challenge ends. To be asked after `forget`; costs the same however many are open.
    fileprivate var oldest: MonotonicTime? { queueStart < queue.count ? queue[queueStart].expiresAt : nil }

    /// When the oldest open challenge of one holder ends.
    fileprivate func oldest(of holder: ServerChallenges.Holder) -> MonotonicTime? {
        numbersByHolder[holder]?.first.flatMap { entries[$0]?.expiresAt }
    }
}
