/// The state machine of a server's HTTP/1.1 connection. It takes bytes and answers, and returns actions. It has no
/// socket, no clock and no task.
///
/// One request is in flight at a time. The owner of the socket carries out the actions, stops reading while a request
/// is being answered, and sets the deadline of each `phase`. Input that arrives early waits in this type.
///
///     waiting ─ first byte ─> head ─> body ─> answering ─ respond ─> writing ─ sent ─> waiting
///        any of the first three ─ problem ─> writing ─ sent ─> closed
///
/// After a problem, further input is never parsed as a request, so no second response can follow the refusal.
package struct HTTP1Connection: ~Copyable, Sendable {
    /// The phase of the connection, by what it waits for.
    package enum Phase: Equatable, Sendable {
        /// The connection waits for the first byte of a request.
        case waiting
        /// The connection waits for the rest of a head.
        case head
        /// The connection waits for the rest of a body, of which this many bytes have arrived.
        case body(received: Int)
        /// The connection waits for the handler.
        case answering
        /// The connection waits until the kernel has taken the response.
        case writing
        /// The connection has ended.
        case closed
    }

    /// What the owner of the socket must do.
    package enum Action: Equatable, Sendable {
        /// Read, and pass the bytes to `received`.
        case read
        /// Write the interim response `100 Continue`, then read.
        case sendContinue
        /// Pass this request to the handler, then call `respond`. Do not read meanwhile.
        case dispatch(HTTPRequestMessage)
        /// Make the answer to this problem, then call `respond`. Drop further input. `takeRefusedHead` has the head.
        case refuse(HTTPProblem)
        /// Close without writing anything.
        case close
        /// End the output. Close only when the peer has ended too, or when the linger limits are reached.
        ///
        /// If the socket were closed immediately, further bytes of the peer would cause a reset, which could destroy
        /// the last response.
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

    /// What happens after a response.
    private enum Ending: Sendable {
        /// The next request may follow.
        case nextRequest
        /// The connection closes, because the peer asked for it.
        case close
        /// The connection closes, but the peer may still send.
        case linger
    }

    /// The body of a request, while it is read.
    private struct ArrivingBody: Sendable {
        var bytes: [UInt8] = []
        /// How many bytes have arrived, including dropped ones.
        var size = 0
        /// Whether the body is read but not kept.
        var isDropped = false
        /// Whether `takeUndecidedHead` must return the head of the request.
        var isUndecided = false
    }

    private let limits: HTTPLimits
    private var state = State.waiting
    private var body = ArrivingBody()
    private var early = EarlyInput()
    private var refusedHead: HTTPRequestHead?
    private var requestCount = 0
    /// Whether the client of the last request knows chunks.
    private var knowsChunks = true
    private var isDraining = false
    /// Whether an empty line has arrived before the awaited request.
    private var hasSkippedEmptyLine = false

    /// Makes the state of a new connection.
    package init(limits: HTTPLimits) {
        self.limits = limits
    }

    /// The present phase, which determines the deadline.
    package var phase: Phase {
        switch state {
        case .waiting: .waiting
        case .head: .head
        case .sizedBody, .chunkedBody: .body(received: body.size)
        case .answering: .answering
        case .writing: .writing
        case .closed: .closed
        }
    }

    /// Whether there is input that is not parsed yet. `resume` parses it.
    package var hasEarlyInput: Bool { !early.isEmpty }

    /// The memory in bytes that a head and early input occupy. A request that is being answered is not counted.
    package var headMemory: Int {
        switch state {
        case .waiting, .answering, .writing, .closed: early.bytes.capacity
        case .head(let parser): early.bytes.capacity + parser.memorySize
        case .sizedBody(let head, _), .chunkedBody(let head, _): early.bytes.capacity + head.memorySize
        }
    }

    /// The memory in bytes that a body occupies.
    package var bodyMemory: Int { body.bytes.capacity }

    // MARK: Events

    /// Takes bytes that have arrived.
    package mutating func received(_ bytes: Span<UInt8>) -> Action {
        switch state {
        case .waiting, .head, .sizedBody, .chunkedBody:
            guard !hasEarlyInput else {
                early.append(bytes)
                return resume()
            }
            let (action, consumed) = process(bytes)
            if consumed < bytes.count { early.append(bytes.extracting(consumed..<bytes.count)) }
            return action
        case .answering, .writing:
            early.append(bytes)
            return .read
        case .closed:
            return .close
        }
    }

    /// Parses early input. It is called after a response, when other connections had their turns.
    package mutating func resume() -> Action {
        switch state {
        case .waiting, .head, .sizedBody, .chunkedBody: break
        case .answering, .writing: return .read
        case .closed: return .close
        }
        guard hasEarlyInput else { return .read }
        var input = early
        early = EarlyInput()
        let (action, consumed) = process(input.bytes.span.extracting(input.start..<input.bytes.count))
        input.skip(consumed)
        early = input
        return action
    }

    /// Notes that the peer has ended its output. A complete request is still answered; an incomplete one is dropped.
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

    /// Notes that the deadline of the present phase has passed.
    package mutating func deadlinePassed() -> Action {
        switch state {
        case .head(let parser) where parser.hasBegun: return refuse(.headTimeout)
        case .sizedBody, .chunkedBody: return refuse(.bodyTimeout)
        case .answering: return .read
        case .waiting, .head, .writing, .closed:
            state = .closed
            return .close
        }
    }

    /// Refuses the request that is arriving, because there is no memory for it. Returns nil if no request is arriving.
    package mutating func refuseForMemory() -> Action? {
        switch state {
        case .head, .sizedBody, .chunkedBody: refuse(.overloaded)
        case .waiting, .answering, .writing, .closed: nil
        }
    }

    /// Notes that the server is shutting down, before earlier bytes are passed to `received`. The next response then
    /// announces the end of the connection.
    package mutating func announceDrain() {
        isDraining = true
    }

    /// Notes that the server is shutting down. The request that has begun, or the next one, is the last.
    ///
    /// A connection that waits for a request stays open for a short time, which its owner sets. Its client may have
    /// sent a request already, which would be lost if the connection closed.
    package mutating func drain() {
        isDraining = true
    }

    /// Returns how the response must be written. With `closing`, the connection ends after it. With `isStreamed`, the
    /// body is sent in pieces, and the response is sent when its last piece is.
    package mutating func respond(closing: Bool, isStreamed: Bool = false) -> HTTPResponsePlan {
        guard case .answering(let ending, var plan) = state else { preconditionFailure("a response without a request") }
        if isStreamed { plan.framing = knowsChunks ? .chunked : .untilClose }
        let mustEnd =
            closing || isDraining || plan.framing == .untilClose
            || requestCount >= limits.requestsPerConnectionMaximum
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

    /// Notes that the kernel has taken the whole response. Returns `.read` even if early input waits for `resume`.
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

    // MARK: Bodies that are not needed

    /// Returns the head of a request whose body has not arrived completely, once for each request.
    ///
    /// The owner can then call `dropBody` or `refuseBody`; otherwise the body is kept.
    package mutating func takeUndecidedHead() -> HTTPRequestHead? {
        guard body.isUndecided else { return nil }
        body.isUndecided = false
        return arrivedHead
    }

    /// Returns the head of the request that an action `refuse` is about, once. Nil if the head is not complete or not
    /// well formed.
    package mutating func takeRefusedHead() -> HTTPRequestHead? { refusedHead.take() }

    /// Drops the body that is arriving, because the answer does not depend on it. It is still read, and the request is
    /// dispatched without it.
    package mutating func dropBody() {
        switch state {
        case .sizedBody, .chunkedBody: (body.isDropped, body.bytes) = (true, [])
        case .waiting, .head, .answering, .writing, .closed: break
        }
    }

    /// Refuses the request whose body is arriving. The owner then calls `respond`. The rest of the input is dropped.
    package mutating func refuseBody() {
        endReading()
    }

    // MARK: Reading

    /// Parses bytes as the present state requires. After a problem, all bytes count as consumed.
    private mutating func process(_ bytes: Span<UInt8>) -> (Action, consumed: Int) {
        var position = 0
        do throws(HTTPProblem) {
            let action = try advance(bytes, &position)
            return (action, position)
        } catch {
            return (refuse(error), bytes.count)
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
            return advanceSizedBody(head, remaining: remaining, bytes, &position)
        case .chunkedBody(let head, let decoder):
            return try advanceChunkedBody(head, decoder: decoder, bytes, &position)
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
        if let problem = head.problem {
            // The refusal takes the head from the state.
            state = .sizedBody(head, remaining: 0)
            throw problem
        }
        let hasBodyBytes = size < bytes.count
        switch head.transfer.framing {
        case .none:
            return dispatch(head)
        case .length(let length):
            state = .sizedBody(head, remaining: length)
            guard length <= limits.bodySizeMaximum(at: head.target.path) else { throw .bodyTooLarge }
            body = ArrivingBody()
            return try startBody(head, hasBodyBytes: hasBodyBytes, bytes, &position)
        case .chunked:
            state = .chunkedBody(head, ChunkedBodyDecoder(limits: limits, path: head.target.path))
            body = ArrivingBody()
            return try startBody(head, hasBodyBytes: hasBodyBytes, bytes, &position)
        case .stream:
            preconditionFailure("the head of another protocol version")
        }
    }

    /// Keeps an incomplete head, or skips a single empty line.
    ///
    /// Some clients send an empty line after a body. It is not the beginning of a request, so the connection still
    /// waits for one.
    private mutating func noteIncompleteHead(_ parser: HTTPHeadParser, _ size: Int, _ position: inout Int) {
        guard !parser.hasBegun, size > 0, parser.emptyLineSize == size else {
            state = .head(parser)
            return
        }
        hasSkippedEmptyLine = true
        position = size
        state = .waiting
    }

    /// Begins to read a body. No interim response is sent if the body has begun to arrive (RFC 9110 section 10.1.1).
    private mutating func startBody(
        _ head: HTTPRequestHead, hasBodyBytes: Bool, _ bytes: Span<UInt8>, _ position: inout Int
    ) throws(HTTPProblem) -> Action {
        let action: Action
        if hasBodyBytes {
            action = try advance(bytes, &position)
        } else {
            action = head.transfer.expectsContinue ? .sendContinue : .read
        }
        if case .dispatch = action { return action }
        body.isUndecided = true
        return action
    }

    private mutating func advanceSizedBody(
        _ head: HTTPRequestHead, remaining: Int, _ bytes: Span<UInt8>, _ position: inout Int
    ) -> Action {
        let taken = min(remaining, bytes.count - position)
        if !body.isDropped { bytes.append(position..<position + taken, to: &body.bytes) }
        body.size += taken
        position += taken
        guard taken == remaining else {
            state = .sizedBody(head, remaining: remaining - taken)
            return .read
        }
        return dispatch(head)
    }

    private mutating func advanceChunkedBody(
        _ head: HTTPRequestHead, decoder: ChunkedBodyDecoder, _ bytes: Span<UInt8>, _ position: inout Int
    ) throws(HTTPProblem) -> Action {
        var decoder = decoder
        let isComplete = try decoder.decode(bytes, from: &position, into: &body.bytes)
        body.size = decoder.bodySize
        if body.isDropped { body.bytes = [] }
        guard isComplete else {
            state = .chunkedBody(head, decoder)
            return .read
        }
        return dispatch(head)
    }

    private mutating func dispatch(_ head: HTTPRequestHead) -> Action {
        requestCount += 1
        knowsChunks = head.version != .http10
        hasSkippedEmptyLine = false
        let plan = HTTPResponsePlan(
            omitsBody: head.method == .head,
            connection: head.version == .http10 && head.transfer.keepsAlive ? .keepAlive : .unmentioned)
        state = .answering(head.transfer.keepsAlive ? .nextRequest : .close, plan)
        let message = HTTPRequestMessage(head: head, body: body.bytes)
        body = ArrivingBody()
        return .dispatch(message)
    }

    private mutating func refuse(_ problem: HTTPProblem) -> Action {
        refusedHead = arrivedHead
        endReading()
        return .refuse(problem)
    }

    private mutating func endReading() {
        let isHead = arrivedHead?.method == .head
        body = ArrivingBody()
        early = EarlyInput()
        isDraining = true
        state = .answering(.linger, HTTPResponsePlan(omitsBody: isHead, connection: .close))
    }

    /// The head of the request whose body is arriving.
    private var arrivedHead: HTTPRequestHead? {
        switch state {
        case .sizedBody(let head, _), .chunkedBody(let head, _): head
        case .waiting, .head, .answering, .writing, .closed: nil
        }
    }
}
