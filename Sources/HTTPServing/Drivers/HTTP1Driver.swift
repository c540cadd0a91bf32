import HTTPMessages
import Telemetry

/// HTTP/1.1 on a connection: carries out the actions of the HTTP/1.1 state machine, and sets the deadlines of its
/// phases.
final class HTTP1Driver: ConnectionDriver {
    private let limits: HTTPLimits
    private var machine: HTTP1Connection
    private var exchange: HTTPExchange?
    /// When the head or the body that is arriving began to arrive.
    private var arrival: (phase: ArrivalPhase, start: MonotonicTime)?
    /// The body of the response that is being written, if its handler sends it in pieces.
    private var streamed: StreamedBody?

    private enum ArrivalPhase: Equatable {
        case head
        case body
    }

    private struct StreamedBody {
        let body: HTTPBodyStream
        let framing: HTTPResponsePlan.Framing
        /// Whether the last piece was written.
        var isComplete = false
    }

    init(limits: HTTPLimits) {
        self.limits = limits
        machine = HTTP1Connection(limits: limits)
    }

    // MARK: Events

    /// False while a pipelined request waits in the machine: otherwise more and more of them would be held in memory.
    ///
    /// Within a head, the machine holds input too, but it needs more to complete the head.
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

    /// While the driver does not read, input waits in the kernel. A client that leaves ends its streamed response.
    func socketReady(on connection: HTTPConnection) {
        if connection.input.peerHasEnded { streamed?.body.finish() }
    }

    func received(_ bytes: Span<UInt8>, on connection: HTTPConnection) {
        if connection.isDraining { machine.announceDrain() }
        perform(machine.received(bytes), on: connection)
    }

    func inputEnded(on connection: HTTPConnection) {
        perform(machine.inputEnded(), on: connection)
    }

    func outputDrained(on connection: HTTPConnection) {
        // In any other phase, the output was an interim response.
        if machine.phase == .writing { continueResponse(on: connection) }
    }

    /// Does nothing: the driver requests no turns to write, because the connection writes the rest of a response.
    func resumed(on connection: HTTPConnection) {}

    func inputTurnCame(on connection: HTTPConnection) {
        if machine.phase == .waiting && machine.hasEarlyInput { perform(machine.resume(), on: connection) }
        if connection.input.peerHasEnded { streamed?.body.finish() }
    }

    func deadlinePassed(on connection: HTTPConnection) {
        switch machine.phase {
        case .writing: return connection.end(because: .slowReading)
        case .waiting:
            // The next request may have arrived just before the deadline.
            connection.readOnceMore()
            guard connection.isOpen, machine.phase == .waiting, !machine.hasEarlyInput else { return }
            guard connection.input.hasBegun else { return connection.refuse(.silent) }
        case .head: connection.count(.slowHead)
        case .body: connection.count(.slowBody)
        case .answering, .closed: break
        }
        perform(machine.deadlinePassed(), on: connection)
    }

    func drain(on connection: HTTPConnection) {
        machine.drain()
        streamed?.body.finish()
        if machine.phase == .waiting { connection.setDeadline(connection.now + limits.drainPatience) }
    }

    func closed() {
        exchange = nil
        streamed?.body.end()
        streamed = nil
    }

    // MARK: What the driver holds

    var state: HTTPConnectionState { machine.phase == .waiting && !machine.hasEarlyInput ? .idle : .busy }

    var isInHead: Bool { machine.phase == .head }

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
            let response = connection.refusal(of: problem, in: machine.takeRefusedHead())
            respond(response, to: StreamToken(), on: connection)
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
        // The handler sets its own deadlines.
        arrival = nil
        connection.setDeadline(.distantFuture)
    }

    /// Asks the handler about the body of a request whose head has just arrived. Returns false if the handler refused
    /// the request.
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

    /// Sends head and body in one write, unless the kernel takes only a part.
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

    // MARK: Streamed bodies

    func respond(
        _ head: HTTPResponse, streaming body: HTTPBodyStream, to stream: StreamToken, on connection: HTTPConnection
    ) {
        exchange?.status = head.status
        let plan = machine.respond(closing: head.closesConnection, isStreamed: true)
        if plan.omitsBody { body.end() } else { streamed = StreamedBody(body: body, framing: plan.framing) }
        let date = connection.date
        let isTaken = connection.write { head.append(to: &$0, plan: plan, date: date) }
        guard connection.isOpen else { return }
        // The time of the request ends with the head, because a body may take hours.
        if let exchange, streamed != nil {
            connection.report(exchange)
            self.exchange = nil
        }
        if isTaken {
            continueResponse(on: connection)
        } else {
            connection.setDeadline(connection.now + limits.writeDeadline)
        }
    }

    func bodyChanged(of stream: StreamToken, on connection: HTTPConnection) {
        if !connection.isCongested { continueResponse(on: connection) }
    }

    func abandonBody(of stream: StreamToken, on connection: HTTPConnection) {
        connection.end(because: .slowReading)
    }

    /// Continues a response when the kernel has taken all output. Nothing has a deadline while the handler of a
    /// streamed body has nothing to send.
    private func continueResponse(on connection: HTTPConnection) {
        guard let streamed else { return finishResponse(on: connection) }
        if streamed.isComplete {
            streamed.body.end()
            self.streamed = nil
            return finishResponse(on: connection)
        }
        let piece = streamed.body.take()
        let isLast = streamed.body.isFinished
        guard !piece.isEmpty || isLast else { return connection.setDeadline(.distantFuture) }
        self.streamed?.isComplete = isLast
        if connection.write({ streamed.framing.append(piece, isLast: isLast, to: &$0) }) {
            continueResponse(on: connection)
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
        if machine.hasEarlyInput || connection.input.mayHaveMore { connection.requestInputTurn() }
    }

    // MARK: Deadlines

    /// Sets the deadline of the present phase. The limit of a phase is counted from its beginning.
    private func updateDeadline(on connection: HTTPConnection) {
        switch machine.phase {
        case .answering, .writing, .closed:
            break
        case .waiting:
            // A line end between requests arrived in two pieces. The first piece looked like the beginning of a head.
            guard arrival != nil else { break }
            arrival = nil
            connection.setDeadline(connection.now + limits.idleDeadline)
        case .head:
            connection.setDeadline(start(of: .head, connection.now) + limits.headDeadline)
        case .body(let received):
            connection.setDeadline(start(of: .body, connection.now) + limits.bodyAllowance(received: received))
        }
    }

    /// Returns when a phase began. If it has not begun before, it begins now.
    private func start(of phase: ArrivalPhase, _ now: MonotonicTime) -> MonotonicTime {
        if let arrival, arrival.phase == phase { return arrival.start }
        arrival = (phase, now)
        return now
    }
}
