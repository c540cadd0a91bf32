import HTTPMessages
import Telemetry

/// HTTP/1.1 on a connection: carries out what the HTTP/1.1 machine decides, and measures the deadlines of its phases.
final class HTTP1Driver: ConnectionDriver {
    private let limits: HTTPLimits
    private var machine: HTTP1Connection
    private var exchange: HTTPExchange?
    /// When the head or body that is arriving began to.
    private var arrival: (phase: ArrivalPhase, start: MonotonicTime)?

    private enum ArrivalPhase: Equatable {
        case head
        case body
    }

    init(limits: HTTPLimits) {
        self.limits = limits
        machine = HTTP1Connection(limits: limits)
    }

    // MARK: Events

    /// Not while pipelined requests wait in the machine: it would hold more and more of them. In a head it holds what
    /// came of the head.
    var isReading: Bool {
        switch machine.phase {
        case .waiting: !machine.hasEarlyInput
        case .head, .body: true
        case .answering, .writing, .closed: false
        }
    }

    func started(on connection: HTTPConnection) {
        connection.setDeadline(connection.firstByteDeadline)
    }

    /// What comes before the next request may begin waits in the kernel.
    func socketReady(on connection: HTTPConnection) {}

    func received(_ bytes: Span<UInt8>, on connection: HTTPConnection) {
        if connection.isDraining { machine.announceDrain() }
        perform(machine.received(bytes), on: connection)
    }

    func inputEnded(on connection: HTTPConnection) {
        perform(machine.inputEnded(), on: connection)
    }

    func outputDrained(on connection: HTTPConnection) {
        // Otherwise it was an interim response.
        if machine.phase == .writing { finishResponse(on: connection) }
    }

    /// A response is written as far as the kernel takes it, without being asked.
    func resumed(on connection: HTTPConnection) {}

    func inputTurnCame(on connection: HTTPConnection) {
        if machine.phase == .waiting && machine.hasEarlyInput { perform(machine.resume(), on: connection) }
    }

    func deadlinePassed(on connection: HTTPConnection) {
        switch machine.phase {
        case .writing: return connection.end(because: .slowReading)
        case .waiting:
            // The next request may have come a moment ago.
            connection.readOnceMore()
            guard connection.isOpen, machine.phase == .waiting, !machine.hasEarlyInput else { return }
            guard connection.hasReceived else { return connection.refuse(.silent) }
        case .head: connection.count(.slowHead)
        case .body: connection.count(.slowBody)
        case .answering, .closed: break
        }
        perform(machine.deadlinePassed(), on: connection)
    }

    func drain(on connection: HTTPConnection) {
        machine.drain()
        if machine.phase == .waiting { connection.setDeadline(connection.now + limits.drainPatience) }
    }

    func closed() {
        exchange = nil
    }

    // MARK: What the driver holds

    var state: HTTPConnectionState { machine.phase == .waiting && !machine.hasEarlyInput ? .idle : .busy }

    var heldMemory: HeldMemory { HeldMemory(heads: machine.headMemory, bodies: machine.bodyMemory) }

    func makeRoom(on connection: HTTPConnection, mayRefuse: Bool) -> MemoryRelief {
        guard mayRefuse, let action = machine.refuseForMemory() else { return .none }
        perform(action, on: connection)
        return .request
    }

    // MARK: Carrying out the machine's actions

    private func perform(_ action: HTTP1Connection.Action, on connection: HTTPConnection) {
        switch action {
        case .read:
            guard bodyIsAwaited(on: connection) else { return }
            updateDeadline(on: connection)
        case .sendContinue:
            guard bodyIsAwaited(on: connection) else { return }
            updateDeadline(on: connection)
            connection.write { $0 += HTTPResponse.interimContinue }
        case .dispatch(let message):
            dispatch(message, on: connection)
        case .refuse(let problem):
            respond(connection.refusal(of: problem), to: StreamToken(), on: connection)
        case .close:
            connection.close(reset: false)
        case .linger:
            connection.linger()
        }
    }

    private func dispatch(_ message: HTTPRequestMessage, on connection: HTTPConnection) {
        beginExchange(message.head.method, on: connection)
        connection.dispatch(message.head, body: message.body, as: StreamToken())
    }

    private func beginExchange(_ method: HTTPMethod, on connection: HTTPConnection) {
        exchange = HTTPExchange(method: method, startedAt: connection.now)
        // The handler has deadlines of its own.
        arrival = nil
        connection.setDeadline(.distantFuture)
    }

    /// Has the handler decide about a body whose head has just come. False if the request was refused by its head.
    private func bodyIsAwaited(on connection: HTTPConnection) -> Bool {
        guard let head = machine.takeUndecidedHead() else { return true }
        switch connection.decideBody(of: head) {
        case .keep: return true
        case .drop:
            machine.dropBody()
            return true
        case .refuse(let response):
            machine.refuseBody()
            beginExchange(head.method, on: connection)
            respond(response, to: StreamToken(), on: connection)
            return false
        }
    }

    /// Head and body leave in one write, unless the kernel takes less.
    func respond(_ response: HTTPResponse, to stream: StreamToken, on connection: HTTPConnection) {
        exchange?.status = response.status
        let plan = machine.respond(closing: response.closesConnection)
        let date = connection.date
        if connection.write({ response.append(to: &$0, plan: plan, date: date) }) {
            finishResponse(on: connection)
        } else {
            connection.setDeadline(connection.now + limits.writeDeadline)
        }
    }

    private func finishResponse(on connection: HTTPConnection) {
        if let exchange { connection.report(exchange) }
        exchange = nil
        let action = machine.responseSent()
        guard action == .read else { return perform(action, on: connection) }
        arrival = nil
        connection.setDeadline(connection.now + limits.idleDeadline)
        if machine.hasEarlyInput || connection.mayHaveInput { connection.requestInputTurn() }
    }

    // MARK: Deadlines

    /// Measures what the machine waits for; each of its phases has a beginning from which its limit runs.
    private func updateDeadline(on connection: HTTPConnection) {
        switch machine.phase {
        case .answering, .writing, .closed:
            break
        case .waiting:
            // A line end that came in two pieces looked like the beginning of a head.
            guard arrival != nil else { break }
            arrival = nil
            connection.setDeadline(connection.now + limits.idleDeadline)
        case .head:
            connection.setDeadline(start(of: .head, connection.now) + limits.headDeadline)
        case .body(let received):
            connection.setDeadline(start(of: .body, connection.now) + limits.bodyAllowance(received: received))
        }
    }

    /// When this phase began: now, unless it had begun before.
    private func start(of phase: ArrivalPhase, _ now: MonotonicTime) -> MonotonicTime {
        if let arrival, arrival.phase == phase { return arrival.start }
        arrival = (phase, now)
        return now
    }
}
