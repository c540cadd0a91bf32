package import Entitlements
import Synchronization
package import Telemetry

extension Rate {
    fileprivate var interval: Int64 { max(1, 1_000_000_000 / Int64(perSecond)) }
}

/// Limits the event rate of each of many parties, as token buckets do.
///
/// For each party only one instant is kept: when its bucket will be full again (the generic cell rate algorithm). At
/// most about `capacity` parties are remembered. When the younger half is full, the older half is forgotten, and a
/// forgotten party begins with a full bucket. All threads may use the limiter at the same time: parties are spread over
/// parts with a lock each.
package final class RateLimiter<Party: Hashable & Sendable>: Sendable {
    private static var partCount: Int { 16 }

    private let clock: any MonotonicClock
    private let parts: [Part]

    /// `capacity` is at least 32.
    package init(capacity: Int, clock: any MonotonicClock = SystemMonotonicClock()) {
        precondition(capacity >= 2 * Self.partCount, "each part has two halves")
        self.clock = clock
        parts = (0..<Self.partCount).map { _ in Part(halfCapacity: capacity / (2 * Self.partCount)) }
    }

    /// Counts an event of a party. Returns nil if the event may happen now, or else how long the party has to wait.
    ///
    /// An `urgent` event may use twice the burst, so it still gets through if ordinary events have used up theirs. The
    /// rate comes with each call, so a reload can change it. A change gives no party a new burst, and no party waits
    /// longer than the new rate makes it wait.
    package func take(_ party: Party, at rate: Rate, urgent: Bool = false) -> Duration? {
        let now = clock.monotonicTime.nanoseconds
        let wait = part(of: party).take(
            party, now: now, interval: rate.interval, burst: Int64(urgent ? 2 * rate.burst : rate.burst),
            debtMaximum: 2 * Int64(rate.burst) * rate.interval)
        return wait.map { .nanoseconds($0) }
    }

    /// How long a party has to wait for its next event; nil if it need not wait. Counts nothing.
    package func wait(of party: Party, at rate: Rate) -> Duration? {
        let now = clock.monotonicTime.nanoseconds
        return part(of: party).wait(party, now: now, interval: rate.interval, burst: Int64(rate.burst))
            .map { .nanoseconds($0) }
    }

    private func part(of party: Party) -> Part { parts[Int(UInt(bitPattern: party.hashValue) % UInt(parts.count))] }

    /// How many parties are remembered.
    package var count: Int { parts.reduce(0) { $0 + $1.count } }

    private final class Part: Sendable {
        private struct Generations {
            var younger: [Party: Int64] = [:]
            var older: [Party: Int64] = [:]
        }

        private let halfCapacity: Int
        private let generations = Mutex(Generations())

        init(halfCapacity: Int) {
            self.halfCapacity = halfCapacity
        }

        var count: Int { generations.withLock { $0.younger.count + $0.older.count } }

        /// The nanoseconds to wait, or nil. Limits a debt in the same way as `take`.
        func wait(_ party: Party, now: Int64, interval: Int64, burst: Int64) -> Int64? {
            let fullAt = generations.withLock { $0.younger[party] ?? $0.older[party] } ?? now
            let wait = min(fullAt - now, 2 * burst * interval) - (burst - 1) * interval
            return wait > 0 ? wait : nil
        }

        /// The nanoseconds to wait, or nil.
        func take(_ party: Party, now: Int64, interval: Int64, burst: Int64, debtMaximum: Int64) -> Int64? {
            generations.withLock { generations in
                var fullAt = max(now, generations.younger[party] ?? generations.older[party] ?? now)
                // Such a debt stems from a slower rate, which a reload has replaced.
                if fullAt > now + debtMaximum {
                    fullAt = now + debtMaximum
                    if generations.younger[party] != nil {
                        generations.younger[party] = fullAt
                    } else {
                        generations.older[party] = fullAt
                    }
                }
                let wait = fullAt - now - (burst - 1) * interval
                guard wait <= 0 else { return wait }
                if generations.younger[party] == nil, generations.younger.count >= halfCapacity {
                    generations.older = generations.younger
                    generations.younger = [:]
                }
                generations.younger[party] = fullAt + interval
                return nil
            }
        }
    }
}
