package import Entitlements
package import EventLoops
package import Telemetry

/// The rate of all licences together. Who comes beyond it waits for a turn, on a timer of the loop, and blocks nobody.
///
/// The bucket is one for all loops, the waiting room one for each: so nothing but the bucket is shared.
package final class OverallRate: Sendable {
    private let limiter: RateLimiter<Int>?
    private let rooms: LoopLocal<RateRoom>
    package let counts: OverloadCounts

    /// Nil is as often as one likes.
    package init(
        _ rate: Rate?, limits: OverloadLimits = OverloadLimits(), counts: OverloadCounts = OverloadCounts(),
        clock: any MonotonicClock = SystemMonotonicClock()
    ) {
        let limiter = rate.map { RateLimiter<Int>($0, capacity: 32, clock: clock) }
        self.limiter = limiter
        self.counts = counts
        rooms = LoopLocal { loop in RateRoom(limiter, limits, counts, clock, on: loop) }
    }

    /// Returns on the same loop: true when the request may go on, false when it has waited as long as it may, or cannot wait.
    package func enter(isRenewal: Bool, on loop: LoopContext) async -> Bool {
        guard limiter != nil else { return true }
        return await loop.value(of: rooms).enter(isUrgent: isRenewal)
    }
}

/// The waiting room of one loop. Belongs to that loop.
private final class RateRoom {
    @safe
    private struct Guest {
        let isUrgent: Bool
        let continuation: UnsafeContinuation<Bool, Never>
    }

    private let limiter: RateLimiter<Int>?
    private let limits: OverloadLimits
    private let counts: OverloadCounts
    private let clock: any MonotonicClock
    private let loop: LoopContext
    private var room: WaitingRoom<Guest>
    private var timer: TimerID?

    init(
        _ limiter: RateLimiter<Int>?, _ limits: OverloadLimits, _ counts: OverloadCounts, _ clock: any MonotonicClock,
        on loop: LoopContext
    ) {
        self.limiter = limiter
        self.limits = limits
        self.counts = counts
        self.clock = clock
        self.loop = loop
        room = WaitingRoom(capacity: limits.waitingMaximum)
    }

    func enter(isUrgent: Bool) async -> Bool {
        // Nobody overtakes who waits, but a renewal all that are none.
        if room.isEmpty || isUrgent && !room.isNextUrgent, limiter?.take(0, urgent: isUrgent) == nil { return true }
        guard limits.nanoseconds > 0 else {
            counts.noteRefusal()
            return false
        }
        // Resumed exactly once: whoever takes a guest out of the room resumes it, and the timer runs as long as one is in it.
        return unsafe await withUnsafeContinuation { continuation in
            let guest = unsafe Guest(isUrgent: isUrgent, continuation: continuation)
            let deadline = now + limits.nanoseconds
            switch room.enter(guest, isUrgent: isUrgent, deadline: deadline) {
            case .entered: counts.began()
            case .enteredFor(let other):
                counts.began()
                refuse(other)
            case .full:
                counts.noteRefusal()
                unsafe continuation.resume(returning: false)
            }
            schedule(in: .milliseconds(1))
        }
    }

    private func refuse(_ guest: Guest) {
        counts.ended()
        counts.noteRefusal()
        unsafe guest.continuation.resume(returning: false)
    }

    private func schedule(in delay: Duration) {
        guard timer == nil, !room.isEmpty else { return }
        timer = loop.schedule(after: delay) { [unowned self] in
            timer = nil
            serve()
        }
    }

    /// Lets in who may go on, sends away who has waited too long, and looks again when the first of either can be.
    private func serve() {
        for guest in room.takeLate(now: now) { refuse(guest) }
        var wait: Duration?
        while !room.isEmpty {
            wait = limiter?.take(0, urgent: room.isNextUrgent)
            guard wait == nil, let guest = room.takeNext() else { break }
            counts.ended()
            unsafe guest.continuation.resume(returning: true)
        }
        guard let deadline = room.earliestDeadline else { return }
        let untilDeadline = Duration.nanoseconds(max(0, deadline - now))
        schedule(in: max(.milliseconds(1), min(wait ?? .zero, untilDeadline)))
    }

    private var now: Int64 { clock.monotonicTime.nanoseconds }
}
