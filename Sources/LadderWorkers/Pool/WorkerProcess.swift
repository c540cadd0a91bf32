import ByteCoding
import EventLoops
import FairPlay
import POSIXSockets
import Telemetry

/// One worker process, from its start to its end: its stream, its calls and its deadlines. It belongs to the pool's
/// loop.
final class WorkerProcess: LoopChannel {
    private enum Phase {
        /// The module is not open yet.
        case starting
        case ready
        /// The stream has ended. It is not known yet whether the process has ended too.
        case closing
        /// The process has no calls any more, and only its end is awaited.
        case ending
    }

    /// How long a process may outlive its stream before it is killed.
    private static let closingLimit: Duration = .milliseconds(20)
    /// The pause before the next try to wait for an ended process that cannot be waited for yet.
    private static let reapPause: Duration = .milliseconds(10)
    /// How long a worker may take to end by itself before it is killed.
    private static let endLimit: Duration = .seconds(1)

    let slot: Int
    private unowned let supervisor: WorkerSupervisor
    private let loop: LoopContext
    private let configuration: LadderModuleConfiguration
    private var program: SpawnedProgram
    private var phase = Phase.starting
    private(set) var end = WorkerEnd.died
    private(set) var readySince: MonotonicTime?
    private(set) var hasLostCall = false

    private var calls = WorkerCalls()
    /// The account of processor time, which begins when the worker is ready.
    private var account: ProcessorAccount?
    private var assembler: LadderFrameAssembler
    /// The messages that are not sent yet.
    private var output = LadderMessage(capacity: 0)
    /// Whether the kernel's buffer is full.
    private var isFull = false
    private var timer: (id: TimerID, at: MonotonicTime)?
    private var streamRegistration: RegistrationID?
    private var endRegistration: RegistrationID?

    /// Starts a process for the slot `slot`. Throws the reason if it cannot be started.
    init(slot: Int, of supervisor: WorkerSupervisor) throws(LadderStartFailure) {
        self.slot = slot
        self.supervisor = supervisor
        loop = supervisor.loop
        configuration = supervisor.configuration
        assembler = LadderFrameAssembler(accepting: configuration.answerKinds)
        program = try wrap(
            LadderStartFailure.programNotStarted,
            try SpawnedProgram(
                path: supervisor.configuration.programPath, arguments: ["latchkeyd", LadderWorkerRole.argument],
                // The worker clears its environment. Until then, this prevents that Swift prints a backtrace of a
                // crashed worker, which could contain its memory.
                environment: ["SWIFT_BACKTRACE=enable=no"], errorOutput: configuration.errorOutput))
    }

    var processID: Int32 { program.processID }

    /// Watches the process, and sends it its first message. Throws the reason if that fails; the process is then
    /// abandoned.
    func begin() throws(LadderStartFailure) {
        output = try wrap(LadderStartFailure.configurationNotExpressible, try configuration.startMessage())
        do throws(EventLoopError) {
            streamRegistration = try loop.register(self, descriptor: program.streamNumber, interest: .readable)
            endRegistration = try loop.register(
                ProgramEndChannel(self), descriptor: program.processNumber, interest: .readable)
        } catch {
            unregister()
            throw .programNotStarted(error.socketError)
        }
        setTimer(at: loop.now + configuration.startDeadline)
        flush()
    }

    // MARK: Calls

    /// The number of calls of this worker; nil if there is no room for one more.
    var load: Int? { phase == .ready && !isFull ? calls.load : nil }

    /// Whether the worker has no calls.
    var isIdle: Bool { calls.isEmpty }

    /// Adds a call, for which there must be room. `sendCalls` sends it.
    func add(_ call: PendingCall) {
        do throws(LadderFrameError) {
            try call.call.write(number: call.number, to: &output)
        } catch {
            // The call has an invalid size, so no worker can be asked.
            return supervisor.end(call, with: .failure(.failed(status: 0)))
        }
        calls.add(call, at: loop.now)
        supervisor.statistics.workersHave(1)
    }

    /// Sends all calls that were added.
    func sendCalls() {
        guard phase == .ready, !isFull, !output.isSent else { return }
        flush()
        watchCalls()
    }

    private func settle(_ number: UInt64, _ outcome: CallOutcome) throws(LadderFrameError) {
        guard let call = calls.settleFirst(number: number, at: loop.now) else { throw .unexpectedNumber }
        supervisor.statistics.workersHave(-1)
        calls.keep(supervisor.takeBack)
        watchCalls()
        supervisor.end(call, with: outcome)
        supervisor.hasRoom()
    }

    // MARK: The stream

    func ready(_ readiness: EpollReadiness, on loop: LoopContext) {
        if readiness.contains(.writable) { flushRest() }
        if readiness != .writable { _ = receive() }
    }

    func resume(on loop: LoopContext) {}

    func loopStops(_ loop: LoopContext) {
        supervisor.abort()
    }

    private var hasStream: Bool { streamRegistration != nil }

    /// Reads once. Returns whether there may be more to read.
    private func receive() -> Bool {
        guard hasStream else { return false }
        let outcome = assembler.fill { bytes, offset in
            let outcome = program.read(into: &bytes, from: offset)
            guard case .bytes(let count) = outcome else { return (outcome, count: 0) }
            return (outcome, count)
        }
        switch outcome {
        case .bytes: return takeFrames()
        case .wouldBlock: return false
        case .endOfInput, .failed:
            streamHasEnded()
            return false
        }
    }

    private func takeFrames() -> Bool {
        do throws(LadderFrameError) {
            while hasStream, let (head, body) = try assembler.next() { try take(head, body) }
        } catch {
            lose(.misbehaved(error))
        }
        guard hasStream else { return false }
        assembler.wipeTaken()
        return true
    }

    private func take(_ head: LadderFrameHead, _ body: Range<Int>) throws(LadderFrameError) {
        switch (phase, head.kind) {
        case (.starting, .ready): becomeReady()
        case (.starting, .startFailure):
            let fault = try LadderModuleFault(parsing: assembler.bytes, in: body)
            lose(.startFailed(.module(fault)))
        case (.ready, .answer):
            let answer = try LadderAnswer(parsing: assembler.bytes, in: body)
            try settle(head.number, .success(.module(answer)))
        case (.ready, .written):
            let answer = try LibraryAnswer(parsing: assembler.bytes, in: body)
            try settle(head.number, .success(.library(answer)))
        case (.ready, .callFailure):
            let failure = try LadderCallFailure(parsing: assembler.bytes, in: body)
            try settle(head.number, .failure(failure.error))
        case (_, _): throw .unexpectedKind(head.kind.rawValue)
        }
    }

    private func becomeReady() {
        phase = .ready
        output = LadderMessage(
            capacity: (LadderFrameHead.size + configuration.callSizeMaximum) * LadderFrameAssembler.frameCountUsual)
        readySince = loop.now
        account = processorReading().map { ProcessorAccount(advance: configuration.processorTimeMaximum, from: $0) }
        cancelTimer()
        supervisor.isReady(self)
    }

    /// Sends messages until the kernel's buffer is full.
    private func flush() {
        while !output.isSent {
            let outcome = output.send { bytes in
                let outcome = program.write(bytes)
                guard case .written(let count) = outcome else { return (outcome, count: 0) }
                return (outcome, count)
            }
            switch outcome {
            case .written: continue
            case .failed: return streamHasEnded()
            case .wouldBlock:
                isFull = true
                return watchForRoom(true)
            }
        }
    }

    private func flushRest() {
        guard hasStream, isFull else { return }
        isFull = false
        watchForRoom(false)
        flush()
        supervisor.hasRoom()
    }

    private func watchForRoom(_ isWanted: Bool) {
        guard let streamRegistration else { return }
        // This cannot fail, because the descriptor is registered.
        try? loop.modify(
            streamRegistration, descriptor: program.streamNumber,
            interest: isWanted ? [.readable, .writable] : .readable)
    }

    private func streamHasEnded() {
        guard hasStream else { return }
        dropStream()
        guard phase != .ending else { return }
        if phase == .ready { supervisor.statistics.workerIsGone() }
        phase = .closing
        setTimer(at: loop.now + Self.closingLimit)
    }

    private func dropStream() {
        cancelTimer()
        if let streamRegistration { loop.unregister(streamRegistration, descriptor: program.streamNumber) }
        streamRegistration = nil
        program.closeStream()
        assembler.wipe()
        output.wipe()
    }

    // MARK: Deadlines

    private func setTimer(at deadline: MonotonicTime) {
        cancelTimer()
        let id = loop.schedule(at: deadline) { [weak self] in self?.timeIsUp() }
        timer = (id, deadline)
    }

    private func cancelTimer() {
        if let timer { loop.cancel(timer.id) }
        timer = nil
    }

    /// Handles the timer. One timer serves all calls: it checks when the worker has last answered, and is then set
    /// again.
    private func timeIsUp() {
        timer = nil
        switch phase {
        case .starting: lose(.startFailed(.workerSilent))
        case .ready: lookAtCalls()
        case .closing: lose(.misbehaved(.streamClosed))
        case .ending: program.kill()
        }
    }

    private func watchCalls() {
        guard hasStream, let busySince = calls.busySince else { return }
        let firstLook = busySince + min(WorkerCalls.patience, configuration.callDeadline)
        if timer.map({ $0.at > firstLook }) ?? true { setTimer(at: firstLook) }
    }

    private func lookAtCalls() {
        guard let busySince = calls.busySince else { return }
        let now = loop.now
        if now >= busySince + configuration.callDeadline { return lose(.hung) }
        guard now >= busySince + WorkerCalls.patience else { return watchCalls() }
        setTimer(at: busySince + configuration.callDeadline)
        for call in calls.giveAway(begun: program.sharedValue) { supervisor.putBack(call) }
    }

    // MARK: Processor time

    /// Ends the process if it has used too much processor time.
    func lookAtProcessorTime() {
        guard phase == .ready, let reading = processorReading() else { return }
        if account?.isOverdrawn(at: reading) == true { lose(.overspent) }
    }

    /// Reads the processor time of the process; nil if it has ended already.
    private func processorReading() -> ProcessorAccount.Reading? {
        program.processorTime.map { .init(spent: $0, answered: calls.answeredTime, time: loop.now) }
    }

    // MARK: The end

    /// Ends the process if it has not ended, and passes its calls to the supervisor. Only the first reason counts.
    private func lose(_ reason: WorkerEnd) {
        guard phase != .ending else { return }
        if phase == .ready { supervisor.statistics.workerIsGone() }
        phase = .ending
        end = reason
        program.kill()
        dropStream()
        supervisor.statistics.workersHave(-calls.count)
        let (lost, returned) = calls.lose(begun: program.sharedValue, isClear: reason.isClear)
        hasLostCall = !lost.isEmpty
        supervisor.hasLost(self, lost, returned)
    }

    /// Lets the process end by itself: closes its stream. Its remaining calls are refused.
    func finish() {
        guard phase != .ending else { return }
        if phase == .ready { supervisor.statistics.workerIsGone() }
        phase = .ending
        end = .finished
        dropStream()
        setTimer(at: loop.now + Self.endLimit)
        refuseCalls()
    }

    /// Ends the process immediately. `SpawnedProgram` waits for its end when this object is released.
    func abort() {
        phase = .ending
        dropStream()
        program.kill()
        unregister()
        refuseCalls()
    }

    private func refuseCalls() {
        supervisor.statistics.workersHave(-calls.count)
        for call in calls.takeAll() { supervisor.end(call, with: .failure(.unavailable)) }
    }

    private func unregister() {
        if let streamRegistration { loop.unregister(streamRegistration, descriptor: program.streamNumber) }
        if let endRegistration { loop.unregister(endRegistration, descriptor: program.processNumber) }
        (streamRegistration, endRegistration) = (nil, nil)
    }

    /// Handles the end of the process. Messages that it has sent before still count.
    fileprivate func programHasEnded() {
        while receive() {}
        guard let programEnd = program.reap() else { return reapLater() }
        lose(programEnd == .exited(status: WorkerExit.streamBroken.rawValue) ? .misbehaved(.streamClosed) : .died)
        cancelTimer()
        unregister()
        supervisor.hasEnded(self, programEnd)
    }

    /// Waits for the ended process again after a pause.
    ///
    /// If a tracer watches the process, the tracer gets its end first. Until then, the process descriptor stays
    /// readable, and the loop would poll without a pause.
    private func reapLater() {
        if let endRegistration { loop.unregister(endRegistration, descriptor: program.processNumber) }
        endRegistration = nil
        _ = loop.schedule(after: Self.reapPause) { [weak self] in self?.programHasEnded() }
    }
}

/// Why a process ended or was ended.
enum WorkerEnd: Equatable {
    case died, hung, overspent, finished
    case misbehaved(LadderFrameError)
    case startFailed(LadderStartFailure)

    /// Whether it is clear that the last begun call has ended the worker. A worker that corrupts its stream still runs
    /// for a while, so an earlier call may be the cause.
    fileprivate var isClear: Bool {
        switch self {
        case .died, .hung, .overspent, .finished, .startFailed: true
        case .misbehaved: false
        }
    }
}

/// Watches for the end of a worker's program on the loop.
private final class ProgramEndChannel: LoopChannel {
    private let process: WorkerProcess

    init(_ process: WorkerProcess) {
        self.process = process
    }

    func ready(_ readiness: EpollReadiness, on loop: LoopContext) {
        process.programHasEnded()
    }

    func resume(on loop: LoopContext) {}

    func loopStops(_ loop: LoopContext) {}
}

extension EventLoopError {
    fileprivate var socketError: SocketError {
        switch self {
        case .socket(let error): error
        case .threadNotStarted(let errno): .failed(.spawn, errno: errno)
        case .stopping: .failed(.epollControl, errno: 0)
        }
    }
}
