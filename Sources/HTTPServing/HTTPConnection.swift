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
    private(set) var peer: HTTPPeer
    private let loop: LoopContext
    private let services: LoopServices
    private let closed: (HTTPConnection) -> Void
    private let openedAt: MonotonicTime
    /// The address against whose limit this connection counts.
    private var countedAddress: IPAddress?
    /// The link in the list of the loop's idle connections.
    var idleLink = IdleConnections.Link()
    private var state = HTTPConnectionState.arriving
    /// The memory that is charged to the budget.
    private var charged = HeldMemory(connection: HeldMemory.connectionSize)
    /// Whether a request was answered since the connection was last added to the idle ones.
    private var hasAnswered = false
    /// The number of requests without room in memory after which a connection ends.
    private static let memoryRefusalsMaximum = 16
    private var memoryRefusalCount = 0
    /// Whether the client has sent anything.
    private(set) var hasReceived = false

    private var transport: Transport
    private var registration: RegistrationID?
    private var driver: any ConnectionDriver
    private var deadline = ConnectionDeadline()
    /// How many bytes were dropped since the connection began to linger; `nil` if it does not linger.
    private var lingerSize: Int?

    /// The bytes that the kernel has not taken yet.
    private var unsent: ArraySlice<UInt8> = []
    /// Whether the server is shutting down.
    private(set) var isDraining = false
    /// Whether the kernel may have more input, which no further edge announces.
    private(set) var mayHaveInput = false
    /// Whether the peer has closed its side. Bytes that it sent before may still be unread.
    private(set) var peerHasEnded = false
    /// Whether all input was read, up to the end of the peer's stream.
    private var inputHasEnded = false
    private var isResumeScheduled = false
    private var awaitsInputTurn = false
    /// Whether the connection is in its loop's list of lost connections.
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

    /// Begins to read, unless the connection was closed while it waited to be started.
    ///
    /// The first request of a client has often arrived by now. It is read immediately, because the event that announces
    /// it may come after those of thousands of other connections.
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
        // A request may have arrived that no event has announced yet.
        mayHaveInput = true
        readOnce()
        if isOpen && !isLingering { driver.drain(on: self) }
        settle()
    }

    /// Closes immediately.
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
        // A client that sends more does not get additional turns.
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

    /// Processes one more piece of the input. `InputTurns` calls it on an open connection.
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

    /// Notes that the client is gone. The connection reads no more, and ends when its turn comes.
    private func lose() {
        guard !isLost else { return }
        isLost = true
        services.lostConnections.append(self)
    }

    /// Closes the connection because its client is gone. `LostConnections` calls it.
    func endLost() {
        if isOpen { close(reset: false) }
    }

    private func deadlinePassed() {
        guard isOpen else { return }
        if isLingering { close(reset: true) } else { driver.deadlinePassed(on: self) }
        settle()
    }

    // MARK: State and memory

    /// Updates the connection's state and its charges to the memory budget after an event.
    private func settle() {
        guard isOpen else { return }
        noteState()
        charge()
    }

    private func noteState() {
        let new = isLingering ? .closing : driver.state
        if new == state && !(hasAnswered && new == .idle) { return }
        // A request that was answered immediately changes no count that the loops share.
        if new != state {
            resources.connectionEnded(state)
            resources.connectionBegan(new)
        }
        // The connection goes to the end of the list even if it was in the list already.
        if new.isEvictable { services.idleConnections.append(self) } else { services.idleConnections.remove(self) }
        state = new
        hasAnswered = false
    }

    /// Charges the memory that is held. If it does not fit, requests that are still arriving are refused, newest first;
    /// then the connection ends.
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

    /// Whether the connection ends because too many of its requests found no room.
    ///
    /// The connection of a trusted proxy does not end, because it carries the requests of many clients.
    private var endsAfterRefusals: Bool {
        countedAddress != nil && memoryRefusalCount >= Self.memoryRefusalsMaximum
    }

    private var held: HeldMemory {
        var held = isLingering ? HeldMemory() : driver.heldMemory
        held.connection += HeldMemory.connectionSize + (transport.hasTLS ? HeldMemory.tlsSize : 0)
        // Output that the client takes immediately is not held.
        held.outbound = isCongested ? held.outbound + unsent.count : 0
        return held.inSteps
    }

    private func proceed() {
        if isReading { readOnce() } else { driver.socketReady(on: self) }
    }

    // MARK: Reading

    /// Reads at most once, so that no connection delays the others. The rest is read in a later turn.
    private func readOnce() {
        guard mayHaveInput, isReading else { return }
        switch transport.read(into: &services.input, now: loop.now) {
        case .bytes(let count, let mayHaveMore):
            // If the peer has ended, no further edge announces the end of the stream, so it must still be read.
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

    /// Lends the read bytes to the driver.
    ///
    /// The reference to the shared buffer ends with this method. Otherwise the next read would have to copy the buffer.
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

    /// Writes the shared buffer.
    ///
    /// The reference to the buffer ends with this method. Otherwise the next response would have to copy the buffer.
    private func writeShared() -> WriteOutcome {
        let output = services.output
        return transport.write(output.span)
    }

    private func keepUnsent(from position: Int) {
        // The bytes are copied, because the next connection uses the shared buffer.
        unsent = Array(services.output[position...])[...]
        if position > 0 { requestResume() }
    }

    private func writeUnsent() {
        switch transport.write(unsent.span) {
        case .written(let count):
            unsent.removeFirst(count)
            // The kernel may still have room, which no edge announces.
            guard unsent.isEmpty else { return requestResume() }
            unsent = []
            if isLingering { finishLinger() } else { driver.outputDrained(on: self) }
        case .wouldBlock: break
        case .failed: close(reset: false)
        }
    }

    /// Continues to linger after the last output was sent.
    private func finishLinger() {
        if inputHasEnded { close(reset: false) } else { transport.finishWriting() }
    }

    // MARK: Deadlines

    /// Sets the timer if it would fire too late. A timer that fires too early is set again then.
    ///
    /// So most requests need no change of the timer.
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

    /// Closes a connection that has not begun, or that the stopping loop did not register.
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

// MARK: Methods for drivers

extension HTTPConnection {
    /// Whether the connection is still open. After it is closed, the methods of this extension do nothing.
    var isOpen: Bool { registration != nil }

    /// The present time on the loop's clock.
    var now: MonotonicTime { loop.now }

    /// The time since the connection was accepted.
    var age: Duration { loop.now - openedAt }

    /// The deadline for the first byte of the next request. It is shorter if the client has sent nothing yet.
    var firstByteDeadline: MonotonicTime {
        hasReceived ? now + listener.limits.idleDeadline : handshakeDeadline
    }

    /// The deadline for the steps before HTTP.
    var handshakeDeadline: MonotonicTime { openedAt + listener.limits.handshakeDeadline }

    /// The deadline for the steps before HTTP while the server is shutting down.
    var drainDeadline: MonotonicTime { min(handshakeDeadline, now + listener.limits.drainPatience) }

    /// The present value of the `Date` field, 29 bytes.
    var date: [UInt8] { services.date() }

    /// Lends the input to `body` and leaves it in the kernel, so that it can be read later, also by OpenSSL. Empty
    /// input means that the peer has ended.
    ///
    /// Returns `nil` without calling `body` if there is no input, or if the connection is lost and was therefore
    /// closed. `body` must not call a method of the connection.
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

    /// Drops `count` bytes, which `peek` has lent before.
    func skip(_ count: Int) {
        if isOpen { transport.skip(count) }
    }

    /// Takes the address of the client from its proxy, and counts the connection under this address.
    ///
    /// Returns the reason if the connection must be refused.
    func admit(client: SocketAddress) -> HTTPConnectionRefusal? {
        peer.address = client
        peer.hasProxyHeader = true
        // The address may belong to another trusted proxy, which connects for many clients.
        guard let address = client.ip, !listener.settings.trustedProxies.contains(address) else { return nil }
        if let refusal = listener.admitAddress(address) { return refusal }
        countedAddress = address
        return nil
    }

    /// Closes the connection because it is not served, or no longer served. It may also be called before `start`.
    func refuse(_ reason: HTTPConnectionRefusal) {
        guard transport.isOpen else { return }
        listener.observer.connectionRefused(peer, because: reason)
        // An evicted idle connection is closed without a reset, so that its client can safely use another one.
        close(reset: reason != .evicted || state == .arriving)
    }

    /// Begins TLS, before anything was read. Returns `false` if there is no memory for it.
    ///
    /// From then on, OpenSSL reads and writes the socket.
    func startTLS(_ context: TLSContext) -> Bool {
        guard isOpen, transport.startTLS(context, limits: listener.limits, now: now) else { return false }
        // A handshake would be wasted if there is no memory for the connection.
        charge()
        return isOpen
    }

    /// Continues the TLS handshake as far as the socket allows.
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

    /// Passes the connection to the next driver, and lets it read immediately.
    ///
    /// Input may have arrived already, which no further event announces. After a TLS handshake, OpenSSL may hold input.
    func handOver(to next: any ConnectionDriver) {
        guard isOpen else { return }
        start(next)
        mayHaveInput = true
        if isOpen { proceed() }
    }

    /// Passes the connection to the driver of this protocol, with the bytes that were read to choose the protocol.
    ///
    /// The driver that has chosen the protocol must not use these bytes afterwards.
    @discardableResult
    func speak(_ chosen: ApplicationProtocol, beginningWith bytes: Span<UInt8>) -> any ConnectionDriver {
        let driver = chosen.makeDriver(for: listener)
        start(driver)
        if isOpen && !bytes.isEmpty { driver.received(bytes, on: self) }
        return driver
    }

    /// Whether the peer is a trusted proxy, so that the connection carries the requests of many clients.
    ///
    /// After a PROXY header, the peer is the client that the header names.
    var isFromTrustedProxy: Bool { listener.settings.trustedProxies.contains(peer.address) }

    /// Whether output waits for the kernel. `ConnectionDriver.outputDrained` is called when the kernel has taken it.
    ///
    /// Further output waits in memory meanwhile. A driver that produces output by itself must stop until then.
    var isCongested: Bool { !unsent.isEmpty }

    /// Sends the bytes that `fill` appends to its array. The array may contain other bytes already.
    ///
    /// Returns `true` if the kernel has taken everything. Otherwise `ConnectionDriver.outputDrained` follows, or the
    /// connection has closed. `fill` must not call the connection.
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

    /// Sets the instant at which `ConnectionDriver.deadlinePassed` is called. It replaces the previous one;
    /// `.distantFuture` means never.
    func setDeadline(_ instant: MonotonicTime) {
        guard isOpen else { return }
        deadline.instant = instant
        armTimer()
    }

    /// Requests a call of `ConnectionDriver.resumed` in the next turn of the loop, after other connections' turns.
    func requestResume() {
        guard isOpen, !isResumeScheduled else { return }
        isResumeScheduled = true
        loop.resumeNextTurn(self)
    }

    /// Requests a turn among the connections that have more input. In its turn, the connection reads, or calls
    /// `ConnectionDriver.inputTurnCame`.
    func requestInputTurn() {
        guard isOpen, !awaitsInputTurn else { return }
        awaitsInputTurn = true
        services.inputTurns.wait(self)
    }

    /// Reads input that may have arrived without an event, before the driver stops to wait. It may call the driver.
    func readOnceMore() {
        guard isOpen else { return }
        mayHaveInput = true
        readOnce()
    }

    /// Passes a request to the handler. `ConnectionDriver.respond` is called with the token when the handler answers.
    ///
    /// If the handler answers immediately, it is called before this method returns, otherwise from a task on this loop.
    /// Any number of requests may be in flight.
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
        case .stream(let head, let begin):
            beginBody(of: head, to: stream, begin)
        }
    }

    /// Sends the head of a response, and passes its body to the handler.
    private func beginBody(of head: HTTPResponse, to stream: StreamToken, _ begin: (HTTPBodyStream) -> Void) {
        guard let body = HTTPBodyStream(stream, of: self, on: loop, charging: resources.memory) else {
            return driver.respond(refusal(of: .overloaded), to: stream, on: self)
        }
        driver.respond(head, streaming: body, to: stream, on: self)
        guard body.isOpen else { return }
        begin(body)
        if isDraining || peerHasEnded { body.finish() }
    }

    /// A streamed body has more bytes for the client, or is finished.
    func bodyChanged(of stream: StreamToken) {
        guard isOpen, !isLingering else { return }
        driver.bodyChanged(of: stream, on: self)
        settle()
    }

    /// Ends a streamed response whose client does not read.
    func abandonBody(of stream: StreamToken) {
        guard isOpen, !isLingering else { return }
        driver.abandonBody(of: stream, on: self)
        settle()
    }

    /// Asks the handler how to treat the body that belongs to this head.
    func decideBody(of head: HTTPRequestHead) -> HTTPBodyDecision {
        let request = HTTPRequest(head: head, body: [], peer: peer(of: head))
        return listener.settings.handler.decideBody(of: request, on: loop)
    }

    /// Returns the peer of a request. If a trusted proxy has sent the request, its fields name the client's address.
    private func peer(of head: HTTPRequestHead) -> HTTPPeer {
        let proxies = listener.settings.trustedProxies
        guard !proxies.isEmpty else { return peer }
        var peer = peer
        // After a PROXY header, the address is already the client's, and the client has written the fields.
        peer.isBehindTrustedProxy = proxies.contains(peer.address)
        peer.address = proxies.client(of: peer.address, head.fields)
        return peer
    }

    /// Returns the handler's response to input that did not become a request, and informs the observer.
    func refusal(of problem: HTTPProblem) -> HTTPResponse {
        listener.observer.inputRefused(peer, problem)
        return listener.settings.handler.refusal(of: problem, from: peer, on: loop)
    }

    /// Informs the observer about a request whose response the kernel has taken.
    func report(_ exchange: HTTPExchange) {
        hasAnswered = true
        guard let status = exchange.status else { return }
        if isOpen { transport.answered() }
        listener.observer.requestFinished(
            peer, method: exchange.method, status: status, after: loop.now - exchange.startedAt)
    }

    /// Ends the output after the bytes that are still unsent. Closes when the peer has ended too, or when the linger
    /// limits are reached.
    ///
    /// If the connection closed immediately, further bytes of the peer would cause a reset, which could destroy the
    /// last response. After this, the driver only gets `closed`.
    func linger() {
        guard isOpen else { return }
        if inputHasEnded && !isCongested { return close(reset: false) }
        if !isCongested { transport.finishWriting() }
        lingerSize = 0
        setDeadline(loop.now + listener.limits.lingerDeadline)
        if mayHaveInput { requestInputTurn() }
    }

    /// Closes the connection with a reset, and counts the reason.
    func end(because abuse: ConnectionAbuse) {
        guard isOpen else { return }
        count(abuse)
        close(reset: true)
    }

    /// Counts the reason for which the caller ends the connection.
    func count(_ abuse: ConnectionAbuse) {
        listener.observer.connectionAbused(peer, abuse)
    }

    /// Closes immediately. With `reset`, the peer gets a reset, which tells it that data was lost.
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

/// The deadline of a connection, and its timer.
struct ConnectionDeadline {
    /// The deadline.
    var instant = MonotonicTime.distantFuture
    /// When the timer fires. It is never later than `instant`, and often earlier.
    var timerInstant = MonotonicTime.distantFuture
    var timer: TimerID?
}
