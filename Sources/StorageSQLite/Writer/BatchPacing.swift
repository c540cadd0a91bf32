import Telemetry

/// Decides for how many requests the writer waits before it commits a batch, and for how long.
///
/// A commit costs the processor nearly the same for one request as for twenty: a sync of the disk, pages, and turns of
/// two threads. So under load the writer waits for as many requests as the last batch had, but not longer than
/// `spacing` after that batch began. A larger batch raises the number, and one that came too late lowers it. With few
/// requests at a time nothing waits, so a request alone is as fast as ever.
///
/// From time to time a batch is a probe: it waits for some more. If they come in time, the next batch is a probe too.
/// If not, twice as many batches go by before the next one. So clients that all wait for this writer are hardly ever
/// waited for.
struct BatchPacing: Sendable {
    /// From so many requests on, waiting for more gains little.
    static let targetMaximum = 32
    /// With fewer requests in a batch, the next one waits for none.
    static let targetMinimum = 3
    /// The most batches from one probe to the next.
    static let probeDistanceMaximum = 64

    /// The longest time from the beginning of one batch to that of the next, if the next one waits for requests.
    let spacing: Duration
    /// How many requests the next batch waits for.
    private(set) var target = 1
    /// The end of the wait; nil before the first batch.
    private var deadline: MonotonicTime?
    private var isProbe = false
    private var probeDistance = 1
    private var batchesBeforeProbe = 1

    init(spacing: Duration = .milliseconds(2)) {
        self.spacing = spacing
    }

    /// Until when a batch waits for more requests, with `count` of them; nil if it begins now.
    func wait(with count: Int, at now: MonotonicTime) -> MonotonicTime? {
        guard count < target, let deadline, now < deadline else { return nil }
        return deadline
    }

    /// Notes that a batch of `count` requests begins.
    mutating func begin(_ count: Int, at now: MonotonicTime) {
        deadline = now + spacing
        if isProbe {
            probeDistance = count < target ? min(2 * probeDistance, Self.probeDistanceMaximum) : 1
            batchesBeforeProbe = probeDistance
        }
        batchesBeforeProbe -= 1
        isProbe = batchesBeforeProbe <= 0 && count >= Self.targetMinimum
        let wish = isProbe ? count + max(1, count / 4) : count
        target = count < Self.targetMinimum ? 1 : min(wish, Self.targetMaximum)
    }
}
