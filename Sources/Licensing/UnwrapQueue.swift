import EventLoops
import KeyCrypto

/// Collects the RSA unwraps that one loop's requests ask for within a turn, and hands them to the backend in groups at the turn's end.
///
/// Belongs to its loop. A group is run per turn end, and its requests are resumed before the next one, so that answers leave while later
/// groups still wait.
final class UnwrapQueue {
    @safe
    private struct Waiter {
        let job: RSAUnwrapJob
        let continuation: UnsafeContinuation<Void, Never>
    }

    private let unwrapper: any RSAUnwrapper
    private var waiters: [Waiter] = []

    init(unwrapper: any RSAUnwrapper, on loop: LoopContext) {
        self.unwrapper = unwrapper
        loop.atTurnEnd { [unowned self] turn in run(turn) }
    }

    /// Settles the job; returns on the same loop.
    func unwrap(_ job: RSAUnwrapJob) async {
        // Resumed exactly once: `run` removes a waiter as it resumes it, and runs at the end of every turn in which one waits.
        unsafe await withUnsafeContinuation { continuation in
            unsafe waiters.append(Waiter(job: job, continuation: continuation))
        }
    }

    private func run(_ turn: TurnEnd) -> TurnEndVerdict {
        guard !waiters.isEmpty else { return .done }
        let size = unwrapper.groupSize
        // A group that is not full waits for company until a poll has brought none; a backend without lanes has nothing to wait for.
        if waiters.count < size, waiters.count > unwrapper.loneGroupMaximum, !turn.isQuiet { return .pollAgain }
        let group = Array(waiters.prefix(size))
        waiters.removeFirst(group.count)
        unwrapper.unwrap(group.map(\.job))
        for waiter in group { unsafe waiter.continuation.resume() }
        return waiters.isEmpty ? .done : .workLeft
    }
}
