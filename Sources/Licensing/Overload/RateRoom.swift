import Entitlements
import EventLoops
import Telemetry

/// Lets requests of one loop wait that exceed the rate of all requests together. A timer of the loop resumes them, so
/// that nothing is blocked.
///
/// All loops share the token bucket. Each loop has a room of its own.
final class RateRoom {
    @safe
    private struct Guest {
        let rate: Rate
        let continuation: UnsafeContinuation<Bool, Never>
    }

    private let limiter: RateLimiter<Int>
    private let counts: OverloadCounts
    private let clock: any MonotonicClock
    private let loop: LoopContext
    private var room = WaitingRoom<Guest>()
    private var timer: TimerID?

    init(_ limiter: RateLimiter<Int>, _ counts: OverloadCounts, _ clock: any MonotonicClock, on loop: LoopContext) {
        self.limiter = limiter
        self.counts = counts
        self.clock = clock
        self.loop = loop
    }

    /// Waits until the request may go on.
    ///
    /// Returns false if the request has waited as long as it may, or if the room is full. Returns on the same loop.
    func enter(at rate: Rate, isUrgent: Bool, limits: OverloadLimits) async -> Bool {
        // Requests wait in order. Only renewals may overtake other requests.
        if room.isEmpty || isUrgent && !room.isNextUrgent, limiter.take(0, at: rate, urgent: isUrgent) == nil {
            return true
        }
        guard limits.nanoseconds > 0 else {
            counts.noteRefusal()
            return false
        }
        // Resumed exactly once: the code that takes a guest out of the room resumes it, and the timer runs as long as
        // one is in it.
        return unsafe await withUnsafeContinuation { continuation in
            let guest = unsafe Guest(rate: rate, continuation: continuation)
            let deadline = now + limits.nanoseconds
            switch room.enter(guest, isUrgent: isUrgent, deadline: deadline, capacity: limits.waitingMaximum) {
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

    /// Resumes the requests that may go on, and refuses those that have waited too long. Schedules the next call for
    /// when a request may go on or be late.
    private func serve() {
        for guest in room.takeLate(now: now) { refuse(guest) }
        var wait: Duration?
        while let next = room.next {
            wait = limiter.take(0, at: next.rate, urgent: room.isNextUrgent)
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
