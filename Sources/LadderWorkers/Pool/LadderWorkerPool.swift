package import EventLoops
package import FairPlay
import Telemetry

/// The workers of one credential's module, as a ladder that licences can climb.
///
/// Worker processes are started at once, and replaced with back-off when they die, hang past the deadline of a call, or
/// send what is no answer. Each answers one call at a time; short ones may already lie in its stream. A worker that
/// dies loses the call that it had begun, and no other. Calls wait in a bounded queue with a deadline.
///
/// All of it happens on one loop, as a rule one of its own thread beside those that serve requests; callers go on where
/// they were.
package final class LadderWorkerPool: LadderModule {
    /// How the pool stands.
    package let statistics = LadderPoolStatistics()
    private let loop: LoopContext
    private let supervisor: WorkerSupervisor
    private let callers: CallerLoops
    private let submit: @Sendable ([PendingCall]) -> Void
    private let startOutcome = Monitor<Result<Void, LadderStartFailure>?>(nil)

    /// Starts the workers, and tells `observer` on the loop what happens to them. Nothing is awaited: see
    /// `waitUntilStarted`.
    ///
    /// The workers end with the thread of `loop`, so the loop must be one that lives as long as the pool is needed.
    /// `callers` are the loops that serve requests: calls from there cost less than calls from elsewhere.
    package init(
        _ configuration: LadderModuleConfiguration, on loop: LoopContext, for callers: [LoopContext] = [],
        observer: @escaping @Sendable (LadderWorkerEvent) -> Void = { _ in }
    ) {
        precondition(configuration.workerCount > 0, "a pool has a worker")
        self.loop = loop
        let startOutcome = startOutcome
        let callerLoops = CallerLoops(callers)
        let supervisor = WorkerSupervisor(
            configuration, on: loop, for: callerLoops, statistics,
            WorkerSupervisor.Observer(
                event: observer, start: { outcome in startOutcome.update { $0 = $0 ?? outcome } }))
        self.supervisor = supervisor
        self.callers = callerLoops
        submit = { calls in
            if loop.execute({ supervisor.submit(calls) }) { return }
            for call in calls {
                call.end(with: .failure(.unavailable))
                call.resume()
            }
        }
        loop.execute { supervisor.start() }
    }

    /// A pool that was not stopped ends its workers at once.
    deinit {
        let supervisor = supervisor
        loop.execute { supervisor.abort() }
    }

    /// Waits until the first worker is ready; throws when it has shown why it cannot be. Either way the pool keeps
    /// trying.
    ///
    /// Blocks its thread, at most for the configuration's `startDeadline`; so not for loops and tasks.
    package func waitUntilStarted() throws(LadderStartFailure) {
        try startOutcome.wait { $0 }.get()
    }

    package func answer(_ call: LadderCall) async throws(LadderModuleError) -> LadderAnswer {
        try await withCheckedContinuation { continuation in
            callers.hand(PendingCall(call, caller: callers.current, continuation), to: submit)
        }.get()
    }

    /// Takes no new calls, does those that are there within `limit`, and ends the workers. A second call waits for the
    /// same end.
    ///
    /// Blocks its thread; so not for loops and tasks. A worker that does not end by itself within a second is killed.
    package func stop(within limit: Duration) {
        let isStopped = Monitor(false)
        let supervisor = supervisor
        let isAccepted = loop.execute { supervisor.stop(within: limit) { isStopped.update { $0 = true } } }
        if isAccepted { isStopped.wait { $0 ? () : nil } }
    }
}
