import EventLoops
import FairPlay
import POSIXSockets

/// One worker process, from its start to its end: its stream, the calls that lie in it, and the deadlines. Belongs to the pool's loop.
final class WorkerProcess: LoopChannel {
    /// A call that was sent to the worker.
    struct Place {
        let call: PendingCall
        /// Whether the whole call is in the stream, so that the worker may have begun it.
        var isSent = false
        /// Whether the call went back to the queue while it lay here, so that another worker decides what becomes of it.
        var isElsewhere = false
    }

    private enum Phase {
        case starting, ready, ending
    }

    /// Calls of up to this time are sent ahead, so that the worker need not wait for us in between: work for about `aheadNanoseconds`, and
    /// one call at least. Where calls take longer, what it would save is nothing beside them.
    private static let quickNanoseconds: Int64 = 2_000_000
    private static let aheadNanoseconds: Int64 = 500_000
    /// How long a call may lie behind another one before another worker gets it too.
    static let patience: Duration = .milliseconds(10)
    /// How long a worker that was told to end may take.
    private static let endLimit: Duration = .seconds(1)

    let slot: Int
    private unowned let supervisor: WorkerSupervisor
    private let loop: LoopContext
    private let configuration: LadderModuleConfiguration
    private let statistics: LadderPoolStatistics
    private var program: SpawnedProgram
    private var phase = Phase.starting
    private(set) var end = WorkerEnd.died
    private(set) var readySince: LoopInstant?
    private(set) var hasLostCall = false

    private var assembler = LadderFrameAssembler(accepting: [.ready, .startFailure, .answer, .callFailure])
    /// What is to be sent, or what the kernel has not taken yet.
    private var output: LadderMessage
    private var places: [Place] = []
    /// When the worker began with the first call, as far as we know.
    private(set) var busySince = LoopInstant.distantFuture
    /// Whether the first call takes so long that none is sent behind it.
    private var isSlow = false
    /// The time for a call, as a moving average.
    private var usualNanoseconds: Int64 = 0
    private var timer: (id: TimerID, at: LoopInstant)?
    /// Whether the kernel takes no more for now.
    private var isFull = false
    private var streamRegistration: RegistrationID?
    private var endRegistration: RegistrationID?

    /// Starts a process for the place `slot`. Throws why there is none.
    init(slot: Int, of supervisor: WorkerSupervisor) throws(LadderStartFailure) {
        self.slot = slot
        self.supervisor = supervisor
        loop = supervisor.loop
        configuration = supervisor.configuration
        statistics = supervisor.statistics
        do throws(SocketError) {
            program = try SpawnedProgram(
                path: configuration.programPath, arguments: ["latchkeyd", LadderWorkerRole.argument],
                // The worker empties it; until then nothing may write the memory of a crashed worker anywhere.
                environment: ["SWIFT_BACKTRACE=enable=no"])
        } catch {
            throw .programNotStarted(error)
        }
        output = LadderMessage(capacity: 0)
        places.reserveCapacity(LadderFrameAssembler.frameCountUsual)
    }

    var processID: Int32 { program.processID }

    /// Watches the process and tells it what to become. Throws why that is not possible; the process is gone then.
    func begin() throws(LadderStartFailure) {
        do throws(LadderFrameError) {
            output = try configuration.start.message()
        } catch {
            throw .configurationNotExpressible(error)
        }
        do throws(EventLoopError) {
            streamRegistration = try loop.register(self, descriptor: program.streamNumber, interest: .readable)
            endRegistration = try loop.register(
                ProgramEndChannel(self), descriptor: program.processNumber, interest: .readable)
        } catch {
            unregister()
            throw .programNotStarted(error.socketError)
        }
        setTimer(at: loop.now + configuration.startDeadline)
        // A failure shows in the process's end.
        _ = flush()
    }

    // MARK: Calls

    /// How many calls lie here; nil when there is no room for one more.
    var load: Int? {
        phase == .ready && !isFull && places.count < placeMaximum ? places.count : nil
    }

    private var placeMaximum: Int {
        if isSlow || usualNanoseconds > Self.quickNanoseconds { return 1 }
        let ahead = Self.aheadNanoseconds / max(usualNanoseconds, 1)
        return Int(min(max(ahead, 2), Int64(LadderFrameAssembler.frameCountUsual)))
    }

    /// Whether no call lies here.
    var isIdle: Bool { places.isEmpty }

    /// Takes a call, which `sendCalls` sends. There must be room.
    func add(_ call: PendingCall) {
        do throws(LadderFrameError) {
            try call.call.write(number: call.number, to: &output)
        } catch {
            // Not a call: no worker can be asked.
            return supervisor.end(call, with: .failure(.failed(status: 0)))
        }
        places.append(Place(call: call))
        statistics.workersHave(1)
    }

    /// Sends the calls that were added, all at once.
    func sendCalls() {
        guard phase == .ready, !isFull, !output.isSent else { return }
        let wasIdle = places.first.map { !$0.isSent } ?? true
        guard flush() else { return lose(.died) }
        for index in places.indices.reversed() {
            if places[index].isSent { break }
            places[index].isSent = true
        }
        if wasIdle, !places.isEmpty { beginFirst() }
    }

    private func beginFirst() {
        busySince = loop.now
        let firstLook = busySince + min(Self.patience, configuration.callDeadline)
        if let timer, timer.at <= firstLook { return }
        setTimer(at: firstLook)
    }

    private func settleFirst(_ outcome: CallOutcome) {
        let place = places.removeFirst()
        statistics.workersHave(-1)
        usualNanoseconds += ((loop.now - busySince).clampedNanoseconds - usualNanoseconds) / 8
        isSlow = false
        for index in places.indices where places[index].isElsewhere {
            if supervisor.takeBack(places[index].call) { places[index].isElsewhere = false }
        }
        if places.isEmpty { busySince = .distantFuture } else { beginFirst() }
        supervisor.end(place.call, with: outcome)
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

    /// Reads once; whether there may be more.
    private func receive() -> Bool {
        guard phase != .ending else { return false }
        let outcome = assembler.fill { bytes, offset in
            let outcome = program.read(into: &bytes, from: offset)
            guard case .bytes(let count) = outcome else { return (outcome, count: 0) }
            return (outcome, count)
        }
        switch outcome {
        case .bytes: return takeFrames()
        case .wouldBlock: return false
        case .endOfInput, .failed:
            lose(.died)
            return false
        }
    }

    private func takeFrames() -> Bool {
        do throws(LadderFrameError) {
            while phase != .ending, let (head, body) = try assembler.next() { try take(head, body) }
        } catch {
            lose(.misbehaved(error))
        }
        guard phase != .ending else { return false }
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
            guard head.number == places.first?.call.number else { throw .unexpectedNumber }
            let answer = try LadderAnswer(parsing: assembler.bytes, in: body)
            settleFirst(.success(answer))
        case (.ready, .callFailure):
            guard head.number == places.first?.call.number else { throw .unexpectedNumber }
            let failure = try LadderCallFailure(parsing: assembler.bytes, in: body)
            settleFirst(.failure(failure.error))
        case (_, _): throw .unexpectedKind(head.kind.rawValue)
        }
    }

    private func becomeReady() {
        phase = .ready
        output = LadderMessage(
            capacity: (LadderFrameHead.size + LadderCall.encodedSizes.upperBound) * LadderFrameAssembler.frameCountUsual)
        readySince = loop.now
        cancelTimer()
        supervisor.isReady(self)
    }

    /// Sends what is to be sent, as far as the kernel takes it; false when the worker is gone.
    private func flush() -> Bool {
        while !output.isSent {
            let outcome = output.send { bytes in
                let outcome = program.write(bytes)
                guard case .written(let count) = outcome else { return (outcome, count: 0) }
                return (outcome, count)
            }
            switch outcome {
            case .written: continue
            case .failed: return false
            case .wouldBlock:
                isFull = true
                watchForRoom(true)
                return true
            }
        }
        return true
    }

    private func flushRest() {
        guard phase != .ending, isFull else { return }
        isFull = false
        watchForRoom(false)
        guard flush() else { return lose(.died) }
        if !isFull, phase == .ready { supervisor.hasRoom() }
    }

    private func watchForRoom(_ isWanted: Bool) {
        guard let streamRegistration else { return }
        // Cannot fail: the descriptor is registered.
        try? loop.modify(
            streamRegistration, descriptor: program.streamNumber,
            interest: isWanted ? [.readable, .writable] : .readable)
    }

    // MARK: Deadlines

    private func setTimer(at deadline: LoopInstant) {
        cancelTimer()
        let id = loop.schedule(at: deadline) { [weak self] in self?.timeIsUp() }
        timer = (id, deadline)
    }

    private func cancelTimer() {
        if let timer { loop.cancel(timer.id) }
        timer = nil
    }

    /// One timer serves all calls: it looks at the first one, and comes again when that one is due.
    private func timeIsUp() {
        timer = nil
        switch phase {
        case .starting: lose(.startFailed(.workerSilent))
        case .ready: lookAtFirst()
        case .ending: program.kill()
        }
    }

    private func lookAtFirst() {
        guard !places.isEmpty else { return }
        let now = loop.now
        if now >= busySince + configuration.callDeadline { return lose(.hung) }
        guard now >= busySince + Self.patience else {
            return setTimer(at: busySince + min(Self.patience, configuration.callDeadline))
        }
        isSlow = true
        setTimer(at: busySince + configuration.callDeadline)
        for index in places.indices.dropFirst() where !places[index].isElsewhere {
            places[index].isElsewhere = true
            supervisor.putBack(places[index].call)
        }
    }

    // MARK: The end

    /// Ends the process, if it has not ended, and hands its calls over. The first reason counts.
    private func lose(_ reason: WorkerEnd) {
        guard phase != .ending else { return }
        let wasReady = phase == .ready
        phase = .ending
        end = reason
        program.kill()
        dropStream()
        let lost = takePlaces()
        hasLostCall = lost.first.map { $0.isSent && !$0.isElsewhere && !$0.call.isOver } ?? false
        supervisor.isLost(self, wasReady: wasReady, lost)
    }

    /// Lets the process end in good order, by the end of its stream. Calls that it still has are handed over.
    func finish() {
        guard phase != .ending else { return }
        let wasReady = phase == .ready
        phase = .ending
        end = .finished
        dropStream()
        setTimer(at: loop.now + Self.endLimit)
        supervisor.isLost(self, wasReady: wasReady, takePlaces())
    }

    /// Ends the process at once and waits for its end; nobody is told.
    func abort() -> [Place] {
        phase = .ending
        dropStream()
        program.kill()
        unregister()
        return takePlaces()
    }

    private func takePlaces() -> [Place] {
        statistics.workersHave(-places.count)
        defer { places = [] }
        return places
    }

    private func dropStream() {
        cancelTimer()
        if let streamRegistration { loop.unregister(streamRegistration, descriptor: program.streamNumber) }
        streamRegistration = nil
        program.closeStream()
        assembler.wipe()
        output.wipe()
    }

    private func unregister() {
        if let streamRegistration { loop.unregister(streamRegistration, descriptor: program.streamNumber) }
        if let endRegistration { loop.unregister(endRegistration, descriptor: program.processNumber) }
        (streamRegistration, endRegistration) = (nil, nil)
    }

    /// The process is no more: what it had sent before counts.
    fileprivate func programHasEnded() {
        while receive() {}
        lose(.died)
        guard let programEnd = program.reap() else { return }
        cancelTimer()
        unregister()
        supervisor.hasEnded(self, programEnd)
    }
}

/// Why a process ended or was ended.
enum WorkerEnd: Equatable {
    case died, hung, finished
    case misbehaved(LadderFrameError)
    case startFailed(LadderStartFailure)
}

/// Tells a process on the loop that its program has ended.
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
