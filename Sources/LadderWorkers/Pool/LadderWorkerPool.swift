package import EventLoops
package import FairPlay
package import KeyCrypto
package import POSIXSockets
import Synchronization
import Telemetry

/// The worker processes of one credential's module, or of the library of one or several credentials.
///
/// All workers are started immediately. A worker that dies, hangs beyond the deadline of a call, or sends an invalid
/// message is replaced, with a back-off. Each worker answers one call at a time; short calls may be sent ahead. If a
/// worker dies, only the call that it had begun is lost. Calls wait in a bounded queue with a deadline.
///
/// The pool runs on one loop, usually one that does not serve requests. Callers continue on their own executors.
package final class LadderWorkerPool: LadderModule, LicenseLibrary {
    /// The statistics of the pool.
    package let statistics = LadderPoolStatistics()
    private let loop: LoopContext
    private let supervisor: WorkerSupervisor
    private let callers: CallerLoops
    private let submit: @Sendable ([PendingCall]) -> Void
    private let startOutcome = Monitor<Result<Void, LadderStartFailure>?>(nil)

    /// Starts the workers, and reports their events to `observer` on the loop. It does not wait for the workers: see
    /// `waitUntilStarted`.
    ///
    /// The workers end with the thread of `loop`, so the loop must run as long as the pool is needed. `callers` are the
    /// loops that serve requests: calls from there cost less than other calls.
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

    /// Ends the workers immediately if the pool was not stopped.
    deinit {
        let supervisor = supervisor
        loop.execute { supervisor.abort() }
    }

    /// Waits until the first worker is ready. Throws the reason if a worker could not be made ready; the pool then
    /// tries again.
    ///
    /// It blocks its thread, at most for the configuration's `startDeadline`, so it must not be called on loops and in
    /// tasks.
    package func waitUntilStarted() throws(LadderStartFailure) {
        try startOutcome.wait { $0 }.get()
    }

    package func answer(_ call: LadderCall) async throws(LadderModuleError) -> LadderAnswer {
        guard case .module(let answer) = try await outcome(of: .module(call)) else { throw .answerMalformed }
        return answer
    }

    package func answer(_ order: LibraryOrder) async throws(LadderModuleError) -> LibraryAnswer {
        guard case .library(let answer) = try await outcome(of: .library(order)),
            (answer.ckc == nil) == (order.license == nil)
        else { throw .answerMalformed }
        return answer
    }

    private func outcome(of call: WorkerCall) async throws(LadderModuleError) -> WorkerAnswer {
        try await withCheckedContinuation { continuation in
            callers.hand(PendingCall(call, caller: callers.current, continuation), to: submit)
        }.get()
    }

    /// Refuses new calls, lets waiting and running calls finish within `limit`, then ends the workers. A second call of
    /// this method waits for the same end.
    ///
    /// It blocks its thread, so it must not be called on loops and in tasks. A worker that does not end by itself
    /// within a second is killed.
    package func stop(within limit: Duration) {
        let isStopped = Monitor(false)
        let supervisor = supervisor
        let isAccepted = loop.execute { supervisor.stop(within: limit) { isStopped.update { $0 = true } } }
        if isAccepted { isStopped.wait { $0 ? () : nil } }
    }
}

/// The files of a library's credentials, which its workers keep in memory.
package struct LibraryFiles: Sendable {
    /// A file that the library finds under the number of its descriptor, in the folder of all descriptors.
    package struct File: Sendable {
        /// 16 to 271.
        package let descriptor: Int
        /// 1 to 1,048,576 bytes.
        package let contents: SharedSecret

        package init(descriptor: Int, contents: SharedSecret) {
            self.descriptor = descriptor
            self.contents = contents
        }
    }

    /// The first one is the file of certificates, which names the others by their numbers.
    package var files: [File]
    /// SPCs that the library must know the certificate of. A worker is ready only then.
    package var probes: [[UInt8]]

    package init(files: [File], probes: [[UInt8]]) {
        self.files = files
        self.probes = probes
    }
}

/// A module or library, and the limits of its workers.
package struct LadderModuleConfiguration: Sendable {
    /// What the library is.
    package enum Kind: Sendable {
        /// A module of the interface `latchkey_ladder.h`, with the data that opens it: 1 to 1,048,576 bytes.
        case module(data: SharedSecret)
        /// A library of Apple's SDK.
        case library(LibraryFiles)
    }

    /// The absolute path of the library, 1 to 4,095 bytes. The workers' user must be able to read the library.
    package var libraryPath: String
    package var kind: Kind
    /// The number of worker processes. Each answers one call at a time.
    package var workerCount: Int = Processors.count
    /// How long a worker may take for one call before it is ended, counted from the end of the previous call.
    package var callDeadline: Duration = .seconds(2)
    /// The processor time that a worker may use in advance, on all of its threads (`ProcessorAccount`). A worker that
    /// uses more is ended.
    ///
    /// The time of answered calls, and a twentieth of all time, do not count against it.
    package var processorTimeMaximum: Duration = .seconds(2)
    /// The most calls that wait for a worker. Further calls are refused immediately.
    package var queueLengthMaximum = 1024
    /// How long a call may wait for a worker before it is refused.
    package var queueDeadline: Duration = .seconds(3)
    /// How long a worker may take to open the module.
    package var startDeadline: Duration = .seconds(10)
    /// The most bytes of a worker's address space, including the daemon's program (some 100 MB of mappings, of which
    /// few are used).
    package var memoryMaximum: UInt64 = 1 << 30
    /// The most descriptors that a worker may have open. The worker itself needs four.
    package var descriptorMaximum: UInt64 = 64
    /// The user that workers become. Nil means the daemon's user. Only a daemon that runs as root can set another one.
    ///
    /// With their own user, workers cannot read the daemon's files.
    package var user: SystemUser?
    /// The program that runs as a worker: this program, except in tests.
    package var programPath = "/proc/self/exe"
    /// Where the error output of the workers goes. Nil means nowhere, because a library may write whole requests there,
    /// with content keys.
    package var errorOutput: ErrorOutput?

    package init(libraryPath: String, kind: Kind) {
        self.libraryPath = libraryPath
        self.kind = kind
    }

    /// Returns the first message to a worker. Throws `notExpressible`.
    func startMessage() throws(LadderFrameError) -> LadderMessage {
        var confinement = ProcessConfinement(
            user: user, memoryMaximum: memoryMaximum, descriptorMaximum: descriptorMaximum)
        switch kind {
        case .module(let data):
            return try LadderStart(confinement: confinement, libraryPath: libraryPath, moduleData: data).message()
        case .library(let files):
            // The limit is for numbers, and the files have theirs in a row.
            confinement.descriptorMaximum += UInt64(LibraryStart.descriptors.lowerBound + files.files.count)
            return try LibraryStart(confinement: confinement, libraryPath: libraryPath, files: files).message()
        }
    }

    /// The kinds of messages that a worker may send.
    var answerKinds: [LadderFrameKind] {
        switch kind {
        case .module: [.ready, .startFailure, .answer, .callFailure]
        case .library: [.ready, .startFailure, .written, .callFailure]
        }
    }

    /// The size of the largest call in bytes.
    var callSizeMaximum: Int {
        switch kind {
        case .module: LadderCall.encodedSizes.upperBound
        case .library: LibraryOrder.encodedSizes.upperBound
        }
    }
}

/// The statistics of a pool for the metrics. Any thread may read them.
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

    /// The number of workers that have opened the module and answer calls.
    package var aliveWorkerCount: Int { alive.load(ordering: .relaxed) }
    /// The number of calls that wait for a worker.
    package var queueLength: Int { queued.load(ordering: .relaxed) }
    /// The number of calls that were sent to a worker and not answered yet.
    package var sentCallCount: Int { sent.load(ordering: .relaxed) }
    /// The number of answered calls.
    package var answerCount: UInt64 { counts.answers.load(ordering: .relaxed) }
    /// The number of calls whose SK..R1 block the module refused.
    package var refusalCount: UInt64 { counts.refusals.load(ordering: .relaxed) }
    /// The number of calls that the module could not answer, or for which its answer was invalid.
    package var failureCount: UInt64 { counts.failures.load(ordering: .relaxed) }
    /// The number of calls that were lost with their worker.
    package var lossCount: UInt64 { counts.losses.load(ordering: .relaxed) }
    /// The number of calls that were refused because no worker was free in time.
    package var unavailableCount: UInt64 { counts.rejections.load(ordering: .relaxed) }
    /// The number of ready workers that ended although the pool did not tell them to.
    package var deathCount: UInt64 { counts.deaths.load(ordering: .relaxed) }
    /// The number of workers that could not be started, or could not open the module.
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
        case .failure(.refused), .failure(.deviceRefused): counts.refusals.add(1, ordering: .relaxed)
        case .failure(.failed), .failure(.answerMalformed): counts.failures.add(1, ordering: .relaxed)
        case .failure(.workerLost): counts.losses.add(1, ordering: .relaxed)
        case .failure(.unavailable), .failure(.overloaded): counts.rejections.add(1, ordering: .relaxed)
        }
    }
}

/// The loops on which a pool's callers run. Calls and outcomes are passed between them and the pool's loop in batches,
/// once per turn.
///
/// If a loop were woken for each single call, waking and sleeping would cost several times as much as the call.
final class CallerLoops: Sendable {
    /// The calls that one loop passes on at the end of its turn.
    private final class Outbox {
        var calls: [PendingCall] = []
    }

    private let loops: [LoopContext]
    private let outboxes = LoopLocal { _ in Outbox() }

    init(_ loops: [LoopContext]) {
        self.loops = loops
    }

    var count: Int { loops.count }

    /// The index of the loop that the calling thread runs; nil for other threads.
    var current: Int? { loops.firstIndex(where: \.isCurrent) }

    /// Takes a call on the thread of its caller. `submit` passes calls to the pool's loop.
    func hand(_ call: PendingCall, to submit: @escaping @Sendable ([PendingCall]) -> Void) {
        guard let caller = call.caller else { return submit([call]) }
        let loop = loops[caller]
        let outbox = loop.value(of: outboxes)
        outbox.calls.append(call)
        guard outbox.calls.count == 1 else { return }
        // The closure runs after the work that is queued already, which may make calls too. A loop always accepts work
        // from its own thread.
        loop.execute { [outboxes] in
            let outbox = loop.value(of: outboxes)
            let calls = outbox.calls
            outbox.calls = []
            submit(calls)
        }
    }

    /// Resumes the callers of calls with an outcome, on their loop. If that loop has stopped, resumes them on the
    /// calling thread.
    func resume(_ calls: [PendingCall], on caller: Int) {
        let isAccepted = loops[caller].execute {
            for call in calls { call.resume() }
        }
        if isAccepted { return }
        for call in calls { call.resume() }
    }
}
