import EventLoops
import POSIXSockets

/// The part of a listener on one loop: its listening socket and the connections that it accepted.
///
/// Safe to send: it is made on one thread before its loop uses it, and afterwards used only on that loop.
final class LoopListener: LoopChannel, @unchecked Sendable {
    /// The most accepted connections that begin in one turn, so that many new ones do not delay existing ones.
    static let startsPerTurnMaximum = 16
    /// The most connections that are accepted in one turn.
    ///
    /// If a loop accepted more than it can begin, the other loops of a shared socket would get fewer.
    static let acceptsPerTurnMaximum = startsPerTurnMaximum
    /// The most connections that are accepted in one turn if more than `acceptsPerTurnMaximum` wait.
    ///
    /// Accepting a connection costs a tenth of serving it. So connections after a flood are soon accepted, and get
    /// their turn among the networks (`StartQueue`).
    static let floodAcceptsPerTurnMaximum = 128
    /// The most connections that `acceptTheRest` accepts. It is more than the kernel queues for a listener.
    static let queueSizeMaximum = 8192
    /// The most idle connections that are closed to make room for a new one.
    static let evictionsPerConnectionMaximum = 4
    /// How long the listener pauses if no descriptor is left.
    static let backOff = Duration.milliseconds(50)

    let loop: LoopContext
    private let state: ListenerState
    private var socket: ListeningSocket
    private var reserve: ReserveDescriptor
    /// The registration of the socket; nil while the listener pauses, and after it has ended.
    private var registration: RegistrationID?
    private var hasEnded = false
    private var backOffTimer: TimerID?
    private var connections: [ObjectIdentifier: HTTPConnection] = [:]
    /// The connections that have not begun, including those that closed before they began.
    private var startQueue = StartQueue<HTTPConnection>()
    private var isStartScheduled = false
    /// Whether the last turn left connections in the kernel's queue.
    private var isFlooded = false
    /// Whether connections end when their requests are answered.
    private var isDraining = false
    private var drainEnd: (deadline: TimerID, done: (Int) -> Void)?

    init(
        _ socket: consuming ListeningSocket, on loop: LoopContext, _ state: ListenerState
    ) throws(SocketError) {
        self.loop = loop
        self.state = state
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
        // A connection of a proxy is not counted under the proxy's address, because it belongs to its clients.
        let address = isProxy ? nil : peer.address.ip
        let refusal = refusal(isProxy: isProxy, address)
        if let refusal {
            state.observer.connectionRefused(peer, because: refusal)
            // With a reset, the kernel does not keep the pair of addresses in TIME_WAIT.
            guard refusal != .notAProxy, state.admitForHealth(on: loop) else { return socket.resetOnClose() }
        }
        let connection = HTTPConnection(
            socket, from: peer, countedAs: refusal == nil ? address : nil, forHealth: refusal != nil, of: state,
            firstDriver: state.makeFirstDriver(isFromProxy: isProxy), sharing: services,
            closed: { [weak self] in self?.forget($0) })
        connections[ObjectIdentifier(connection)] = connection
        startQueue.append(connection, of: refusal == nil ? address?.clientNetwork : nil)
        scheduleStarts()
    }

    private var services: LoopServices { loop.value(of: state.services) }

    private func refusal(isProxy: Bool, _ address: IPAddress?) -> HTTPConnectionRefusal? {
        if state.settings.expectsProxyHeader && !isProxy { return .notAProxy }
        if let address, !state.admitNetwork(address, on: loop) { return .tooManyConnectionsFromAddress }
        guard let refusal = state.admit() else { return nil }
        // Another loop may take the place that becomes free.
        for _ in 0..<Self.evictionsPerConnectionMaximum where makeRoom() {
            if state.admit() == nil { return nil }
        }
        // This loop has no idle connection. The next new connection can use the room that the other loops make.
        askOtherLoopsForRoom()
        if let address { state.releaseNetwork(address) }
        return refusal
    }

    /// Closes the connection that has been idle for the longest time. If none is idle, closes one that has not begun.
    private func makeRoom() -> Bool {
        if services.evictLongestIdle() { return true }
        guard let connection = startQueue.giveUp() else { return false }
        connection.refuse(.evicted)
        return true
    }

    private func askOtherLoopsForRoom() {
        for other in state.loops where !other.isCurrent {
            other.execute { [state] in _ = other.value(of: state.services).evictLongestIdle() }
        }
    }

    private func forget(_ connection: HTTPConnection) {
        connections[ObjectIdentifier(connection)] = nil
        finishDrainIfDone()
    }

    /// Refuses one connection with the reserve descriptor, then pauses the listener.
    ///
    /// Without a free descriptor, no connection can be accepted, and the waiting one would keep the loop busy.
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

    /// Removes the socket from the loop's epoll set for a while. An exclusive registration cannot be changed there.
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

    /// Stops accepting. Connections that were not accepted yet are reset.
    func stopAccepting() {
        if let backOffTimer { loop.cancel(backOffTimer) }
        backOffTimer = nil
        hasEnded = true
        if let registration { loop.unregister(registration, descriptor: socket.number) }
        registration = nil
        socket.close()
    }

    /// Makes every answer end its connection, and makes the kernel refuse new TCP connections.
    ///
    /// Until `drain`, handshakes that have begun can finish, and their connections are accepted.
    func beginEnd() {
        // A unix socket has no handshake, and after this call would always be readable.
        if !hasEnded && !socket.isPassed && socket.address.port != nil { socket.refuseNewConnections() }
        beginDraining()
    }

    private func beginDraining() {
        guard !isDraining else { return }
        isDraining = true
        for connection in connections.values { connection.drain() }
    }

    /// Accepts the connections in the kernel's queue. Their clients may have sent requests, and closing the socket
    /// would reset them.
    ///
    /// The queue of a socket from systemd is left for the next process.
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

    /// Stops accepting, and lets the requests in flight finish. `done` gets the number of connections that were closed
    /// because `limit` was reached.
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
