package import EventLoops
package import FairPlay
package import KeyCrypto
package import POSIXSockets
import Synchronization
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

/// What one credential's module is, and how its workers are run.
package struct LadderModuleConfiguration: Sendable {
    /// The absolute path of the library, which the workers' user must be able to read: 1 to 4,095 bytes.
    package var libraryPath: String
    /// What the module is opened with: 1 to 1,048,576 bytes.
    package var data: SharedSecret
    /// The number of worker processes. Each answers one call at a time.
    package var workerCount: Int = Processors.count
    /// How long a worker may take for one call before it is ended, counted from the end of the call before.
    package var callDeadline: Duration = .seconds(2)
    /// How much processor time a worker may use, on all of its threads, beyond the time that its answered calls took
    /// and a twentieth of all time: for the call that it has begun, or while it has none. A worker that uses more is
    /// ended.
    package var processorTimeMaximum: Duration = .seconds(2)
    /// How many calls may wait for a worker; one more is refused at once.
    package var queueLengthMaximum = 1024
    /// How long a call may wait for a worker before it is refused.
    package var queueDeadline: Duration = .seconds(3)
    /// How long a worker may take to open the module.
    package var startDeadline: Duration = .seconds(10)
    /// The address space of a worker in bytes, the daemon's own program in it included (some 100 MB of mappings, few of
    /// them used).
    package var memoryMaximum: UInt64 = 1 << 30
    /// The most descriptors that a worker may have open; four are its own.
    package var descriptorMaximum: UInt64 = 64
    /// The user that workers become; only a daemon that runs as root can ask for one. Nil: the daemon's own.
    ///
    /// With a user of their own, workers cannot read the daemon's files either.
    package var user: SystemUser?
    /// The program that runs in the role of a worker: this one, unless a test says otherwise.
    package var programPath = "/proc/self/exe"

    package init(libraryPath: String, data: SharedSecret) {
        self.libraryPath = libraryPath
        self.data = data
    }

    var start: LadderStart {
        LadderStart(
            confinement: ProcessConfinement(
                user: user, memoryMaximum: memoryMaximum, descriptorMaximum: descriptorMaximum),
            libraryPath: libraryPath, moduleData: data)
    }
}

/// What a pool has done and how it stands, for a metrics page; read from any thread.
package final class LadderPoolStatistics: Sendable {
    private let alive = Atomic<Int>(0)
    private let queued = Atomic<Int>(0)
    private let sent = Atomic<Int>(0)
    private let counts = Counts()

    private struct Counts: ~Copyable, Sendable {
        let answers = Atomic<UInt64>(0)
        let refusals = Atomic<UInt64>(0)
        let failures = Atomic<UInt64>(0)
        let losses = Atomic<UInt64>(0)
        let rejections = Atomic<UInt64>(0)
        let deaths = Atomic<UInt64>(0)
        let startFailures = Atomic<UInt64>(0)
    }

    /// Workers that have opened the module and answer calls.
    package var aliveWorkerCount: Int { alive.load(ordering: .relaxed) }
    /// Calls that wait for a worker.
    package var queueLength: Int { queued.load(ordering: .relaxed) }
    /// Calls that lie at a worker: in work, or next.
    package var sentCallCount: Int { sent.load(ordering: .relaxed) }
    /// Calls that were answered.
    package var answerCount: UInt64 { counts.answers.load(ordering: .relaxed) }
    /// Calls whose SK..R1 block the module refused.
    package var refusalCount: UInt64 { counts.refusals.load(ordering: .relaxed) }
    /// Calls that the module could not answer, or answered with something that is no answer.
    package var failureCount: UInt64 { counts.failures.load(ordering: .relaxed) }
    /// Calls that were lost with their worker.
    package var lossCount: UInt64 { counts.losses.load(ordering: .relaxed) }
    /// Calls for which no worker was there in time.
    package var unavailableCount: UInt64 { counts.rejections.load(ordering: .relaxed) }
    /// Workers that ended without having been told to, after they had opened the module.
    package var deathCount: UInt64 { counts.deaths.load(ordering: .relaxed) }
    /// Workers that could not be started, or could not open the module.
    package var startFailureCount: UInt64 { counts.startFailures.load(ordering: .relaxed) }

    func workerBecameReady() { alive.add(1, ordering: .relaxed) }
    func workerIsGone() { alive.subtract(1, ordering: .relaxed) }
    func workerDied() { counts.deaths.add(1, ordering: .relaxed) }
    func startFailed() { counts.startFailures.add(1, ordering: .relaxed) }
    func workersHave(_ difference: Int) { sent.add(difference, ordering: .relaxed) }
    func queueHas(_ length: Int) { queued.store(length, ordering: .relaxed) }

    func callEnded(_ outcome: CallOutcome) {
        switch outcome {
        case .success: counts.answers.add(1, ordering: .relaxed)
        case .failure(.refused): counts.refusals.add(1, ordering: .relaxed)
        case .failure(.failed), .failure(.answerMalformed): counts.failures.add(1, ordering: .relaxed)
        case .failure(.workerLost): counts.losses.add(1, ordering: .relaxed)
        case .failure(.unavailable), .failure(.overloaded): counts.rejections.add(1, ordering: .relaxed)
        }
    }
}

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
