import EventLoops
import KeyCrypto
package import Telemetry

/// Collects the RSA unwraps that one loop's requests need within a turn, and hands them to the backend in groups at the
/// turn's end.
///
/// Belongs to its loop. Each turn end runs one group, and resumes its requests before the next group. So answers leave
/// while later groups still wait. If the processor cannot keep up, requests wait here as long as `OverloadLimits`
/// allows, renewals before all others.
final class UnwrapQueue {
    @safe
    private struct Waiter {
        let job: RSAUnwrapJob
        let since: MonotonicTime
        let continuation: UnsafeContinuation<Bool, Never>
    }

    private let unwrapper: any RSAUnwrapper
    private let counts: OverloadCounts
    private let times: UnwrapTimes
    private let loop: LoopContext
    private var room = WaitingRoom<Waiter>()

    init(unwrapper: any RSAUnwrapper, counts: OverloadCounts, times: UnwrapTimes, on loop: LoopContext) {
        self.unwrapper = unwrapper
        self.counts = counts
        self.times = times
        self.loop = loop
        loop.atTurnEnd { [unowned self] turn in run(turn) }
    }

    /// Settles the job and returns true, or returns false if there is too much to do. Returns on the same loop.
    func unwrap(_ job: RSAUnwrapJob, isUrgent: Bool, limits: OverloadLimits) async -> Bool {
        // Resumed exactly once: the code that takes a waiter out of the room resumes it, and `run` is called at the end
        // of every turn in which one waits.
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
        }
    }

    private func refuse(_ waiter: Waiter) {
        counts.noteRefusal()
        unsafe waiter.continuation.resume(returning: false)
    }

    private func run(_ turn: TurnEnd) -> TurnEndVerdict {
        guard !room.isEmpty else { return .done }
        let size = unwrapper.groupSize
        // A group that is not full waits for more jobs until a poll brings no more. For a backend that gains nothing
        // from more jobs, it does not wait.
        if room.count < size, room.count > unwrapper.loneGroupMaximum, !turn.isQuiet { return .pollAgain }
        // Only if more jobs wait than one group takes can a job have waited too long.
        if room.count > size {
            for waiter in room.takeLate(now: loop.now.nanoseconds) { refuse(waiter) }
        }
        let (group, jobs) = takeGroup()
        let start = loop.now
        unwrapper.unwrap(jobs)
        times.batches.observe(loop.now - start)
        for waiter in group { times.waits.observe(start - waiter.since) }
        for waiter in group { unsafe waiter.continuation.resume(returning: true) }
        return room.isEmpty ? .done : .workLeft
    }

    /// Takes the next waiters with their jobs, in their order, up to the first one for which the batch has no room.
    private func takeGroup() -> (waiters: [Waiter], jobs: [RSAUnwrapJob]) {
        var (waiters, jobs): ([Waiter], [RSAUnwrapJob]) = ([], [])
        while let next = room.next, jobs.isEmpty || unwrapper.hasRoom(for: next.job, after: jobs),
            let waiter = room.takeNext()
        {
            waiters.append(waiter)
            jobs.append(waiter.job)
        }
        return (waiters, jobs)
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
