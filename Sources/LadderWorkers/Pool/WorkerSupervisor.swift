import EventLoops
import FairPlay
import POSIXSockets
import Telemetry

/// Keeps the workers of one module running, and gives them calls. It belongs to the pool's loop.
///
/// Safe to send: it is made on one thread before its loop uses it, and afterwards used only on that loop.
final class WorkerSupervisor: @unchecked Sendable {
    /// Receives the events of the pool.
    struct Observer: Sendable {
        let event: @Sendable (LadderWorkerEvent) -> Void
        /// Called when a worker is ready, or when a worker cannot be started for a new reason.
        let start: @Sendable (Result<Void, LadderStartFailure>) -> Void
    }

    private enum Phase {
        case running
        /// New calls are refused, and the existing ones are finished.
        case draining
        case stopped
    }

    /// The place of one worker, which is empty between the end of one process and the start of the next.
    private struct Slot {
        var process: WorkerProcess?
        var restTimer: TimerID?
        var backoff = RestartBackoff()
    }

    /// The time between two checks of the workers' processor time.
    static let accountInterval: Duration = .milliseconds(250)

    let loop: LoopContext
    let configuration: LadderModuleConfiguration
    let statistics: LadderPoolStatistics
    private let observer: Observer
    private let callers: CallerLoops
    /// Calls whose callers are resumed at the end of the turn, by the index of their loop.
    private var endedCalls: [[PendingCall]]
    private var phase = Phase.running
    private var slots: [Slot] = []
    private var queue: CallQueue
    private var queueTimer: TimerID?
    private var drainTimer: TimerID?
    /// The timer of these checks, which runs while there is a ready worker.
    private var accountTimer: TimerID?
    private var isTurnEndPending = false
    private var nextNumber: UInt64 = 1
    private var knownStartFailure: LadderStartFailure?
    private var generator = SystemRandomNumberGenerator()
    private var whenStopped: [() -> Void] = []

    init(
        _ configuration: LadderModuleConfiguration, on loop: LoopContext, for callers: CallerLoops,
        _ statistics: LadderPoolStatistics, _ observer: Observer
    ) {
        self.loop = loop
        self.configuration = configuration
        self.statistics = statistics
        self.observer = observer
        self.callers = callers
        endedCalls = Array(repeating: [], count: callers.count)
        queue = CallQueue(lengthMaximum: configuration.queueLengthMaximum)
    }

    func start() {
        slots = Array(repeating: Slot(), count: configuration.workerCount)
        for index in slots.indices { startWorker(in: index) }
    }

    // MARK: Calls

    func submit(_ calls: [PendingCall]) {
        let deadline = loop.now + configuration.queueDeadline
        for call in calls {
            call.number = nextNumber
            call.queueDeadline = deadline
            nextNumber += 1
            if phase != .running {
                end(call, with: .failure(.unavailable))
            } else if !queue.append(call) {
                end(call, with: .failure(refusalToWait))
            }
        }
        statistics.queueHas(queue.count)
        finishTurnSoon()
    }

    /// Sets the outcome of a call, unless it has one.
    func end(_ call: PendingCall, with outcome: CallOutcome) {
        guard !call.isOver else { return }
        call.end(with: outcome)
        // The statistics change before the caller can read them.
        statistics.callEnded(outcome)
        guard let caller = call.caller else { return call.resume() }
        endedCalls[caller].append(call)
        finishTurnSoon()
    }

    private func resumeCallers() {
        for caller in endedCalls.indices where !endedCalls[caller].isEmpty {
            callers.resume(endedCalls[caller], on: caller)
            endedCalls[caller] = []
        }
    }

    func hasRoom() {
        finishTurnSoon()
        finishIfDrained()
    }

    /// Puts a call back into the queue, because it waits behind a slow one.
    func putBack(_ call: PendingCall) {
        queue.putBack(call)
        statistics.queueHas(queue.count)
        finishTurnSoon()
    }

    /// Removes such a call from the queue, because its worker answers again. Returns false if another worker has it.
    func takeBack(_ call: PendingCall) -> Bool {
        queue.remove(call)
    }

    /// Schedules the end of this turn, at which calls are sent to workers and callers are resumed, each in one batch.
    private func finishTurnSoon() {
        guard !isTurnEndPending else { return }
        isTurnEndPending = loop.execute { [self] in
            isTurnEndPending = false
            dispatch()
            resumeCallers()
        }
    }

    /// Gives calls to workers while there are calls and room, always to the worker with the fewest calls. Then sends
    /// them.
    private func dispatch() {
        while let process = roomiestProcess(), let call = queue.popFirst(alsoSuspects: process.isIdle) {
            process.add(call)
        }
        for slot in slots { slot.process?.sendCalls() }
        statistics.queueHas(queue.count)
        watchQueue()
        finishIfDrained()
    }

    private func roomiestProcess() -> WorkerProcess? {
        var best: WorkerProcess?
        var bestLoad = Int.max
        for slot in slots {
            guard let process = slot.process, let load = process.load, load < bestLoad else { continue }
            (best, bestLoad) = (process, load)
            if load == 0 { break }
        }
        return best
    }

    private func watchQueue() {
        guard queueTimer == nil, let first = queue.first else { return }
        queueTimer = loop.schedule(at: first.queueDeadline) { [weak self] in self?.refuseExpired() }
    }

    /// The error for a call that cannot wait, or has waited too long.
    private var refusalToWait: LadderModuleError {
        statistics.aliveWorkerCount > 0 ? .overloaded : .unavailable
    }

    private func refuseExpired() {
        queueTimer = nil
        let now = loop.now
        while let call = queue.popExpired(at: now) { end(call, with: .failure(refusalToWait)) }
        statistics.queueHas(queue.count)
        watchQueue()
        finishIfDrained()
    }

    // MARK: Workers

    private func startWorker(in index: Int) {
        slots[index].restTimer = nil
        do throws(LadderStartFailure) {
            let process = try WorkerProcess(slot: index, of: self)
            slots[index].process = process
            try process.begin()
        } catch {
            slots[index].process = nil
            startFailed(error)
            rest(index, afterLife: nil)
        }
    }

    private func rest(_ index: Int, afterLife life: Duration?) {
        let delay = slots[index].backoff.delay(afterLife: life, using: &generator)
        slots[index].restTimer = loop.schedule(after: delay) { [weak self] in self?.startWorker(in: index) }
    }

    func isReady(_ process: WorkerProcess) {
        knownStartFailure = nil
        statistics.workerBecameReady()
        observer.event(.ready(processID: process.processID))
        observer.start(.success(()))
        watchProcessorTime()
        finishTurnSoon()
    }

    private func watchProcessorTime() {
        guard accountTimer == nil else { return }
        accountTimer = loop.schedule(after: Self.accountInterval) { [weak self] in self?.lookAtProcessorTime() }
    }

    private func lookAtProcessorTime() {
        accountTimer = nil
        for slot in slots { slot.process?.lookAtProcessorTime() }
        if statistics.aliveWorkerCount > 0 { watchProcessorTime() }
    }

    /// Handles the loss of a worker: `lost` calls fail, and `returned` calls go back to the queue.
    func hasLost(_ process: WorkerProcess, _ lost: [PendingCall], _ returned: [PendingCall]) {
        for call in lost { end(call, with: .failure(process.end.callError)) }
        for call in returned {
            if phase == .stopped { end(call, with: .failure(.unavailable)) } else { queue.putBack(call) }
        }
        statistics.queueHas(queue.count)
        finishTurnSoon()
        finishIfDrained()
    }

    func hasEnded(_ process: WorkerProcess, _ programEnd: ProgramEnd) {
        slots[process.slot].process = nil
        report(process, programEnd)
        guard phase != .stopped else { return tellIfStopped() }
        rest(process.slot, afterLife: process.readySince.map { loop.now - $0 })
    }

    private func report(_ process: WorkerProcess, _ programEnd: ProgramEnd) {
        guard process.end != .finished else { return }
        guard process.readySince != nil else {
            return startFailed(process.end.startFailure ?? .workerEnded(programEnd))
        }
        statistics.workerDied()
        observer.event(
            .ended(
                processID: process.processID, process.end.loss, programEnd, lostCall: process.hasLostCall))
    }

    private func startFailed(_ failure: LadderStartFailure) {
        statistics.startFailed()
        guard knownStartFailure != failure else { return }
        knownStartFailure = failure
        observer.event(.startFailed(failure))
        observer.start(.failure(failure))
    }

    // MARK: Stopping

    /// Refuses new calls, lets the existing ones finish within `limit`, ends the workers, and calls `done`.
    func stop(within limit: Duration, _ done: @escaping () -> Void) {
        whenStopped.append(done)
        guard phase == .running else { return tellIfStopped() }
        phase = .draining
        drainTimer = loop.schedule(after: limit) { [weak self] in self?.endWorkers() }
        finishIfDrained()
    }

    private func finishIfDrained() {
        guard phase == .draining, queue.isEmpty, slots.allSatisfy({ $0.process?.isIdle ?? true }) else { return }
        endWorkers()
    }

    private func endWorkers() {
        guard phase == .draining else { return }
        phase = .stopped
        refuseWaiting()
        for index in slots.indices {
            if let timer = slots[index].restTimer { loop.cancel(timer) }
            slots[index].restTimer = nil
            slots[index].process?.finish()
        }
        tellIfStopped()
    }

    /// Ends everything immediately, because the loop stops or the pool is released.
    func abort() {
        phase = .stopped
        refuseWaiting()
        for index in slots.indices {
            if let timer = slots[index].restTimer { loop.cancel(timer) }
            slots[index].process?.abort()
            slots[index] = Slot()
        }
        resumeCallers()
        tellIfStopped()
    }

    private func refuseWaiting() {
        for timer in [queueTimer, drainTimer, accountTimer] {
            if let timer { loop.cancel(timer) }
        }
        (queueTimer, drainTimer, accountTimer) = (nil, nil, nil)
        while let call = queue.popFirst() { end(call, with: .failure(.unavailable)) }
        statistics.queueHas(0)
    }

    private func tellIfStopped() {
        guard phase == .stopped, slots.allSatisfy({ $0.process == nil }) else { return }
        let done = whenStopped
        whenStopped = []
        for body in done { body() }
    }
}

extension WorkerEnd {
    /// The error for the caller of the call that the worker had begun.
    fileprivate var callError: LadderModuleError {
        switch self {
        case .misbehaved(.streamClosed), .died, .hung, .overspent, .startFailed: .workerLost
        case .misbehaved: .answerMalformed
        case .finished: .unavailable
        }
    }

    fileprivate var startFailure: LadderStartFailure? {
        switch self {
        case .startFailed(let failure): failure
        case .misbehaved(let error): .frameMalformed(error)
        case .died, .hung, .overspent, .finished: nil
        }
    }

    fileprivate var loss: LadderWorkerLoss {
        switch self {
        case .hung: .hung
        case .overspent: .overspent
        case .misbehaved(let error): .misbehaved(error)
        case .died, .finished, .startFailed: .died
        }
    }
}
