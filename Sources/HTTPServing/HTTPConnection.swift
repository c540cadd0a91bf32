import EventLoops
import HTTPMessages
import POSIXSockets
import Synchronization
import Telemetry

/// One connection of a listener, from accept to close, on one loop.
///
/// It moves bytes between the transport and a driver, has requests answered, and keeps the deadline. What the bytes
/// mean, from a PROXY header to HTTP/2, is the driver's business alone. The descriptor is watched edge-triggered and
/// registered once, so a request on a connection that stays open costs one read and one write, and no call to epoll.
///
/// A task that answers a request keeps this object alive, but not its socket: when the connection is lost meanwhile,
/// the response finds the connection closed and goes nowhere.
///
/// Safe to send: it is made and used on its loop only; the task of a request runs there too.
final class HTTPConnection: LoopChannel, @unchecked Sendable {
    let listener: ListenerState
    private(set) var peer: HTTPPeer
    private let loop: LoopContext
    private let services: LoopServices
    private let closed: (HTTPConnection) -> Void
    private let openedAt: MonotonicTime
    /// The address whose limit this connection counts against.
    private var countedAddress: IPAddress?
    /// The place among the idle connections of the loop.
    var idleLink = IdleConnections.Link()
    private var state = HTTPConnectionState.arriving
    /// What is charged to the memory budget.
    private var charged = HeldMemory(connection: HeldMemory.connectionSize)
    /// Whether a request was answered since the connection was last put among the idle ones.
    private var hasAnswered = false
    /// So many requests of one connection may find no room; then the connection ends.
    private static let memoryRefusalsMaximum = 16
    private var memoryRefusalCount = 0
    /// Whether the client has sent anything.
    private(set) var hasReceived = false

    private var transport: Transport
    private var registration: RegistrationID?
    private var driver: any ConnectionDriver
    private var deadline = ConnectionDeadline()
    /// How many bytes were dropped since the connection began to linger; `nil` before.
    private var lingerSize: Int?

    /// What a partial write has left.
    private var unsent: ArraySlice<UInt8> = []
    /// Whether the server is going down.
    private(set) var isDraining = false
    /// The kernel may have more to read: no edge announces it again.
    private(set) var mayHaveInput = false
    /// The peer has closed its side; what it sent before may still be unread.
    private(set) var peerHasEnded = false
    /// Everything was read, up to the end of the peer's stream.
    private var inputHasEnded = false
    private var isResumeScheduled = false
    private var awaitsInputTurn = false
    /// Whether the connection is among the lost ones of its loop.
    private var isLost = false

    init(
        _ socket: consuming ConnectedSocket, _ peer: HTTPPeer, countedAs address: IPAddress?,
        of listener: ListenerState, _ services: LoopServices, closed: @escaping (HTTPConnection) -> Void
    ) {
        self.peer = peer
        countedAddress = address
        self.listener = listener
        loop = services.loop
        self.services = services
        self.closed = closed
        openedAt = loop.now
        transport = Transport(socket)
        driver = listener.makeFirstDriver(isFromProxy: listener.settings.trustedProxies.contains(peer.address))
        listener.connectionObjects.add(1, ordering: .relaxed)
        listener.observer.connectionOpened(peer)
        resources.connectionBegan(state)
    }

    deinit {
        listener.connectionObjects.subtract(1, ordering: .relaxed)
    }

    /// Begins to read; nothing happens if the connection has closed while it waited for that.
    ///
    /// The first request of a client has often come by now. It is read at once: the event that announces it may come
    /// behind those of thousands of other connections.
    func start() {
        guard transport.isOpen else { return }
        do throws(EventLoopError) {
            registration = try loop.register(
                self, descriptor: transport.descriptor, interest: [.readable, .writable, .peerClosed, .onlyChanges])
        } catch {
            return close(reset: true)
        }
        services.idleConnections.append(self)
        driver.started(on: self)
        mayHaveInput = true
        if isOpen { proceed() }
        settle()
    }

    private var resources: ServerResources { listener.resources }

    private func start(_ next: any ConnectionDriver) {
        driver = next
        next.started(on: self)
        if isOpen && isDraining { next.drain(on: self) }
    }

    /// Lets the requests in flight finish, then closes.
    func drain() {
        guard isOpen, !isLingering else { return }
        isDraining = true
        // A request may have come that no event has announced yet.
        mayHaveInput = true
        readOnce()
        if isOpen && !isLingering { driver.drain(on: self) }
        settle()
    }

    /// Closes at once.
    func abort() {
        close(reset: true)
    }

    // MARK: Events of the loop

    func ready(_ readiness: EpollReadiness, on loop: LoopContext) {
        if readiness.isLost { return lose() }
        if readiness.contains(.peerClosed) { peerHasEnded = true }
        if readiness.bringsInput { mayHaveInput = true }
        if readiness.contains(.writable) {
            if transport.readWaitsForRoom { mayHaveInput = true }
            if isCongested { writeUnsent() }
        }
        // A client does not get ahead of the others by sending more.
        if isOpen && !awaitsInputTurn { proceed() }
        settle()
    }

    func resume(on loop: LoopContext) {
        isResumeScheduled = false
        guard isOpen else { return }
        if isCongested { writeUnsent() }
        if isOpen && !isLingering { driver.resumed(on: self) }
        settle()
    }

    /// Looks at one more piece of the input. Called by `InputTurns` on an open connection.
    func takeInputTurn() {
        awaitsInputTurn = false
        if isReading {
            readOnce()
        } else {
            driver.inputTurnCame(on: self)
            if isOpen && mayHaveInput && isReading { requestInputTurn() }
        }
        settle()
    }

    func loopStops(_ loop: LoopContext) {
        close(reset: true)
    }

    /// The client has gone: nothing is read any more, and the connection ends when it is its turn.
    private func lose() {
        guard !isLost else { return }
        isLost = true
        services.lostConnections.append(self)
    }

    /// Closes the connection because its client has gone. Called by `LostConnections`.
    func endLost() {
        if isOpen { close(reset: false) }
    }

    private func deadlinePassed() {
        guard isOpen else { return }
        if isLingering { close(reset: true) } else { driver.deadlinePassed(on: self) }
        settle()
    }

    // MARK: What the connection costs

    /// Brings the connection's state and charges up to date after an event.
    private func settle() {
        guard isOpen else { return }
        noteState()
        charge()
    }

    private func noteState() {
        let new = isLingering ? .closing : driver.state
        if new == state && !(hasAnswered && new == .idle) { return }
        // A request that was answered at once changes no count that loops share.
        if new != state {
            resources.connectionEnded(state)
            resources.connectionBegan(new)
        }
        // Also a connection that has changed from one such state to another begins at the end.
        if new.isEvictable { services.idleConnections.append(self) } else { services.idleConnections.remove(self) }
        state = new
        hasAnswered = false
    }

    /// Charges what is held. If that does not fit, requests that are still arriving are refused, newest first; then the
    /// connection ends.
    private func charge() {
        while isOpen, let share = resources.memory.move(&charged, to: held, of: countedAddress?.clientNetwork) {
            switch share {
            case .heads, .bodies:
                switch driver.makeRoom(on: self, mayRefuse: !endsAfterRefusals) {
                case .none: return refuse(.memory)
                case .answered: break
                case .request: memoryRefusalCount += 1
                }
            case .connections:
                if !services.evictLongestIdle(otherThan: self) { return refuse(.memory) }
            case .outbound, .requests:
                return refuse(.memory)
            }
        }
    }

    /// A client that goes on although its requests found no room. A trusted proxy has many clients, and goes on for the
    /// others.
    private var endsAfterRefusals: Bool {
        countedAddress != nil && memoryRefusalCount >= Self.memoryRefusalsMaximum
    }

    private var held: HeldMemory {
        var held = isLingering ? HeldMemory() : driver.heldMemory
        held.connection += HeldMemory.connectionSize + (transport.hasTLS ? HeldMemory.tlsSize : 0)
        // What a client takes at once is not held.
        held.outbound = isCongested ? held.outbound + unsent.count : 0
        return held.inSteps
    }

    private func proceed() {
        if isReading { readOnce() } else { driver.socketReady(on: self) }
    }

    // MARK: Reading

    /// Reads at most once, so that no connection holds the others up; what is left comes in the next turn.
    private func readOnce() {
        guard mayHaveInput, isReading else { return }
        switch transport.read(into: &services.input, now: loop.now) {
        case .bytes(let count, let mayHaveMore):
            // The end of the stream may follow without an edge of its own.
            if !mayHaveMore && !peerHasEnded { mayHaveInput = false }
            hasReceived = true
            take(count)
            if isOpen && mayHaveInput && isReading { requestInputTurn() }
        case .turnIsSpent:
            requestInputTurn()
        case .wouldBlock:
            mayHaveInput = false
        case .endOfInput:
            mayHaveInput = false
            inputHasEnded = true
            if !isLingering { driver.inputEnded(on: self) } else if !isCongested { close(reset: false) }
        case .failed:
            close(reset: false)
        case .abused:
            end(because: .smallRecords)
        }
    }

    private var isReading: Bool { isLingering || driver.isReading }

    private func take(_ count: Int) {
        if let lingerSize {
            self.lingerSize = lingerSize + count
            if lingerSize + count > listener.limits.lingerSizeMaximum { close(reset: true) }
        } else {
            passOn(count)
        }
    }

    /// Lends the driver what was read. The shared buffer is not held beyond this, or the next read would have to copy
    /// it.
    private func passOn(_ count: Int) {
        let input = services.input
        driver.received(input.span.extracting(first: count), on: self)
    }

    // MARK: Writing

    private func writeOutput() -> Bool {
        switch writeShared() {
        case .written(services.output.count): return true
        case .written(let part): keepUnsent(from: part)
        case .wouldBlock: keepUnsent(from: 0)
        case .failed: close(reset: false)
        }
        return false
    }

    /// The shared buffer is not held beyond this, or the next response would have to copy it.
    private func writeShared() -> WriteOutcome {
        let output = services.output
        return transport.write(output.span)
    }

    private func keepUnsent(from position: Int) {
        // A copy with storage of its own: the shared buffer serves the next connection.
        unsent = Array(services.output[position...])[...]
        if position > 0 { requestResume() }
    }

    private func writeUnsent() {
        switch transport.write(unsent.span) {
        case .written(let count):
            unsent.removeFirst(count)
            // No edge announces room that is still there.
            guard unsent.isEmpty else { return requestResume() }
            unsent = []
            if isLingering { finishLinger() } else { driver.outputDrained(on: self) }
        case .wouldBlock: break
        case .failed: close(reset: false)
        }
    }

    /// The last output has gone.
    private func finishLinger() {
        if inputHasEnded { close(reset: false) } else { transport.finishWriting() }
    }

    // MARK: Deadlines

    /// The timer is only ever moved to an earlier time; one that fires early is set again. So a request costs no timer
    /// work.
    private func armTimer() {
        guard deadline.instant < deadline.timerInstant else { return }
        deadline.timerInstant = deadline.instant
        if let timer = deadline.timer, loop.reschedule(timer, at: deadline.instant) { return }
        deadline.timer = loop.schedule(at: deadline.instant) { [self] in timerFired() }
    }

    private func timerFired() {
        deadline.timer = nil
        deadline.timerInstant = .distantFuture
        guard loop.now >= deadline.instant else { return armTimer() }
        deadline.instant = .distantFuture
        deadlinePassed()
    }

    // MARK: Closing

    private var isLingering: Bool { lingerSize != nil }

    /// A connection that has not begun, or that the loop did not take because it stops.
    private func closeUnregistered() {
        guard transport.isOpen else { return }
        transport.close(reset: true)
        reportClosed()
    }

    private func reportClosed() {
        driver.closed()
        services.idleConnections.remove(self)
        resources.connectionEnded(state)
        _ = resources.memory.move(&charged, to: HeldMemory(), of: countedAddress?.clientNetwork)
        listener.release(countedAddress)
        listener.observer.connectionClosed(peer, after: age)
        closed(self)
    }
}

// MARK: What a driver asks for

extension HTTPConnection {
    /// Whether the connection is still open. Every method here does nothing after its end.
    var isOpen: Bool { registration != nil }

    /// The time on the loop's clock, read afresh.
    var now: MonotonicTime { loop.now }

    /// The time since the connection was accepted.
    var age: Duration { loop.now - openedAt }

    /// When the first byte of the next request must be there: a connection that has sent nothing at all has less time.
    var firstByteDeadline: MonotonicTime {
        hasReceived ? now + listener.limits.idleDeadline : handshakeDeadline
    }

    /// When what comes before HTTP must be over.
    var handshakeDeadline: MonotonicTime { openedAt + listener.limits.handshakeDeadline }

    /// The same for a server that goes down.
    var drainDeadline: MonotonicTime { min(handshakeDeadline, now + listener.limits.drainPatience) }

    /// The value of the `Date` field now, 29 bytes.
    var date: [UInt8] { services.date() }

    /// Lends what has come, and leaves it there to be seen again or read by OpenSSL. Empty input means that the peer
    /// has ended.
    ///
    /// Returns `nil` without calling `body` if nothing has come, or if the connection is lost and therefore closed.
    /// `body` must not call a method of the connection.
    func peek<Result>(_ body: (Span<UInt8>) -> Result) -> Result? {
        guard isOpen else { return nil }
        let outcome = transport.peek(into: &services.input)
        let input = services.input
        switch outcome {
        case .bytes(let count): return body(input.span.extracting(first: count))
        case .endOfInput: return body(input.span.extracting(first: 0))
        case .wouldBlock: return nil
        case .failed:
            close(reset: false)
            return nil
        }
    }

    /// Drops so many bytes, which `peek` has lent.
    func skip(_ count: Int) {
        if isOpen { transport.skip(count) }
    }

    /// Takes the address of the client from its proxy, and counts the connection under it; returns why it must be
    /// refused, if it must.
    func admit(client: SocketAddress) -> HTTPConnectionRefusal? {
        peer.address = client
        peer.hasProxyHeader = true
        // Behind one proxy there may be another, which connects for many clients.
        guard let address = client.ip, !listener.settings.trustedProxies.contains(address) else { return nil }
        if let refusal = listener.admitAddress(address) { return refusal }
        countedAddress = address
        return nil
    }

    /// Closes the connection because it must not be served at all, or not any longer. It may not have begun.
    func refuse(_ reason: HTTPConnectionRefusal) {
        guard transport.isOpen else { return }
        listener.observer.connectionRefused(peer, because: reason)
        // A client whose connection was idle learns of the end in good order, and may ask again on another one.
        close(reset: reason != .evicted || state == .arriving)
    }

    /// Begins TLS, before anything was read; `false` if there is no memory for it. OpenSSL reads and writes the socket
    /// from then on.
    func startTLS(_ context: TLSContext) -> Bool {
        guard isOpen, transport.startTLS(context, limits: listener.limits, now: now) else { return false }
        // A handshake is not worth its time if the connection finds no room.
        charge()
        return isOpen
    }

    /// Goes on with the TLS handshake as far as the socket allows.
    func shakeHands() -> HandshakeOutcome {
        guard isOpen else { return .wouldBlock }
        let outcome = transport.handshake(now: now)
        if outcome == .done {
            peer.tls = transport.tlsFacts
            hasReceived = true
        }
        return outcome
    }

    /// The protocol that the TLS handshake has agreed on; `nil` if the client offered none.
    var agreedProtocol: ApplicationProtocol? { transport.applicationProtocol }

    /// Hands the connection to the next driver, which gets what has come already: no event announces that again, and
    /// after a TLS handshake OpenSSL may hold it.
    func handOver(to next: any ConnectionDriver) {
        guard isOpen else { return }
        start(next)
        mayHaveInput = true
        if isOpen { proceed() }
    }

    /// Hands the connection to the driver of this protocol, with what was read already: what chose the protocol must
    /// forget it.
    @discardableResult
    func speak(_ chosen: ApplicationProtocol, beginningWith bytes: Span<UInt8>) -> any ConnectionDriver {
        let driver = chosen.makeDriver(for: listener)
        start(driver)
        if isOpen && !bytes.isEmpty { driver.received(bytes, on: self) }
        return driver
    }

    /// Whether a trusted proxy is at the other end: the connection then carries the requests of many clients.
    ///
    /// Behind a PROXY header this is about the client that the header names.
    var isFromTrustedProxy: Bool { listener.settings.trustedProxies.contains(peer.address) }

    /// Whether output waits for the kernel; `ConnectionDriver.outputDrained` comes when it is gone.
    ///
    /// What is written meanwhile waits in memory: a driver that makes output of its own accord stops until then.
    var isCongested: Bool { !unsent.isEmpty }

    /// Sends the bytes that `fill` appends to the array that it is given (which may hold others already), in one write
    /// if the kernel takes them.
    ///
    /// Returns `true` when everything has gone to the kernel. Otherwise either `ConnectionDriver.outputDrained`
    /// follows, or the connection has closed. `fill` must not call the connection.
    @discardableResult
    func write(_ fill: (inout [UInt8]) -> Void) -> Bool {
        guard isOpen else { return false }
        if isCongested {
            var output = Array(unsent)
            fill(&output)
            unsent = output[...]
            return false
        }
        services.output.removeAll(keepingCapacity: true)
        fill(&services.output)
        return services.output.isEmpty || writeOutput()
    }

    /// Has `ConnectionDriver.deadlinePassed` called at this instant, unless another is set before; `.distantFuture` for
    /// never.
    func setDeadline(_ instant: MonotonicTime) {
        guard isOpen else { return }
        deadline.instant = instant
        armTimer()
    }

    /// Has `ConnectionDriver.resumed` called in the next turn, after other connections had theirs.
    func requestResume() {
        guard isOpen, !isResumeScheduled else { return }
        isResumeScheduled = true
        loop.resumeNextTurn(self)
    }

    /// Has `ConnectionDriver.inputTurnCame` called, and reads, when it is this connection's turn among those that have
    /// more input.
    func requestInputTurn() {
        guard isOpen, !awaitsInputTurn else { return }
        awaitsInputTurn = true
        services.inputTurns.wait(self)
    }

    /// Reads now what may have come without an event, before the driver gives up the wait. It may come back to the
    /// driver.
    func readOnceMore() {
        guard isOpen else { return }
        mayHaveInput = true
        readOnce()
    }

    /// Has the handler answer a request: `ConnectionDriver.respond` is called with the token, before this returns when
    /// the handler answers at once, from a task on this loop otherwise. Any number may be in flight.
    func dispatch(_ head: HTTPRequestHead, body: [UInt8], as stream: StreamToken) {
        guard isOpen else { return }
        let request = HTTPRequest(head: head, body: body, peer: peer(of: head))
        switch listener.settings.handler.answer(request, on: loop) {
        case .now(let response):
            driver.respond(response, to: stream, on: self)
        case .later(let work):
            let size = request.memorySize
            guard resources.requestBegan(size: size) else {
                return driver.respond(refusal(of: .overloaded), to: stream, on: self)
            }
            let loop = loop
            loop.spawn { [self] in
                let response = await work(loop)
                resources.requestEnded(size: size)
                if isOpen && !isLingering { driver.respond(response, to: stream, on: self) }
                settle()
            }
        }
    }

    /// Has the handler decide what becomes of the body that belongs to this head.
    func decideBody(of head: HTTPRequestHead) -> HTTPBodyDecision {
        let request = HTTPRequest(head: head, body: [], peer: peer(of: head))
        return listener.settings.handler.decideBody(of: request, on: loop)
    }

    /// The peer as the request's own fields let it be known.
    private func peer(of head: HTTPRequestHead) -> HTTPPeer {
        let proxies = listener.settings.trustedProxies
        guard !proxies.isEmpty else { return peer }
        var peer = peer
        // Behind a PROXY header the address is the client's already, and the fields are the client's own.
        peer.isBehindTrustedProxy = proxies.contains(peer.address)
        peer.address = proxies.client(of: peer.address, head.fields)
        return peer
    }

    /// The handler's response to what never became a request, which the observer hears of.
    func refusal(of problem: HTTPProblem) -> HTTPResponse {
        listener.observer.inputRefused(peer, problem)
        return listener.settings.handler.refusal(of: problem, from: peer, on: loop)
    }

    /// Tells the observer of a request whose response has gone to the kernel.
    func report(_ exchange: HTTPExchange) {
        hasAnswered = true
        guard let status = exchange.status else { return }
        if isOpen { transport.answered() }
        listener.observer.requestFinished(
            peer, method: exchange.method, status: status, after: loop.now - exchange.startedAt)
    }

    /// Sends the end of our stream behind what is still unsent, and closes once the peer has ended too or the linger
    /// limits are reached: what it still sends would otherwise reset the connection and could destroy the last
    /// response. The driver hears only of `closed` after this.
    func linger() {
        guard isOpen else { return }
        if inputHasEnded && !isCongested { return close(reset: false) }
        if !isCongested { transport.finishWriting() }
        lingerSize = 0
        setDeadline(loop.now + listener.limits.lingerDeadline)
        if mayHaveInput { requestInputTurn() }
    }

    /// Ends the connection by a reset, and counts why.
    func end(because abuse: ConnectionAbuse) {
        guard isOpen else { return }
        count(abuse)
        close(reset: true)
    }

    /// Counts why the connection ends; the caller ends it.
    func count(_ abuse: ConnectionAbuse) {
        listener.observer.connectionAbused(peer, abuse)
    }

    /// Closes at once; with `reset` the peer is told that something was lost.
    func close(reset: Bool) {
        guard let registration else { return closeUnregistered() }
        self.registration = nil
        loop.unregister(registration, descriptor: transport.descriptor)
        if let timer = deadline.timer { loop.cancel(timer) }
        unsent = []
        transport.close(reset: reset)
        reportClosed()
    }
}

/// The one deadline of a connection, and the timer that watches it.
struct ConnectionDeadline {
    /// When the connection's patience ends.
    var instant = MonotonicTime.distantFuture
    /// When the timer fires: never later than `instant`, often earlier.
    var timerInstant = MonotonicTime.distantFuture
    var timer: TimerID?
}
