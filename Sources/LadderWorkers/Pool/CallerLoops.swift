import EventLoops

/// The loops on which a pool's callers run: what goes between them and the pool's loop goes together, once per turn.
///
/// A loop that is woken for a single call takes it and sleeps again, and waking and sleeping cost several times what
/// the call does.
final class CallerLoops: Sendable {
    /// What one loop has to hand over at the end of its turn.
    private final class Outbox {
        var calls: [PendingCall] = []
    }

    private let loops: [LoopContext]
    private let outboxes = LoopLocal { _ in Outbox() }

    init(_ loops: [LoopContext]) {
        self.loops = loops
    }

    var count: Int { loops.count }

    /// Which of the loops the calling thread is; nil for every other thread.
    var current: Int? { loops.firstIndex(where: \.isCurrent) }

    /// Takes a call from the thread that makes it; `submit` takes calls to the pool's loop.
    func hand(_ call: PendingCall, to submit: @escaping @Sendable ([PendingCall]) -> Void) {
        guard let caller = call.caller else { return submit([call]) }
        let loop = loops[caller]
        let outbox = loop.value(of: outboxes)
        outbox.calls.append(call)
        guard outbox.calls.count == 1 else { return }
        // Behind what is queued already, which may make calls too. On its own thread a loop takes everything.
        loop.execute { [outboxes] in
            let outbox = loop.value(of: outboxes)
            let calls = outbox.calls
            outbox.calls = []
            submit(calls)
        }
    }

    /// Resumes the callers of calls that have their outcome, on their loop; if that has stopped, where this is called.
    func resume(_ calls: [PendingCall], on caller: Int) {
        let isAccepted = loops[caller].execute {
            for call in calls { call.resume() }
        }
        if isAccepted { return }
        for call in calls { call.resume() }
    }
}
