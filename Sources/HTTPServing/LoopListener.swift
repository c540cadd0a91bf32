import EventLoops
import POSIXSockets

/// One loop's share of a listener: its listening socket and the connections that it accepted.
///
/// Safe to send: made on one thread before its loop knows it, and used only on that loop afterwards.
final class LoopListener: LoopChannel, @unchecked Sendable {
    /// So many accepted connections begin per turn, so that a flood of new ones does not starve those that are there.
    static let startsPerTurnMaximum = 16
    /// So many connections are accepted per turn. A loop that accepts more than it begins leaves less to the others of
    /// a shared socket.
    static let acceptsPerTurnMaximum = startsPerTurnMaximum
    /// The same while more of them wait than that. To accept one costs a tenth of what it costs to serve it, so what
    /// comes behind a flood is soon known, and has its turn among the networks (`StartQueue`).
    static let floodAcceptsPerTurnMaximum = 128
    /// More connections than the kernel queues for a listener, so that accepting the rest of them has an end.
    static let queueSizeMaximum = 8192
    /// So many idle connections are closed at most to make room for a new one.
    static let evictionsPerConnectionMaximum = 4
    /// How long to wait when no descriptor is left.
    static let backOff = Duration.milliseconds(50)

    let loop: LoopContext
    private let state: ListenerState
    private let services: LoopLocal<LoopServices>
    private let group: EventLoopGroup
    private var socket: ListeningSocket
    private var reserve: ReserveDescriptor
    /// Not there while the listener rests, and once it has ended.
    private var registration: RegistrationID?
    private var hasEnded = false
    private var backOffTimer: TimerID?
    private var connections: [ObjectIdentifier: HTTPConnection] = [:]
    /// Those of `connections` that have not begun, and others that closed before they did.
    private var startQueue = StartQueue<HTTPConnection>()
    private var isStartScheduled = false
    /// Whether the last turn left connections with the kernel.
    private var isFlooded = false
    /// Whether connections end as soon as their requests are answered.
    private var isDraining = false
    private var drainEnd: (deadline: TimerID, done: (Int) -> Void)?

    init(
        _ socket: consuming ListeningSocket, on loop: LoopContext, _ state: ListenerState,
        _ services: LoopLocal<LoopServices>, in group: EventLoopGroup
    ) throws(SocketError) {
        self.loop = loop
        self.state = state
        self.services = services
        self.group = group
        self.socket = socket
        reserve = try ReserveDescriptor()
    }

    /// Begins to accept.
    func start() throws(EventLoopError) {
        registration = try loop.register(
            self, descriptor: socket.number, interest: socket.isShared ? [.readable, .exclusive] : .readable,
            comesFirst: true)
    }

    // MARK: Accepting

    func ready(_ readiness: EpollReadiness, on loop: LoopContext) {
        let limit = isFlooded ? Self.floodAcceptsPerTurnMaximum : Self.acceptsPerTurnMaximum
        isFlooded = false
        for _ in 0..<limit {
            guard registration != nil else { return }
            switch socket.accept() {
            case .accepted(let connection): take(connection)
            case .failed: continue
            case .wouldBlock: return
            case .outOfDescriptors: return shedAndBackOff()
            }
        }
        isFlooded = true
    }

    func resume(on loop: LoopContext) {
        isStartScheduled = false
        for _ in 0..<Self.startsPerTurnMaximum {
            guard let connection = startQueue.next() else { break }
            connection.start()
            if isDraining { connection.drain() }
        }
        if !startQueue.isEmpty { scheduleStarts() }
    }

    private func scheduleStarts() {
        guard !isStartScheduled else { return }
        isStartScheduled = true
        loop.resumeNextTurn(self)
    }

    private func take(_ socket: consuming ConnectedSocket) {
        let peer = HTTPPeer(address: socket.peer.unmapped, listener: state.settings.name)
        let isProxy = state.settings.trustedProxies.contains(peer.address)
        // A proxy's connections are its clients'.
        let countedAddress = isProxy ? nil : peer.address.ip
        if let refusal = refusal(isProxy: isProxy, countedAddress) {
            state.observer.connectionRefused(peer, because: refusal)
            // A reset, because a close in good order would keep the pair in TIME_WAIT.
            return socket.resetOnClose()
        }
        let connection = HTTPConnection(
            socket, peer, countedAs: countedAddress, of: state, loop.value(of: services),
            closed: { [weak self] in self?.forget($0) })
        connections[ObjectIdentifier(connection)] = connection
        startQueue.append(connection, of: countedAddress?.clientNetwork)
        scheduleStarts()
    }

    private func refusal(isProxy: Bool, _ countedAddress: IPAddress?) -> HTTPConnectionRefusal? {
        if state.settings.expectsProxyHeader && !isProxy { return .notAProxy }
        guard let refusal = state.admit(countedAddress) else { return nil }
        guard refusal.yieldsToEviction else { return refusal }
        // Another loop may take the place that was made.
        for _ in 0..<Self.evictionsPerConnectionMaximum where makeRoom() {
            if state.admit(countedAddress) == nil { return nil }
        }
        // Here no connection is idle. The next one finds the room that the other loops make.
        askOtherLoopsForRoom()
        return refusal
    }

    /// Closes the connection that has been idle for the longest time, or else one that has not begun.
    private func makeRoom() -> Bool {
        if loop.value(of: services).evictLongestIdle() { return true }
        guard let connection = startQueue.giveUp() else { return false }
        connection.refuse(.evicted)
        return true
    }

    private func askOtherLoopsForRoom() {
        for other in group.loops where !other.isCurrent {
            let services = services
            other.execute { _ = other.value(of: services).evictLongestIdle() }
        }
    }

    private func forget(_ connection: HTTPConnection) {
        connections[ObjectIdentifier(connection)] = nil
        finishDrainIfDone()
    }

    /// Without a descriptor no connection can be accepted, and the one that waits would keep the loop spinning: the
    /// reserve lets it in so that it can be turned away, then the listener rests.
    private func shedAndBackOff() {
        reserve.lend {
            if case .accepted(let connection) = socket.accept() {
                let peer = HTTPPeer(address: connection.peer, listener: state.settings.name)
                connection.resetOnClose()
                state.observer.connectionRefused(peer, because: .outOfDescriptors)
            }
        }
        pause()
    }

    /// The socket leaves the loop's set: what is watched for exclusively cannot be changed there.
    private func pause() {
        guard let registration else { return }
        self.registration = nil
        loop.unregister(registration, descriptor: socket.number)
        rest()
    }

    private func endPause() {
        backOffTimer = nil
        guard !hasEnded else { return }
        do throws(EventLoopError) {
            guard reserve.restore() else { return rest() }
            try start()
        } catch {
            rest()
        }
    }

    private func rest() {
        backOffTimer = loop.schedule(after: Self.backOff) { [weak self] in self?.endPause() }
    }

    // MARK: Ending

    /// Stops accepting; what was not accepted yet is reset.
    func stopAccepting() {
        if let backOffTimer { loop.cancel(backOffTimer) }
        backOffTimer = nil
        hasEnded = true
        if let registration { loop.unregister(registration, descriptor: socket.number) }
        registration = nil
        socket.close()
    }

    /// From now on every answer ends its connection, and the kernel begins no new TCP connection. Handshakes that have
    /// begun end, and are accepted, until `drain`.
    func beginEnd() {
        // A unix socket has no handshake, and would be readable all the time.
        if !hasEnded && !socket.isPassed && socket.address.port != nil { socket.refuseNewConnections() }
        beginDraining()
    }

    private func beginDraining() {
        guard !isDraining else { return }
        isDraining = true
        for connection in connections.values { connection.drain() }
    }

    /// Takes the connections that the kernel has queued: their clients may have sent requests, which closing the socket
    /// would reset.
    ///
    /// A queue that systemd has passed stays for the next process.
    private func acceptTheRest() {
        guard !hasEnded, !socket.isPassed else { return }
        socket.refuseNewConnections()
        for _ in 0..<Self.queueSizeMaximum {
            switch socket.accept() {
            case .accepted(let connection): take(connection)
            case .failed: continue
            case .wouldBlock: return
            case .outOfDescriptors: return
            }
        }
    }

    /// Stops accepting and lets the requests in flight finish; `done` learns how many connections had to be cut off
    /// after `limit`.
    func drain(within limit: Duration, done: @escaping (Int) -> Void) {
        acceptTheRest()
        stopAccepting()
        guard drainEnd == nil else { return done(0) }
        let deadline = loop.schedule(after: limit) { [self] in cutOff() }
        drainEnd = (deadline, done)
        beginDraining()
        finishDrainIfDone()
    }

    func loopStops(_ loop: LoopContext) {
        stopAccepting()
        cutOff()
    }

    private func cutOff() {
        let rest = Array(connections.values)
        connections = [:]
        startQueue = StartQueue()
        let end = drainEnd
        drainEnd = nil
        for connection in rest { connection.abort() }
        end?.done(rest.count)
    }

    private func finishDrainIfDone() {
        guard connections.isEmpty, let drainEnd else { return }
        self.drainEnd = nil
        loop.cancel(drainEnd.deadline)
        drainEnd.done(0)
    }
}
