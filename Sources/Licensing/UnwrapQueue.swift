import EventLoops
import KeyCrypto
package import Telemetry

/// Collects the RSA unwraps that one loop's requests need, and hands them in groups to the backend, which runs on the
/// thread beside the loop (`LoopContext.compute`). If that thread is idle, a job alone runs on the loop itself.
///
/// The thread has at most two groups, so that it need not wait for the loop between them. Everything else waits here:
/// as long as `OverloadLimits` allows, renewals before all others. The requests of a group go on as soon as it is done.
final class UnwrapQueue: @unchecked Sendable {
    // Safe to send: only its loop uses it. The backend runs on the thread beside the loop, or on the loop while that
    // thread has no group.
    private static let computingMaximum = 2

    @safe
    private struct Waiter {
        let job: RSAUnwrapJob
        let since: MonotonicTime
        let continuation: UnsafeContinuation<Bool, Never>
    }

    /// What the thread computes at once. Safe to send: the continuations are resumed on the loop.
    private struct Group: @unchecked Sendable {
        var waiters: [Waiter] = []
        var jobs: [RSAUnwrapJob] = []
    }

    private let unwrapper: any RSAUnwrapper
    private let counts: OverloadCounts
    private let times: UnwrapTimes
    private let loop: LoopContext
    private var room = WaitingRoom<Waiter>()
    /// How many groups the thread has.
    private var computing = 0
    private var lateTimer: (id: TimerID, deadline: MonotonicTime)?

    init(unwrapper: any RSAUnwrapper, counts: OverloadCounts, times: UnwrapTimes, on loop: LoopContext) {
        self.unwrapper = unwrapper
        self.counts = counts
        self.times = times
        self.loop = loop
        loop.atTurnEnd { [unowned self] turn in run(turn) }
    }

    /// Settles the job and returns true, or returns false if there is too much to do. Returns on the same loop.
    func unwrap(_ job: RSAUnwrapJob, isUrgent: Bool, limits: OverloadLimits) async -> Bool {
        // Resumed exactly once: the code that takes a waiter out of the room resumes it, or hands it to the thread and
        // resumes it after that. `run` is called at the end of every turn in which one waits.
        unsafe await withUnsafeContinuation { continuation in
            let waiter = unsafe Waiter(job: job, since: loop.now, continuation: continuation)
            let deadline = waiter.since + limits.wait
            switch room.enter(
                waiter, isUrgent: isUrgent, deadline: deadline.nanoseconds, capacity: limits.waitingMaximum)
            {
            case .entered: break
            case .enteredFor(let other): refuse(other)
            case .full: refuse(waiter)
            }
            watchDeadlines()
        }
    }

    private func refuse(_ waiter: Waiter) {
        counts.noteRefusal()
        unsafe waiter.continuation.resume(returning: false)
    }

    /// Sets the timer that refuses requests which have waited too long. What the thread can take is not refused.
    private func watchDeadlines() {
        guard let earliest = room.earliestDeadline else { return }
        let deadline = MonotonicTime(nanoseconds: earliest)
        // A reload may have made deadlines shorter.
        if let timer = lateTimer {
            guard deadline < timer.deadline else { return }
            loop.cancel(timer.id)
        }
        let id = loop.schedule(at: deadline) { [unowned self] in
            lateTimer = nil
            while !room.isEmpty, computing < Self.computingMaximum { compute(takeGroup()) }
            for waiter in room.takeLate(now: loop.now.nanoseconds) { refuse(waiter) }
            watchDeadlines()
        }
        lateTimer = (id, deadline)
    }

    private func run(_ turn: TurnEnd) -> TurnEndVerdict {
        while !room.isEmpty, computing < Self.computingMaximum {
            // While the thread is busy, a group fills. For an idle one, a group that is not full waits until a poll
            // brings no more jobs, unless the backend gains nothing from them.
            if room.count < unwrapper.groupSize {
                if computing > 0 { return .done }
                if room.count > unwrapper.loneGroupMaximum, !turn.isQuiet { return .pollAgain }
            }
            compute(takeGroup())
        }
        return .done
    }

    private func compute(_ group: Group) {
        // For a job alone, to wake the thread and the loop again would cost more than it gains.
        if group.jobs.count == 1, computing == 0 { return finish(group, run(group)) }
        computing += 1
        loop.compute { [self] in
            run(group)
        } then: { [self] time in
            computing -= 1
            finish(group, time)
        }
    }

    /// Runs the backend. Returns when it began and ended.
    private func run(_ group: Group) -> Range<MonotonicTime> {
        let start = loop.now
        unwrapper.unwrap(group.jobs)
        return start..<loop.now
    }

    private func finish(_ group: Group, _ time: Range<MonotonicTime>) {
        times.batches.observe(time.upperBound - time.lowerBound)
        for waiter in group.waiters {
            times.waits.observe(time.lowerBound - waiter.since)
            unsafe waiter.continuation.resume(returning: true)
        }
    }

    /// Takes the next waiters with their jobs, in their order, up to the first one for which the batch has no room.
    private func takeGroup() -> Group {
        var group = Group()
        while let next = room.next, group.jobs.isEmpty || unwrapper.hasRoom(for: next.job, after: group.jobs),
            let waiter = room.takeNext()
        {
            group.waiters.append(waiter)
            group.jobs.append(waiter.job)
        }
        return group
    }
}

/// How long RSA unwraps wait and take, on all loops together.
package final class UnwrapTimes: Sendable {
    /// From the moment that an SPC is ready for RSA to the start of its batch.
    package let waits = Histogram(bounds: Histogram.partDurationBounds)
    /// Of a batch of RSA private operations.
    package let batches = Histogram(bounds: Histogram.partDurationBounds)

    package init() {}
}
