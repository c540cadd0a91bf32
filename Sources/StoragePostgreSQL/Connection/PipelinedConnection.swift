import ContentKeys
import EventLoops
import POSIXSockets

/// A connection that many calls share: each is sent at once, behind those that the server has not answered yet, and is a transaction of its
/// own.
///
/// # What happens when the database is away
///
/// A connection that breaks answers what it had sent with `connectionLost`, because nobody knows what became of it, and is made anew at
/// once; what was not sent waits for that. When the new one fails, nothing waits any more: calls fail at once, and connecting is tried again
/// with pauses that grow, until it succeeds. A call whose deadline comes is answered with `timedOut` wherever it is. A server that stays
/// silent for longer than that again is taken for dead.
///
/// Everything here runs on the loop's thread.
final class PipelinedConnection: LoopChannel, @unchecked Sendable {
    // Safe to send: it is only carried by tasks and closures of its own loop, and used there.

    private struct Sent {
        let call: DatabaseCall
        var isAnswered = false
        var result: Result<PostgreSQLResult, PostgreSQLFailure>?
    }

    private struct Link {
        let connection: PostgreSQLConnection
        let registration: RegistrationID
        /// The descriptor's number; libpq closes it, so it is kept for unregistering.
        let descriptor: Int32
        var isWatchedForRoom = false
        var hasAnswered = false
    }

    private enum State {
        case connecting
        case connected(Link)
        case pausing(TimerID)
        case stopped
    }

    private let loop: LoopContext
    private let limits: PostgreSQLLimits
    private let connect: @Sendable () async -> Result<PostgreSQLConnection, PostgreSQLFailure>
    /// Told when the connection has come to be of use, and when it is not any more.
    var connectedChanged: (Bool) -> Void = { _ in }
    private var first: PostgreSQLConnection?
    private var state = State.connecting
    private var failures = 0
    private var waiting = CallQueue<DatabaseCall>()
    private var sent = CallQueue<Sent>()
    private var timer: TimerID?

    /// `first` is a connection that is in its pipeline already.
    init(
        on loop: LoopContext, limits: PostgreSQLLimits, first: PostgreSQLConnection?,
        connect: @escaping @Sendable () async -> Result<PostgreSQLConnection, PostgreSQLFailure>
    ) {
        self.loop = loop
        self.limits = limits
        self.first = first
        self.connect = connect
    }

    /// Goes on with the first connection, or makes one.
    func start() {
        if let first = first.take() { connected(.success(first)) } else { startConnecting() }
    }

    /// Whether calls are sent at once.
    var isConnected: Bool {
        if case .connected = state { true } else { false }
    }

    /// Calls that are sent or wait.
    var load: Int { sent.count + waiting.count }

    // MARK: Calls

    func submit(_ call: DatabaseCall) {
        switch state {
        case .connected: enqueue(call)
        case .connecting where failures == 0: enqueue(call)
        case .connecting, .pausing, .stopped: call.give(.failure(.connectionLost))
        }
    }

    private func enqueue(_ call: DatabaseCall) {
        guard waiting.count < limits.queueLength else { return call.give(.failure(.queueFull)) }
        waiting.append(call)
        sendWaiting()
        if timer == nil { setTimer() }
    }

    private func sendWaiting() {
        guard case .connected(let link) = state else { return }
        do throws(PostgreSQLFailure) {
            while sent.count < limits.inFlight, let call = waiting.popFirst() {
                sent.append(Sent(call: call))
                try link.connection.send(call.statement, call.values)
            }
            try flush()
        } catch {
            lose()
        }
    }

    private func flush() throws(PostgreSQLFailure) {
        guard case .connected(var link) = state else { return }
        let isFull = try link.connection.flush() == .wouldBlock
        guard isFull != link.isWatchedForRoom else { return }
        link.isWatchedForRoom = isFull
        state = .connected(link)
        do throws(EventLoopError) {
            try loop.modify(
                link.registration, descriptor: link.descriptor,
                interest: isFull ? [.readable, .writable] : .readable)
        } catch {
            throw .connectionLost
        }
    }

    // MARK: Answers

    func ready(_ readiness: EpollReadiness, on loop: LoopContext) {
        guard case .connected(let link) = state else { return }
        do throws(PostgreSQLFailure) {
            try link.connection.consumeInput()
            try takeEvents(of: link.connection)
            try flush()
        } catch {
            return lose()
        }
        if link.connection.isLost { return lose() }
        sendWaiting()
    }

    func resume(on loop: LoopContext) {}

    private func takeEvents(of connection: PostgreSQLConnection) throws(PostgreSQLFailure) {
        while true {
            switch connection.next() {
            case .nothing: return
            case .outcome(let result): sent.first?.result = result
            case .finished: try finishFirst()
            }
        }
    }

    private func finishFirst() throws(PostgreSQLFailure) {
        guard let first = sent.popFirst() else { return }
        let result = first.result ?? .failure(.connectionLost)
        if case .connected(var link) = state, !link.hasAnswered {
            link.hasAnswered = true
            state = .connected(link)
            failures = 0
        }
        if !first.isAnswered { first.call.give(result) }
        if case .failure(let error) = result, error.endsConnection { throw error }
    }

    // MARK: Deadlines

    private func setTimer() {
        // Calls have their deadlines in the order in which they came.
        let silenceEnds = sent.first.map { $0.call.deadline + limits.call }
        let nextOfSent = sent.first(where: { !$0.isAnswered })?.call.deadline
        timer = [silenceEnds, nextOfSent, waiting.first?.deadline].compactMap { $0 }.min().map { deadline in
            loop.schedule(at: deadline) { [weak self] in self?.deadlineCame() }
        }
    }

    private func deadlineCame() {
        timer = nil
        let now = loop.now
        while let first = waiting.first, first.deadline <= now {
            waiting.popFirst()?.give(.failure(.timedOut))
        }
        var isSilent = false
        sent.updatePrefix { entry in
            guard entry.call.deadline <= now else { return false }
            if !entry.isAnswered { entry.call.give(.failure(.timedOut)) }
            entry.isAnswered = true
            isSilent = isSilent || entry.call.deadline + limits.call <= now
            return true
        }
        if isSilent { lose() }
        setTimer()
    }

    // MARK: Connecting

    private func startConnecting() {
        state = .connecting
        loop.spawn { [self] in connected(await connect()) }
    }

    private func connected(_ result: Result<PostgreSQLConnection, PostgreSQLFailure>) {
        guard case .connecting = state else { return }
        switch result {
        case .success(let connection): adopt(connection)
        case .failure: pause()
        }
    }

    private func adopt(_ connection: PostgreSQLConnection) {
        let descriptor = connection.descriptor
        do throws(EventLoopError) {
            let registration = try loop.register(self, descriptor: descriptor, interest: .readable)
            state = .connected(Link(connection: connection, registration: registration, descriptor: descriptor))
            connectedChanged(true)
        } catch {
            return pause()
        }
        sendWaiting()
    }

    /// Waits before the next attempt; meanwhile nothing waits here.
    private func pause() {
        for call in waiting.takeAll() { call.give(.failure(.connectionLost)) }
        let longest = limits.reconnectAfterMaximum
        let delay = min(limits.reconnectAfter * Double(1 << min(failures, 10)), longest)
        failures += 1
        state = .pausing(loop.schedule(after: delay) { [weak self] in self?.startConnecting() })
    }

    /// Ends a broken connection and begins anew.
    private func lose() {
        guard case .connected(let link) = state else { return }
        state = .connecting
        let isYoung = !link.hasAnswered
        unregister(link)
        if isYoung { pause() } else { startConnecting() }
    }

    private func unregister(_ link: Link) {
        loop.unregister(link.registration, descriptor: link.descriptor)
        connectedChanged(false)
        for entry in sent.takeAll() where !entry.isAnswered { entry.call.give(.failure(.connectionLost)) }
    }

    func loopStops(_ loop: LoopContext) { stop() }

    /// Answers everything and ends the connection.
    func stop() {
        switch state {
        case .connected(let link): unregister(link)
        case .pausing(let timer): loop.cancel(timer)
        case .connecting, .stopped: break
        }
        state = .stopped
        if let timer { loop.cancel(timer) }
        timer = nil
        for call in waiting.takeAll() { call.give(.failure(.connectionLost)) }
    }
}
