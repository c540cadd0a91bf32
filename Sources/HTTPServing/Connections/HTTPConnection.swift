import EventLoops
import HTTPMessages
import POSIXSockets
import Synchronization
import Telemetry

/// One connection of a listener, from accept to close, on one loop.
///
/// It moves bytes between the transport and a driver, passes requests to the handler, and keeps the deadline. Only the
/// driver interprets the bytes, from a PROXY header to HTTP/2. The descriptor is registered once and edge-triggered. So
/// a request on a connection that stays open costs one read and one write, and no call to epoll.
///
/// A task that answers a request keeps this object alive, but not its socket. If the connection is lost meanwhile, the
/// response is discarded.
///
/// Safe to send: it is made and used on its loop only, and the task of a request runs there too.
final class HTTPConnection: LoopChannel, @unchecked Sendable {
    let listener: ListenerState
    var peer: HTTPPeer
    let loop: LoopContext
    let services: LoopServices
    private let closed: (HTTPConnection) -> Void
    let openedAt: MonotonicTime

    private var phase = ConnectionPhase.accepted
    var transport: Transport
    private(set) var driver: any ConnectionDriver
    /// What is known about the input. Drivers read it.
    var input = ConnectionInput()
    private var turns: AwaitedTurns = []
    private var deadline = ConnectionDeadline()
    var account: ConnectionAccount
    /// The links in the lists of the idle connections of the loop and of the network.
    var idleLinks = IdleConnections.Links()
    /// The connections of the same network; nil if the connection is not counted under an address.
    var network: NetworkConnections?
    /// Whether the connection has a place that is kept for health checks, and is served nothing else.
    private(set) var isForHealth = false

    init(
        _ socket: consuming ConnectedSocket, from peer: HTTPPeer, countedAs address: IPAddress?,
        forHealth: Bool = false, of listener: ListenerState, firstDriver: any ConnectionDriver,
        sharing services: LoopServices, closed: @escaping (HTTPConnection) -> Void
    ) {
        self.peer = peer
        self.listener = listener
        loop = services.loop
        self.services = services
        self.closed = closed
        openedAt = loop.now
        transport = Transport(socket)
        driver = firstDriver
        account = ConnectionAccount(of: listener, countedAs: address, hasHealthPlace: forHealth)
        if let address { services.add(self, to: address.clientNetwork) }
        if forHealth { keepForHealth() }
        listener.connectionObjects.add(1, ordering: .relaxed)
        listener.observer.connectionOpened(peer)
    }

    deinit {
        listener.connectionObjects.subtract(1, ordering: .relaxed)
    }

    /// Makes the connection serve health checks alone. There must be room for it among those.
    func keepForHealth() {
        isForHealth = true
        services.addForHealth(self)
    }

    /// Begins to read, unless the connection was closed while it waited to be started.
    ///
    /// The first request of a client has often arrived by now. It is read immediately, because the event that announces
    /// it may come after those of thousands of other connections.
    func start() {
        guard case .accepted = phase else { return }
        do throws(EventLoopError) {
            phase = .serving(
                try loop.register(
                    self, descriptor: transport.descriptor,
                    interest: [.readable, .writable, .peerClosed, .onlyChanges]))
        } catch {
            return close(reset: true)
        }
        services.noteIdleness(of: self, true)
        driver.started(on: self)
        input.mayHaveArrived()
        if isOpen { proceed() }
        settle()
    }

    /// Lets the requests in flight finish, then closes.
    func drain() {
        guard case .serving(let registration) = phase else { return }
        phase = .draining(registration)
        // A request may have arrived that no event has announced yet.
        readOnceMore()
        if isServed { driver.drain(on: self) }
        settle()
    }

    /// Closes immediately.
    func abort() {
        close(reset: true)
    }

    /// Whether the connection is open. If it is not, the methods for drivers do nothing.
    var isOpen: Bool { phase.registration != nil }

    /// Whether the driver gets events.
    var isServed: Bool { phase.isServed }

    /// Whether the driver finishes what has begun, because the server is shutting down.
    var isDraining: Bool { phase.isDraining }

    private var isLingering: Bool { phase.isLingering }

    // MARK: Events of the loop

    func ready(_ readiness: EpollReadiness, on loop: LoopContext) {
        if readiness.isLost { return lose() }
        input.note(readiness, readWaitsForRoom: transport.readWaitsForRoom)
        if readiness.contains(.writable) && isCongested { writeRest() }
        // A client that sends more does not get additional turns.
        if isOpen && !turns.contains(.input) { proceed() }
        settle()
    }

    func resume(on loop: LoopContext) {
        turns.remove(.output)
        guard isOpen else { return }
        if isCongested { writeRest() }
        if isServed { driver.resumed(on: self) }
        settle()
    }

    /// Processes one more piece of the input. `InputTurns` calls it on an open connection.
    func takeInputTurn() {
        turns.remove(.input)
        if isReading {
            readOnce()
        } else {
            driver.inputTurnCame(on: self)
            if isOpen && input.mayHaveMore && isReading { requestInputTurn() }
        }
        settle()
    }

    func loopStops(_ loop: LoopContext) {
        close(reset: true)
    }

    /// Notes that the client is gone. The connection reads no more, and ends when its turn comes.
    private func lose() {
        if turns.insert(.end).inserted { services.lostConnections.append(self) }
    }

    /// Closes the connection because its client is gone. `LostConnections` calls it.
    func endLost() {
        if isServed { driver.lost(on: self) }
        if isOpen { close(reset: false) }
    }

    private func timerFired() {
        guard deadline.timerFired(at: now) else { return armTimer() }
        guard isOpen else { return }
        if isLingering { close(reset: true) } else { driver.deadlinePassed(on: self) }
        settle()
    }

    // MARK: State and memory

    /// Updates the connection's state and its charges to the memory budget after an event.
    func settle() {
        guard isOpen else { return }
        let state = isLingering ? .closing : driver.state
        if account.enter(state) { services.noteIdleness(of: self, state.isEvictable) }
        charge()
    }

    /// Charges the memory that is held. If it does not fit, requests that are still arriving are refused, newest first;
    /// then the connection ends.
    func charge() {
        while isOpen, let share = account.charge(held) {
            switch share {
            case .heads, .bodies:
                switch driver.makeRoom(on: self, mayRefuse: account.mayRefuseRequests) {
                case .none: return refuse(.memory)
                case .answered: break
                case .request: account.refusedRequest()
                }
            case .connections:
                if !services.evictLongestIdle(otherThan: self) { return refuse(.memory) }
            case .outbound, .requests:
                return refuse(.memory)
            }
        }
    }

    private var held: HeldMemory {
        var held = isLingering ? HeldMemory() : driver.heldMemory
        held.connection += HeldMemory.connectionSize + (transport.hasTLS ? HeldMemory.tlsSize : 0)
        // Output that the client takes immediately is not held.
        held.outbound = isCongested ? held.outbound + transport.unsentSize : 0
        return held.inSteps
    }

    // MARK: Reading

    private var isReading: Bool { isLingering || driver.isReading }

    private func proceed() {
        if isReading { readOnce() } else { driver.socketReady(on: self) }
    }

    /// Reads at most once, so that no connection delays the others. The rest is read in a later turn.
    private func readOnce() {
        guard input.mayHaveMore, isReading else { return }
        switch transport.read(into: &services.input, now: now) {
        case .bytes(let count, let mayHaveMore):
            input.tookBytes(mayHaveMore: mayHaveMore)
            take(count)
            if isOpen && input.mayHaveMore && isReading { requestInputTurn() }
        case .turnIsSpent:
            requestInputTurn()
        case .wouldBlock:
            input.tookAll()
        case .endOfInput:
            input.tookEnd()
            if !isLingering { driver.inputEnded(on: self) } else if !isCongested { close(reset: false) }
        case .failed:
            close(reset: false)
        case .abused:
            end(because: .smallRecords)
        }
    }

    private func take(_ count: Int) {
        guard case .lingering(let registration, let droppedSize) = phase else { return passOn(count) }
        phase = .lingering(registration, droppedSize: droppedSize + count)
        if droppedSize + count > listener.limits.lingerSizeMaximum { close(reset: true) }
    }

    /// Lends the read bytes to the driver.
    ///
    /// The reference to the shared buffer ends with this method. Otherwise the next read would have to copy the buffer.
    private func passOn(_ count: Int) {
        let input = services.input
        driver.received(input.span.extracting(first: count), on: self)
    }

    /// Reads input that may have arrived without an event, before the driver stops to wait. It may call the driver.
    func readOnceMore() {
        guard isOpen else { return }
        input.mayHaveArrived()
        readOnce()
    }

    /// Requests a turn among the connections that have more input. In its turn, the connection reads, or calls
    /// `ConnectionDriver.inputTurnCame`.
    func requestInputTurn() {
        if isOpen, turns.insert(.input).inserted { services.inputTurns.wait(self) }
    }

    // MARK: Writing

    /// Whether output waits for the kernel. `ConnectionDriver.outputDrained` is called when the kernel has taken it.
    ///
    /// Further output waits in memory meanwhile. A driver that produces output by itself must stop until then.
    var isCongested: Bool { transport.isCongested }

    /// Sends the bytes that `fill` appends to its array. The array may contain other bytes already.
    ///
    /// Returns `true` if the kernel has taken everything. Otherwise `ConnectionDriver.outputDrained` follows, or the
    /// connection has closed. `fill` must not call the connection.
    @discardableResult
    func write(_ fill: (inout [UInt8]) -> Void) -> Bool {
        guard isOpen else { return false }
        if isCongested {
            transport.appendUnsent(fill)
            return false
        }
        services.output.removeAll(keepingCapacity: true)
        fill(&services.output)
        return services.output.isEmpty || isSent(writeShared())
    }

    /// Writes the shared buffer.
    ///
    /// The reference to the buffer ends with this method. Otherwise the next response would have to copy the buffer.
    private func writeShared() -> SendOutcome {
        let output = services.output
        return transport.send(output)
    }

    private func writeRest() {
        guard isSent(transport.sendRest()) else { return }
        guard isLingering else { return driver.outputDrained(on: self) }
        // The last output was sent.
        if input.hasEnded { close(reset: false) } else { transport.finishWriting() }
    }

    /// Returns whether the kernel has taken all output. If the kernel may have more room, the connection writes again.
    private func isSent(_ outcome: SendOutcome) -> Bool {
        switch outcome {
        case .sent: return true
        case .waits(let mayHaveRoom): if mayHaveRoom { requestResume() }
        case .failed: close(reset: false)
        }
        return false
    }

    /// Requests a call of `ConnectionDriver.resumed` in the next turn of the loop, after other connections' turns.
    func requestResume() {
        if isOpen, turns.insert(.output).inserted { loop.resumeNextTurn(self) }
    }

    // MARK: Time

    /// The present time on the loop's clock.
    var now: MonotonicTime { loop.now }

    /// The time since the connection was accepted.
    var age: Duration { now - openedAt }

    /// Sets the instant at which `ConnectionDriver.deadlinePassed` is called. It replaces the previous one;
    /// `.distantFuture` means never.
    func setDeadline(_ instant: MonotonicTime) {
        guard isOpen else { return }
        deadline.instant = instant
        armTimer()
    }

    private func armTimer() {
        deadline.arm(on: loop) { instant in loop.schedule(at: instant) { [self] in timerFired() } }
    }

    // MARK: Drivers and the end

    /// Passes the connection to the next driver, and lets it read immediately.
    ///
    /// Input may have arrived already, which no further event announces. After a TLS handshake, OpenSSL may hold input.
    func handOver(to next: any ConnectionDriver) {
        guard isOpen else { return }
        start(next)
        input.mayHaveArrived()
        if isOpen { proceed() }
    }

    /// Passes the connection to the next driver, with the bytes that were read to choose it.
    ///
    /// The driver that has chosen it must not use these bytes afterwards.
    func handOver(to next: any ConnectionDriver, beginningWith bytes: Span<UInt8>) {
        start(next)
        if isOpen && !bytes.isEmpty { next.received(bytes, on: self) }
    }

    private func start(_ next: any ConnectionDriver) {
        driver = next
        next.started(on: self)
        if isDraining { next.drain(on: self) }
    }

    /// Ends the output after the bytes that are still unsent. Closes when the peer has ended too, or when the linger
    /// limits are reached.
    ///
    /// If the connection closed immediately, further bytes of the peer would cause a reset, which could destroy the
    /// last response. After this, the driver only gets `closed`.
    func linger() {
        guard let registration = phase.registration else { return }
        if input.hasEnded && !isCongested { return close(reset: false) }
        if !isCongested { transport.finishWriting() }
        phase = .lingering(registration, droppedSize: 0)
        setDeadline(now + listener.limits.lingerDeadline)
        if input.mayHaveMore { requestInputTurn() }
    }

    /// Closes the connection because it is not served, or no longer served. It may also be called before `start`.
    func refuse(_ reason: HTTPConnectionRefusal) {
        if phase.isClosed { return }
        listener.observer.connectionRefused(peer, because: reason)
        // An evicted idle connection is closed without a reset, so that its client can safely use another one.
        close(reset: !reason.isEviction || account.state == .arriving)
    }

    /// Closes immediately. With `reset`, the peer gets a reset, which tells it that data was lost.
    func close(reset: Bool) {
        if phase.isClosed { return }
        let registration = phase.registration
        phase = .closed
        if let registration { loop.unregister(registration, descriptor: transport.descriptor) }
        deadline.cancel(on: loop)
        transport.close(reset: reset)
        driver.closed()
        services.remove(self)
        account.close()
        listener.observer.connectionClosed(peer, after: age)
        closed(self)
    }
}
