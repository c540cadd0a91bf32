import HTTPMessages
import Telemetry

/// HTTP/2 on a connection: moves bytes between the connection and the session, and carries out the session's events.
///
/// The driver does not read while output waits for the kernel. Otherwise a client that sends but does not read would
/// make the session hold more and more answers.
final class HTTP2Driver: ConnectionDriver {
    /// The number of bytes after which one piece of output ends.
    private static let outputSize = 64 * 1024
    /// The most pieces of output in one turn, before other connections have their turns.
    private static let outputsPerTurnMaximum = 4

    private let limits: HTTPLimits
    private var session: HTTP2Session?
    private var isSettling = false
    /// Input that the session could not process before the turn's budget of decoded heads was spent. The bytes from
    /// `heldStart` on are not processed yet.
    private var held: [UInt8] = []
    private var heldStart = 0
    /// Since when output has been waiting for the kernel; nil if no output waits.
    private var congestedSince: MonotonicTime?

    init(limits: HTTPLimits) {
        self.limits = limits
    }

    // MARK: Events

    var isReading: Bool { congestedSince == nil && held.isEmpty }

    func started(on connection: HTTPConnection) {
        session = HTTP2Session(
            limits: limits, isTrustedProxy: connection.isFromTrustedProxy, now: connection.now)
        settle(connection)
    }

    /// Does nothing: while the driver does not read, input waits in the kernel.
    func socketReady(on connection: HTTPConnection) {}

    func received(_ bytes: Span<UInt8>, on connection: HTTPConnection) {
        guard let session else { return }
        let count = session.receive(bytes, now: connection.now)
        if count < bytes.count {
            held = bytes.copy(count..<bytes.count)
            heldStart = 0
        }
        settle(connection)
        takeFurtherTurn(connection)
    }

    /// Processes more of the held input. It is not called while output waits for the kernel.
    private func receiveHeld(_ session: HTTP2Session, on connection: HTTPConnection) {
        let bytes = held
        heldStart += session.receive(bytes.span.extracting(heldStart..<bytes.count), now: connection.now)
        if heldStart == bytes.count { (held, heldStart) = ([], 0) }
    }

    private func takeFurtherTurn(_ connection: HTTPConnection) {
        if connection.isOpen, congestedSince == nil, !held.isEmpty { connection.requestInputTurn() }
    }

    func inputEnded(on connection: HTTPConnection) {
        session?.inputEnded(now: connection.now)
        session?.finishBodies()
        settle(connection)
    }

    func outputDrained(on connection: HTTPConnection) {
        congestedSince = nil
        settle(connection)
        if connection.isOpen && isReading && connection.input.mayHaveMore { connection.requestInputTurn() }
        takeFurtherTurn(connection)
    }

    func resumed(on connection: HTTPConnection) {
        settle(connection)
    }

    func inputTurnCame(on connection: HTTPConnection) {
        guard let session, congestedSince == nil, !held.isEmpty else { return }
        receiveHeld(session, on: connection)
        settle(connection)
        takeFurtherTurn(connection)
    }

    func deadlinePassed(on connection: HTTPConnection) {
        if let congestedSince, connection.now >= congestedSince + limits.writeDeadline {
            return connection.end(because: .slowReading)
        }
        session?.deadlinePassed(now: connection.now)
        settle(connection)
    }

    func respond(_ response: HTTPResponse, to stream: StreamToken, on connection: HTTPConnection) {
        guard let session else { return }
        session.respond(response, to: stream.number, date: connection.date, now: connection.now)
        if isSettling { return }
        // Requests of one batch are answered in the same turn. If more answers follow, all are sent in one write.
        if session.isAnswering { connection.requestResume() } else { settle(connection) }
    }

    func respond(
        _ head: HTTPResponse, streaming body: HTTPBodyStream, to stream: StreamToken, on connection: HTTPConnection
    ) {
        guard let session else { return body.end() }
        session.respond(head, streaming: body, to: stream.number, date: connection.date, now: connection.now)
        settle(connection)
    }

    func bodyChanged(of stream: StreamToken, on connection: HTTPConnection) {
        session?.bodyChanged(of: stream.number, now: connection.now)
        settle(connection)
    }

    func abandonBody(of stream: StreamToken, on connection: HTTPConnection) {
        session?.abandonBody(of: stream.number, now: connection.now)
        settle(connection)
    }

    func drain(on connection: HTTPConnection) {
        session?.beginDrain(now: connection.now)
        session?.finishBodies()
        settle(connection)
    }

    func closed() {
        session?.endBodies()
        session = nil
        held = []
    }

    // MARK: What the driver holds

    var state: HTTPConnectionState { session?.isIdle == false || !held.isEmpty ? .busy : .idle }

    var heldMemory: HeldMemory {
        var memory = session?.heldMemory ?? HeldMemory()
        memory.heads += held.capacity
        return memory
    }

    func makeRoom(on connection: HTTPConnection, mayRefuse: Bool) -> MemoryRelief {
        guard let session else { return .none }
        let relief = session.makeRoom(mayRefuse: mayRefuse, now: connection.now)
        if relief != .none { settle(connection) }
        return relief
    }

    // MARK: Carrying out

    /// Carries out the session's events, sends its output, and closes the connection if the session has ended.
    private func settle(_ connection: HTTPConnection) {
        guard let session, !isSettling else { return }
        isSettling = true
        perform(session, on: connection)
        var outputs = 0
        while connection.isOpen, !connection.isCongested, write(session, to: connection) {
            perform(session, on: connection)
            outputs += 1
            if outputs == Self.outputsPerTurnMaximum {
                connection.requestResume()
                break
            }
        }
        perform(session, on: connection)
        isSettling = false
        if connection.isOpen { conclude(session, connection) }
    }

    private func perform(_ session: HTTP2Session, on connection: HTTPConnection) {
        for event in session.takeEvents() where connection.isOpen { perform(event, session, on: connection) }
    }

    private func perform(_ event: HTTP2Event, _ session: HTTP2Session, on connection: HTTPConnection) {
        switch event {
        case .dispatch(let id, let message):
            connection.dispatch(message.head, body: message.body, as: StreamToken(id))
        case .decideBody(let id, let head):
            session.decided(connection.decideBody(of: head), about: id, date: connection.date, now: connection.now)
        case .refuse(let id, let problem):
            let response = connection.refusal(of: problem, in: session.takeRefusedHead(of: id))
            session.respond(response, to: id, date: connection.date, now: connection.now)
        case .dropped(let problem):
            connection.listener.observer.inputRefused(connection.peer, problem)
        case .abused(let abuse):
            connection.count(abuse)
        case .finished(let exchange):
            connection.report(exchange)
        }
    }

    /// Writes one piece of output. Returns whether there was output and the kernel took all of it.
    private func write(_ session: HTTP2Session, to connection: HTTPConnection) -> Bool {
        let now = connection.now
        var hasOutput = false
        let isTaken = connection.write { output in
            let count = output.count
            session.write(to: &output, sizeMaximum: count + Self.outputSize, now: now)
            hasOutput = output.count > count
        }
        return hasOutput && isTaken
    }

    private func conclude(_ session: HTTP2Session, _ connection: HTTPConnection) {
        if session.hasFailed { return connection.close(reset: true) }
        if session.isFinished { return connection.linger() }
        var deadline = session.nextDeadline
        if connection.isCongested {
            let since = congestedSince ?? connection.now
            congestedSince = since
            deadline = min(deadline, since + limits.writeDeadline)
        }
        connection.setDeadline(deadline)
    }
}
