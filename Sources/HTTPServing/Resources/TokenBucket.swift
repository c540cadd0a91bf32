import Telemetry

/// A token bucket: it allows a burst of events, and a steady rate of events per second.
struct TokenBucket: Equatable, Sendable {
    private let burst: Int
    private let rate: Int
    private var tokens: Int
    private var refilledAt: MonotonicTime

    /// Makes a full bucket. `rate` is per second; with 0, only `give` refills the bucket.
    init(burst: Int, rate: Int, now: MonotonicTime) {
        self.burst = burst
        self.rate = rate
        tokens = burst
        refilledAt = now
    }

    /// Takes a token. Returns `false` if the bucket is empty.
    mutating func take(now: MonotonicTime) -> Bool {
        take(1, now: now)
    }

    /// Takes `count` tokens. If there are fewer, takes none and returns `false`.
    mutating func take(_ count: Int, now: MonotonicTime) -> Bool {
        refill(now)
        guard tokens >= count else { return false }
        tokens -= count
        return true
    }

    /// Puts tokens back, up to the burst.
    mutating func give(_ count: Int) {
        tokens = min(burst, tokens + count)
    }

    private mutating func refill(_ now: MonotonicTime) {
        guard rate > 0, tokens < burst else {
            refilledAt = now
            return
        }
        let nanosecondsPerToken = max(1, 1_000_000_000 / Int64(rate))
        let count = (now.nanoseconds - refilledAt.nanoseconds) / nanosecondsPerToken
        guard count > 0 else { return }
        if count >= Int64(burst - tokens) {
            tokens = burst
            refilledAt = now
        } else {
            tokens += Int(count)
            refilledAt = refilledAt + .nanoseconds(count * nanosecondsPerToken)
        }
    }
}
