import EventLoops
import HTTPMessages
import POSIXSockets
import Synchronization

/// One connection of a listener, from accept to close, on one loop.
///
/// It moves bytes between the transport and the HTTP/1.1 machine, has requests answered, and keeps the deadlines. The descriptor is
/// watched edge-triggered and registered once, so a request on a connection that stays open costs one read and one write, and no
/// call to epoll.
///
/// A task that answers a request keeps this object alive, but not its socket: when the connection is lost meanwhile, the response
/// finds the connection closed and goes nowhere.
///
/// Safe to send: it is made and used on its loop only; the task of a request runs there too.
final class HTTPConnection: LoopChannel, @unchecked Sendable {
    private let peer: HTTPPeer
    private let listener: ListenerState
    private let loop: LoopContext
    private let services: LoopServices
    private let closed: (HTTPConnection) -> Void
    private let openedAt: LoopInstant

    private var transport: Transport
    private var registration: RegistrationID?
    private var machine: HTTP1Connection
    private var deadline: ConnectionDeadline
    private var exchange: Exchange?
    private var linger: Int?

    /// What a partial write has left.
    private var unsent: ArraySlice<UInt8> = []
    /// The kernel may have more to read: no edge announces it again.
    private var mayRead = false
    /// The peer has closed its side; what it sent before may still be unread.
    private var peerHasEnded = false
    /// Everything was read, up to the end of the peer's stream.
    private var inputHasEnded = false
    private var isResumeScheduled = false

    /// The request that is being answered, for the observer.
    private struct Exchange {
        let method: HTTPMethod
        let startedAt: LoopInstant
        var status: HTTPStatus?
    }

    init(
        _ socket: consuming ConnectedSocket, _ peer: HTTPPeer, of listener: ListenerState, on loop: LoopContext,
        _ services: LoopServices, closed: @escaping (HTTPConnection) -> Void
    ) {
        self.peer = peer
        self.listener = listener
        self.loop = loop
        self.services = services
        self.closed = closed
        openedAt = loop.now
        transport = Transport(socket)
        machine = HTTP1Connection(limits: listener.limits)
        deadline = ConnectionDeadline()
        listener.connectionObjects.add(1, ordering: .relaxed)
    }

    deinit {
        listener.connectionObjects.subtract(1, ordering: .relaxed)
    }

    /// Begins to read.
    func start() {
        listener.observer.connectionOpened(peer)
        do throws(EventLoopError) {
            registration = try loop.register(
                self, descriptor: transport.descriptor, interest: [.readable, .writable, .peerClosed, .onlyChanges])
        } catch {
            return close(reset: true)
        }
        setDeadline(openedAt + listener.limits.idleDeadline)
    }

    /// Lets a request in flight finish, then closes.
    func drain() {
        guard isOpen, linger == nil else { return }
        perform(machine.drain())
    }

    /// Closes at once.
    func abort() {
        close(reset: true)
    }

    private var isOpen: Bool { registration != nil }

    // MARK: Events of the loop

    func ready(_ readiness: EpollReadiness, on loop: LoopContext) {
        if !readiness.isDisjoint(with: [.failed, .hungUp]) { return close(reset: false) }
        if readiness.contains(.peerClosed) { peerHasEnded = true }
        if !readiness.isDisjoint(with: [.readable, .peerClosed]) { mayRead = true }
        if readiness.contains(.writable) && !unsent.isEmpty { writeUnsent() }
        if isOpen { readOnce() }
    }

    func resume(on loop: LoopContext) {
        isResumeScheduled = false
        guard isOpen else { return }
        if machine.phase == .waiting && machine.hasEarlyInput {
            perform(machine.resume())
        } else {
            readOnce()
        }
    }

    func loopStops(_ loop: LoopContext) {
        close(reset: true)
    }

    private func deadlinePassed() {
        guard isOpen else { return }
        if linger != nil { return close(reset: true) }
        let wasWriting = machine.phase == .writing
        switch machine.deadlinePassed() {
        case .close: close(reset: wasWriting)
        case let action: perform(action)
        }
    }

    // MARK: Reading

    /// Reads at most once, so that no connection holds the others up; what is left comes in the next turn.
    private func readOnce() {
        guard mayRead, isReading else { return }
        switch transport.read(into: &services.input) {
        case .bytes(let count):
            // A read that was not filled has emptied the socket; but the end of the stream may follow without an edge of its own.
            if count < services.input.count && !peerHasEnded { mayRead = false }
            take(count)
            if isOpen && mayRead && isReading { scheduleResume() }
        case .wouldBlock:
            mayRead = false
        case .endOfInput:
            mayRead = false
            inputHasEnded = true
            if linger != nil { close(reset: false) } else { perform(machine.inputEnded()) }
        case .failed:
            close(reset: false)
        }
    }

    private var isReading: Bool {
        switch machine.phase {
        case .waiting, .head, .body: true
        case .closed: linger != nil
        case .answering, .writing: false
        }
    }

    private func take(_ count: Int) {
        if let dropped = linger {
            linger = dropped + count
            if dropped + count > listener.limits.lingerSizeMaximum { close(reset: true) }
        } else {
            perform(receive(count))
        }
    }

    /// Passes on what was read. The shared buffer is not held beyond this, or the next read would have to copy it.
    private func receive(_ count: Int) -> HTTP1Connection.Action {
        let input = services.input
        return machine.received(input.span.extracting(first: count))
    }

    private func scheduleResume() {
        guard !isResumeScheduled else { return }
        isResumeScheduled = true
        loop.resumeNextTurn(self)
    }

    // MARK: Carrying out the machine's actions

    private func perform(_ action: HTTP1Connection.Action) {
        switch action {
        case .read:
            updateDeadline()
        case .sendContinue:
            updateDeadline()
            sendInterim(HTTPResponse.interimContinue)
        case .dispatch(let message):
            dispatch(message)
        case .refuse(let problem):
            refuse(problem)
        case .close:
            close(reset: false)
        case .linger:
            startLinger()
        }
    }

    private func dispatch(_ message: HTTPRequestMessage) {
        exchange = Exchange(method: message.head.method, startedAt: loop.now)
        let request = HTTPRequest(head: message.head, body: message.body, peer: peer)
        switch listener.settings.handler.answer(request, on: loop) {
        case .now(let response):
            respond(response)
        case .later(let work):
            setDeadline(.distantFuture)
            let loop = loop
            loop.spawn { [self] in
                let response = await work(loop)
                respond(response)
            }
        }
    }

    private func refuse(_ problem: HTTPProblem) {
        listener.observer.inputRefused(peer, problem)
        respond(listener.settings.handler.refusal(of: problem, from: peer, on: loop))
    }

    private func startLinger() {
        if inputHasEnded { return close(reset: false) }
        transport.finishWriting()
        linger = 0
        setDeadline(loop.now + listener.limits.lingerDeadline)
        if mayRead { scheduleResume() }
    }

    // MARK: Writing

    /// Head and body leave in one write, unless the kernel takes less.
    private func respond(_ response: HTTPResponse) {
        guard isOpen else { return }
        exchange?.status = response.status
        let plan = machine.respond(closing: response.closesConnection)
        if unsent.isEmpty {
            services.output.removeAll(keepingCapacity: true)
            response.append(to: &services.output, plan: plan, date: services.date())
            writeOutput()
        } else {
            // An interim response is still on its way.
            var output = Array(unsent)
            response.append(to: &output, plan: plan, date: services.date())
            unsent = output[...]
            setDeadline(loop.now + listener.limits.writeDeadline)
        }
    }

    private func writeOutput() {
        switch writeShared() {
        case .written(services.output.count): finishResponse()
        case .written(let part): keepUnsent(from: part)
        case .wouldBlock: keepUnsent(from: 0)
        case .failed: close(reset: false)
        }
    }

    /// The shared buffer is not held beyond this, or the next response would have to copy it.
    private func writeShared() -> WriteOutcome {
        let output = services.output
        return transport.write(output.span)
    }

    private func keepUnsent(from position: Int) {
        // A copy with storage of its own: the shared buffer serves the next connection.
        unsent = Array(services.output[position...])[...]
        setDeadline(loop.now + listener.limits.writeDeadline)
    }

    private func sendInterim(_ bytes: [UInt8]) {
        switch transport.write(bytes.span) {
        case .written(let count): unsent = bytes[count...]
        case .wouldBlock: unsent = bytes[...]
        case .failed: close(reset: false)
        }
    }

    private func writeUnsent() {
        switch transport.write(unsent.span) {
        case .written(let count):
            unsent.removeFirst(count)
            if unsent.isEmpty {
                unsent = []
                if machine.phase == .writing { finishResponse() }
            }
        case .wouldBlock: break
        case .failed: close(reset: false)
        }
    }

    private func finishResponse() {
        let now = loop.now
        if let exchange, let status = exchange.status {
            listener.observer.requestFinished(
                peer, method: exchange.method, status: status, after: now - exchange.startedAt)
        }
        exchange = nil
        let action = machine.responseSent()
        guard action == .read else { return perform(action) }
        setDeadline(now + listener.limits.idleDeadline)
        if machine.hasEarlyInput || mayRead { scheduleResume() }
    }

    // MARK: Deadlines

    /// Measures what the machine waits for; each of its phases has a beginning from which its limit runs.
    private func updateDeadline() {
        switch machine.phase {
        case .waiting, .answering, .writing, .closed:
            break
        case .head:
            setDeadline(deadline.phaseStart(.head, now: loop.now) + listener.limits.headDeadline)
        case .body(let received):
            let start = deadline.phaseStart(.body, now: loop.now)
            setDeadline(start + listener.limits.bodyAllowance(received: received))
        }
    }

    private func setDeadline(_ instant: LoopInstant) {
        deadline.instant = instant
        if machine.phase == .waiting || machine.phase == .answering { deadline.endPhase() }
        armTimer()
    }

    /// The timer is only ever moved to an earlier time; one that fires early is set again. So a request costs no timer work.
    private func armTimer() {
        guard deadline.instant < deadline.timerInstant else { return }
        deadline.timerInstant = deadline.instant
        if let timer = deadline.timer, loop.reschedule(timer, at: deadline.instant) { return }
        deadline.timer = loop.schedule(at: deadline.instant) { [self] in timerFired() }
    }

    private func timerFired() {
        deadline.timer = nil
        deadline.timerInstant = .distantFuture
        if loop.now >= deadline.instant { deadlinePassed() } else { armTimer() }
    }

    // MARK: Closing

    private func close(reset: Bool) {
        guard let registration else { return closeUnregistered() }
        self.registration = nil
        loop.unregister(registration, descriptor: transport.descriptor)
        if let timer = deadline.timer { loop.cancel(timer) }
        unsent = []
        transport.close(reset: reset)
        reportClosed()
    }

    /// A connection that the loop never took, because it stops.
    private func closeUnregistered() {
        guard transport.isOpen else { return }
        transport.close(reset: true)
        reportClosed()
    }

    private func reportClosed() {
        listener.release(peer.address.ip)
        listener.observer.connectionClosed(peer, after: loop.now - openedAt)
        closed(self)
    }
}
