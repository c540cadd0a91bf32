import Synchronization

/// How long requests may wait in an overload, and how many of them.
///
/// An immediate refusal stops playback: hls.js gives up on 429, and answers 503 with eight more requests (clients,
/// section 0, fact 8).
package struct OverloadLimits: Equatable, Sendable {
    /// How long a request waits before it is refused.
    package var wait: Duration
    /// How many requests of one loop may wait; at least 1.
    package var waitingMaximum: Int

    package init(wait: Duration = .seconds(3), waitingMaximum: Int = 4096) {
        self.wait = wait
        self.waitingMaximum = waitingMaximum
    }

    var nanoseconds: Int64 { Int64(wait / .nanoseconds(1)) }
}

/// How many requests wait now, have had to wait, and were refused.
package final class OverloadCounts: Sendable {
    private let waitingCount = Atomic<Int>(0)
    private let waitedCount = Atomic<UInt64>(0)
    private let refusedCount = Atomic<UInt64>(0)

    package init() {}

    package var waiting: Int { waitingCount.load(ordering: .relaxed) }
    package var waited: UInt64 { waitedCount.load(ordering: .relaxed) }
    package var refused: UInt64 { refusedCount.load(ordering: .relaxed) }

    func began() {
        waitingCount.add(1, ordering: .relaxed)
        waitedCount.add(1, ordering: .relaxed)
    }

    func ended() { waitingCount.subtract(1, ordering: .relaxed) }

    func noteRefusal() { refusedCount.add(1, ordering: .relaxed) }
}
