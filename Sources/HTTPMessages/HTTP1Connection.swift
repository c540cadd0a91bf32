/// An HTTP/1.1 connection as a server sees it: bytes and answers in, actions out. It has no socket, no clock and no
/// task.
///
/// One request is in flight at a time. The owner of the socket carries the actions out, stops reading while a request
/// is being answered, and measures the deadline that `phase` names; input that came early waits in here.
///
///     waiting ─ first byte ─> head ─> body ─> answering ─ respond ─> writing ─ sent ─> waiting
///        any of the first three ─ problem ─> writing ─ sent ─> closed
///
/// After a problem nothing is ever read as a request again, so no second response can follow the refusal.
package struct HTTP1Connection: ~Copyable, Sendable {
    /// What the connection waits for.
    package enum Phase: Equatable, Sendable {
        /// The first byte of a request.
        case waiting
        /// The rest of a head.
        case head
        /// The rest of a body, of which so many bytes have arrived.
        case body(received: Int)
        /// The handler.
        case answering
        /// The kernel, to take the response.
        case writing
        /// Nothing: the connection is over.
        case closed
    }

    /// What the owner of the socket has to do.
    package enum Action: Equatable, Sendable {
        /// Read, and pass on what comes.
        case read
        /// Write the interim response `100 Continue`, then read.
        case sendContinue
        /// Have this request answered, then call `respond`. Do not read meanwhile.
        case dispatch(HTTPRequestMessage)
        /// Have this problem answered, then call `respond`. Drop what the peer still sends.
        case refuse(HTTPProblem)
        /// Close; nothing is to be written.
        case close
        /// Send the end of the stream, and close only after the peer has ended too or the linger limits are reached:
        /// what it still sends would otherwise reset the connection and could destroy the last response.
        case linger
    }

    private enum State: Sendable {
        case waiting
        case head(HTTPHeadParser)
        case sizedBody(HTTPRequestHead, remaining: Int)
        case chunkedBody(HTTPRequestHead, ChunkedBodyDecoder)
        case answering(Ending, HTTPResponsePlan)
        case writing(Ending)
        case closed
    }

    /// What follows a response.
    private enum Ending: Sendable {
        /// The next request.
        case nextRequest
        /// The end, which the peer asked for.
        case close
        /// The end, though the peer may go on sending.
        case linger
    }

    private let limits: HTTPLimits
    private var state = State.waiting
    private var body: [UInt8] = []
    /// How many bytes of the body have arrived, dropped ones included.
    private var bodySize = 0
    /// Whether the body is read and not kept.
    private var dropsBody = false
    /// The head of a request whose body is still arriving, until `takeUndecidedHead`.
    private var undecidedHead: HTTPRequestHead?
    /// Input that was not looked at begins at `earlyStart`.
    private var early: [UInt8] = []
    private var earlyStart = 0
    private var requestCount = 0
    private var isDraining = false
    /// Whether an empty line has come before the request that is awaited.
    private var hasSkippedEmptyLine = false

    /// A connection on which nothing has happened.
    package init(limits: HTTPLimits) {
        self.limits = limits
    }

    /// What the connection waits for, which decides the deadline that runs.
    package var phase: Phase {
        switch state {
        case .waiting: .waiting
        case .head: .head
        case .sizedBody, .chunkedBody: .body(received: bodySize)
        case .answering: .answering
        case .writing: .writing
        case .closed: .closed
        }
    }

    /// Whether input is here that has not been looked at; `resume` looks at it.
    package var hasEarlyInput: Bool { earlyStart < early.count }

    /// What is held of a head, and of input that was not looked at, in bytes. A request that is being answered is not
    /// counted.
    package var headMemory: Int {
        switch state {
        case .waiting, .answering, .writing, .closed: early.capacity
        case .head(let parser): early.capacity + parser.memorySize
        case .sizedBody(let head, _), .chunkedBody(let head, _): early.capacity + head.memorySize
        }
    }

    /// What is held of a body, in bytes.
    package var bodyMemory: Int { body.capacity }

    // MARK: Events

    /// Bytes have arrived.
    package mutating func received(_ bytes: Span<UInt8>) -> Action {
        switch state {
        case .waiting, .head, .sizedBody, .chunkedBody:
            guard !hasEarlyInput else {
                keep(bytes)
                return resume()
            }
            let (action, consumed) = process(bytes)
            if consumed < bytes.count { early = bytes.copy(consumed..<bytes.count) }
            return action
        case .answering, .writing:
            keep(bytes)
            return .read
        case .closed:
            return .close
        }
    }

    /// It is time to look at input that came early: after a response, once others had their turn.
    package mutating func resume() -> Action {
        switch state {
        case .waiting, .head, .sizedBody, .chunkedBody: break
        case .answering, .writing: return .read
        case .closed: return .close
        }
        guard hasEarlyInput else { return .read }
        let (bytes, start) = (early, earlyStart)
        dropEarlyInput()
        let (action, consumed) = process(bytes.span.extracting(start..<bytes.count))
        // What follows stays where it is: many small requests may have come in one read.
        if start + consumed < bytes.count { (early, earlyStart) = (bytes, start + consumed) }
        return action
    }

    /// The peer sends no more. A request that is complete is still answered; half a request is dropped.
    package mutating func inputEnded() -> Action {
        switch state {
        case .waiting, .head, .sizedBody, .chunkedBody, .closed:
            state = .closed
            return .close
        case .answering, .writing:
            isDraining = true
            return .read
        }
    }

    /// The deadline of the current phase has passed.
    package mutating func deadlinePassed() -> Action {
        switch state {
        case .head(let parser) where parser.hasBegun: return refuse(.headTimeout, isHead: false)
        case .sizedBody(let head, _), .chunkedBody(let head, _):
            return refuse(.bodyTimeout, isHead: head.method == .head)
        case .answering: return .read
        case .waiting, .head, .writing, .closed:
            state = .closed
            return .close
        }
    }

    /// There is no memory for what has arrived: refuses the request that is arriving. Nil if none is.
    package mutating func refuseForMemory() -> Action? {
        switch state {
        case .head, .sizedBody, .chunkedBody: refuse(.overloaded, isHead: isHeadRequest)
        case .waiting, .answering, .writing, .closed: nil
        }
    }

    /// The server is going down, and bytes that came before are still to be received: the next response announces the
    /// end.
    package mutating func announceDrain() {
        isDraining = true
    }

    /// The server is going down: the request that has begun, or the next one, is the last.
    ///
    /// A connection that waits for a request stays: its client may have sent one already, and would lose it by a
    /// close. The owner gives it a short time.
    package mutating func drain() {
        isDraining = true
    }

    /// The response is about to be written: tells how. `closing` ends the connection after it.
    package mutating func respond(closing: Bool) -> HTTPResponsePlan {
        guard case .answering(let ending, var plan) = state else { preconditionFailure("a response without a request") }
        let mustEnd = closing || isDraining || requestCount >= limits.requestsPerConnectionMaximum
        switch ending {
        case .nextRequest where !mustEnd:
            state = .writing(.nextRequest)
        case .nextRequest, .linger:
            state = .writing(.linger)
            plan.connection = .close
        case .close:
            state = .writing(.close)
            plan.connection = .close
        }
        return plan
    }

    /// The kernel has taken the whole response. `.read` also when early input waits for `resume`.
    package mutating func responseSent() -> Action {
        guard case .writing(let ending) = state else { preconditionFailure("a response was sent in \(phase)") }
        let action: Action
        (state, action) =
            switch ending {
            case .nextRequest where !isDraining: (.waiting, .read)
            case .nextRequest, .linger: (.closed, .linger)
            case .close: (.closed, .close)
            }
        return action
    }

    // MARK: Bodies that are not wanted

    /// The head of a request whose body has not arrived whole, once: its owner may decide by it what becomes of the
    /// body.
    ///
    /// Until `dropBody` or `refuseBody` the body is kept.
    package mutating func takeUndecidedHead() -> HTTPRequestHead? {
        defer { undecidedHead = nil }
        return undecidedHead
    }

    /// The answer does not depend on the body that is arriving: it is read and dropped, and the request is dispatched
    /// without it.
    package mutating func dropBody() {
        switch state {
        case .sizedBody, .chunkedBody: (dropsBody, body) = (true, [])
        case .waiting, .head, .answering, .writing, .closed: break
        }
    }

    /// The request whose body is arriving is refused by its head: `respond` follows. The rest of the input is dropped.
    package mutating func refuseBody() {
        endReading(isHead: isHeadRequest)
    }

    // MARK: Input that came early

    private mutating func keep(_ bytes: Span<UInt8>) {
        early.removeFirst(earlyStart)
        earlyStart = 0
        bytes.append(0..<bytes.count, to: &early)
    }

    private mutating func dropEarlyInput() {
        early = []
        earlyStart = 0
    }

    // MARK: Reading

    /// Reads what the state asks for. After a problem everything counts as consumed.
    private mutating func process(_ bytes: Span<UInt8>) -> (Action, consumed: Int) {
        var position = 0
        do throws(HTTPProblem) {
            let action = try advance(bytes, &position)
            return (action, position)
        } catch {
            return (refuse(error, isHead: isHeadRequest), bytes.count)
        }
    }

    private mutating func advance(_ bytes: Span<UInt8>, _ position: inout Int) throws(HTTPProblem) -> Action {
        switch state {
        case .waiting:
            let parser = HTTPHeadParser(limits: limits, isAfterEmptyLine: hasSkippedEmptyLine)
            return try advanceHead(parser, bytes, &position)
        case .head(let parser):
            return try advanceHead(parser, bytes, &position)
        case .sizedBody(let head, let remaining):
            return advanceSizedBody(head, remaining, bytes, &position)
        case .chunkedBody(let head, let decoder):
            return try advanceChunkedBody(head, decoder, bytes, &position)
        case .answering, .writing, .closed:
            preconditionFailure("input is not looked at in \(phase)")
        }
    }

    private mutating func advanceHead(
        _ parser: HTTPHeadParser, _ bytes: Span<UInt8>, _ position: inout Int
    ) throws(HTTPProblem) -> Action {
        var parser = parser
        guard let (head, size) = try parser.parse(bytes) else {
            noteIncompleteHead(parser, bytes.count, &position)
            return .read
        }
        position = size
        let hasBodyBytes = size < bytes.count
        switch head.transfer.framing {
        case .none:
            return dispatch(head)
        case .length(let length):
            state = .sizedBody(head, remaining: length)
            guard length <= limits.bodySizeMaximum(at: head.target.path) else { throw .bodyTooLarge }
            beginBody()
            return try startBody(head, hasBodyBytes, bytes, &position)
        case .chunked:
            state = .chunkedBody(head, ChunkedBodyDecoder(limits: limits, path: head.target.path))
            beginBody()
            return try startBody(head, hasBodyBytes, bytes, &position)
        case .stream:
            preconditionFailure("the head of another protocol version")
        }
    }

    /// An empty line alone, which some clients send behind a body, is no beginning of a request: it is taken, and the
    /// wait goes on.
    private mutating func noteIncompleteHead(_ parser: HTTPHeadParser, _ size: Int, _ position: inout Int) {
        guard !parser.hasBegun, size > 0, parser.emptyLineSize == size else {
            state = .head(parser)
            return
        }
        hasSkippedEmptyLine = true
        position = size
        state = .waiting
    }

    /// RFC 9110 section 10.1.1: no interim response once the body has begun to arrive.
    private mutating func startBody(
        _ head: HTTPRequestHead, _ hasBodyBytes: Bool, _ bytes: Span<UInt8>, _ position: inout Int
    ) throws(HTTPProblem) -> Action {
        let action: Action
        if hasBodyBytes {
            action = try advance(bytes, &position)
        } else {
            action = head.transfer.expectsContinue ? .sendContinue : .read
        }
        if case .dispatch = action { return action }
        undecidedHead = head
        return action
    }

    private mutating func beginBody() {
        (body, bodySize, dropsBody) = ([], 0, false)
    }

    private mutating func advanceSizedBody(
        _ head: HTTPRequestHead, _ remaining: Int, _ bytes: Span<UInt8>, _ position: inout Int
    ) -> Action {
        let taken = min(remaining, bytes.count - position)
        if !dropsBody { bytes.append(position..<position + taken, to: &body) }
        bodySize += taken
        position += taken
        guard taken == remaining else {
            state = .sizedBody(head, remaining: remaining - taken)
            return .read
        }
        return dispatch(head)
    }

    private mutating func advanceChunkedBody(
        _ head: HTTPRequestHead, _ decoder: ChunkedBodyDecoder, _ bytes: Span<UInt8>, _ position: inout Int
    ) throws(HTTPProblem) -> Action {
        var decoder = decoder
        let isComplete = try decoder.decode(bytes, from: &position, into: &body)
        bodySize = decoder.bodySize
        if dropsBody { body = [] }
        guard isComplete else {
            state = .chunkedBody(head, decoder)
            return .read
        }
        return dispatch(head)
    }

    private mutating func dispatch(_ head: HTTPRequestHead) -> Action {
        requestCount += 1
        hasSkippedEmptyLine = false
        let plan = HTTPResponsePlan(
            omitsBody: head.method == .head,
            connection: head.version == .http10 && head.transfer.keepsAlive ? .keepAlive : .unmentioned)
        state = .answering(head.transfer.keepsAlive ? .nextRequest : .close, plan)
        let message = HTTPRequestMessage(head: head, body: body)
        body = []
        undecidedHead = nil
        return .dispatch(message)
    }

    private mutating func refuse(_ problem: HTTPProblem, isHead: Bool) -> Action {
        endReading(isHead: isHead)
        return .refuse(problem)
    }

    private mutating func endReading(isHead: Bool) {
        body = []
        undecidedHead = nil
        dropEarlyInput()
        isDraining = true
        state = .answering(.linger, HTTPResponsePlan(omitsBody: isHead, connection: .close))
    }

    private var isHeadRequest: Bool {
        switch state {
        case .sizedBody(let head, _), .chunkedBody(let head, _): head.method == .head
        case .waiting, .head, .answering, .writing, .closed: false
        }
    }
}
