import CNghttp2
import HTTPMessages
import Telemetry

/// Owns an nghttp2 server session. It takes bytes and answers, and returns events and bytes. It has no socket, no clock
/// and no task.
///
/// nghttp2 implements the rules of frames, HPACK, flow control and stream states (RFC 9113). This class makes requests
/// from its reports, and adds limits, deadlines, the detection of floods, errors on closed streams, and the orderly
/// end.
///
/// The time is passed to the methods. After each call there may be events (`takeEvents`), output (`write`) and a new
/// `nextDeadline`, and the session may be finished (`isFinished`).
@safe
final class HTTP2Session {
    /// The number of decoded bytes of heads after which a turn ends. Each head counts `HeldMemory.streamSize` in
    /// addition.
    ///
    /// It is the size of two heads of the default size. A few bytes of HPACK can stand for many decoded bytes, so a
    /// limit on received bytes would not limit the work.
    static let decodedSizePerTurnMaximum = 32 * 1024

    /// The number of unfinished requests after which the connection ends.
    private static let unfinishedRequestsMaximum = 2

    let limits: HTTPLimits
    private let isTrustedProxy: Bool
    // nghttp2 calls back with a pointer to this object. The object outlives the nghttp2 session: `deinit` deletes it.
    let handle: OpaquePointer

    private var scanner = HTTP2FrameScanner()
    private var order = HTTP2StreamOrder()
    var floodGuard: HTTP2FloodGuard
    var streams: [Int32: HTTP2Stream] = [:]
    var events: [HTTP2Event] = []
    /// Streams whose heads have arrived, and about whose bodies the handler has not been asked yet.
    var undecided: [Int32] = []

    /// Streams whose reset was counted already, but whose RST_STREAM is not written yet.
    var countedResets: Set<Int32> = []

    /// The number of requests that the handler is answering, including those whose streams are closed.
    var inFlightCount = 0
    /// The bytes that are reserved for arriving bodies.
    var reservedSize = 0
    var requestCount = 0
    /// The bytes of heads whose bodies are arriving.
    var heldHeadsSize = 0
    /// The bytes of bodies that are arriving.
    var heldBodiesSize = 0
    /// The bytes of responses that are not completely written.
    var heldResponsesSize = 0
    private var unfinishedCount = 0
    /// The bytes of heads that were decoded in this turn.
    var decodedSize = 0

    /// The time of the event that is being handled.
    var now: MonotonicTime
    var times: HTTP2SessionTimes
    /// Whether nghttp2 cannot continue, so that the connection must be closed immediately.
    private(set) var hasFailed = false
    var endReason = EndReason.none

    enum EndReason {
        case none
        /// This class decided to end the session, and has reported it.
        case decided
        /// nghttp2 decided to end the session.
        case refused
    }

    /// Makes a session that has received nothing. The connection of a trusted proxy carries many clients, so resets do
    /// not end it.
    init(limits: HTTPLimits, isTrustedProxy: Bool = false, now: MonotonicTime) {
        self.limits = limits
        self.isTrustedProxy = isTrustedProxy
        self.now = now
        times = HTTP2SessionTimes(openedAt: now)
        floodGuard = HTTP2FloodGuard(limits: limits, isTrustedProxy: isTrustedProxy, now: now)
        unsafe handle = HTTP2Library.makeServerSession(limits: limits.http2)
        // Safe: only callbacks use the pointer, and they run only during a method of this object.
        unsafe nghttp2_session_set_user_data(handle, Unmanaged.passUnretained(self).toOpaque())
        submitSettings()
    }

    deinit {
        unsafe nghttp2_session_del(handle)
    }

    // MARK: Input

    /// Processes bytes of the client, beginning with its preface. Returns how many bytes were processed.
    ///
    /// If not all of them were, the turn's budget of decoded heads is spent. The caller passes the rest again in a
    /// later turn.
    @discardableResult
    func receive(_ bytes: Span<UInt8>, now: MonotonicTime) -> Int {
        self.now = now
        guard endReason == .none else { return bytes.count }
        let beginningCount = scanner.beginningCount
        let (end, verdict) = take(bytes)
        checkOutboundFrames()
        switch verdict {
        case .good: break
        case .abuse(let abuse): endBecauseOf(abuse)
        case .fault(.protocol): endBecauseOfFault(.protocolError)
        case .fault(.streamClosed): endBecauseOfFault(.streamClosed)
        }
        times.noteHead(
            hasBegun: scanner.beginningCount != beginningCount, isArriving: scanner.isWithinHead, now: now)
        noteIdleness()
        return endReason == .none ? end : bytes.count
    }

    /// Ends the session immediately if too many frames wait to be sent, because the client does not read. A GOAWAY
    /// would only wait after them.
    private func checkOutboundFrames() {
        guard endReason == .none,
            unsafe HTTP2Library.outboundFrameCount(of: handle) > limits.http2.outboundFramesMaximum
        else { return }
        events.append(.abused(.outboundFrames))
        endReason = .decided
        hasFailed = true
    }

    /// Notes that the client has ended its output. Complete requests are still answered.
    func inputEnded(now: MonotonicTime) {
        self.now = now
        for stream in streams.values where !stream.requestHasEnded { reset(stream.id, .cancel) }
        finishDrain()
    }

    /// Returns the events since the last call.
    func takeEvents() -> [HTTP2Event] {
        askAboutBodies()
        defer { events = [] }
        return events
    }

    private enum Verdict {
        case good
        case abuse(ConnectionAbuse)
        case fault(HTTP2StreamOrder.Fault)
    }

    /// Checks each frame, then passes it to nghttp2, until the turn's budget is spent or a frame breaks a rule. Returns
    /// how many bytes were processed, and the broken rule.
    private func take(_ bytes: Span<UInt8>) -> (end: Int, Verdict) {
        decodedSize = 0
        var (position, fedCount) = (0, 0)
        while true {
            scanner.skipPayload(bytes, from: &position)
            if scanner.isBehindHeaderBlock && position > fedCount {
                feed(bytes.extracting(fedCount..<position))
                fedCount = position
                if endReason != .none || decodedSize >= Self.decodedSizePerTurnMaximum { return (position, .good) }
            }
            guard let frame = scanner.next(bytes, from: &position) else { break }
            if let verdict = judge(frame) {
                feed(bytes.extracting(fedCount..<max(fedCount, position - HTTP2FrameScanner.headerSize)))
                return (bytes.count, verdict)
            }
        }
        feed(bytes.extracting(fedCount..<bytes.count))
        return (bytes.count, .good)
    }

    /// Returns the fault of a frame; nil if the frame has no fault.
    private func judge(_ frame: HTTP2FrameHeader) -> Verdict? {
        let isRequest = order.opensStream(frame)
        if let fault = order.received(frame) { return .fault(fault) }
        return floodGuard.received(frame, isRequest: isRequest, now: now).map { .abuse($0) }
    }

    private func feed(_ bytes: Span<UInt8>) {
        guard !bytes.isEmpty else { return }
        // Safe: the bytes are borrowed for the call, and nghttp2 copies the bytes that it keeps.
        let count = unsafe bytes.withUnsafeBufferPointer {
            unsafe nghttp2_session_mem_recv(handle, $0.baseAddress, $0.count)
        }
        guard count < 0 else { return }
        switch Int32(count) {
        case NGHTTP2_ERR_BAD_CLIENT_MAGIC.rawValue: endBecauseOfFault(.protocolError)
        case NGHTTP2_ERR_FLOODED.rawValue: endBecauseOf(.controlFrames)
        case NGHTTP2_ERR_TOO_MANY_CONTINUATIONS.rawValue: endBecauseOf(.continuations)
        default:
            // There is no memory, or nghttp2 reports an unknown error.
            endBecauseOfFault(.protocolError)
            hasFailed = true
        }
    }

    // MARK: Output

    /// Appends output, until there is no more or `output` has at least `sizeMaximum` bytes.
    func write(to output: inout [UInt8], sizeMaximum: Int, now: MonotonicTime) {
        self.now = now
        guard !hasFailed else { return }
        while output.count < sizeMaximum {
            var pointer: UnsafePointer<UInt8>?
            // Safe: the bytes are valid until the next call, and are copied before that.
            let count = unsafe nghttp2_session_mem_send(handle, &pointer)
            guard count > 0, let start = unsafe pointer else {
                if count < 0 { hasFailed = true }
                break
            }
            unsafe output.append(contentsOf: UnsafeBufferPointer(start: start, count: count))
        }
        noteIdleness()
    }

    /// Whether the session has ended. Once its output is sent, the connection must be closed.
    var isFinished: Bool {
        hasFailed || (unsafe nghttp2_session_want_read(handle) == 0 && nghttp2_session_want_write(handle) == 0)
    }

    /// Whether no stream is open and no request is being answered.
    var isIdle: Bool { times.idleSince != nil }

    var heldMemory: HeldMemory {
        HeldMemory(
            connection: HeldMemory.http2Size, heads: heldHeadsSize, bodies: heldBodiesSize, outbound: heldResponsesSize)
    }

    /// Whether the handler is answering requests.
    var isAnswering: Bool { inFlightCount > 0 }

    // MARK: Answers

    /// Sends the answer to a request or a problem. If its stream is closed, the answer is discarded.
    func respond(_ response: HTTPResponse, to id: Int32, date: [UInt8], now: MonotonicTime) {
        self.now = now
        inFlightCount -= 1
        if let stream = streams[id] { submit(response, to: stream, date) }
        if response.closesConnection { beginDrain(now: now) }
        noteIdleness()
    }

    private func submit(_ response: HTTPResponse, to stream: HTTP2Stream, _ date: [UInt8]) {
        stream.phase = .responding(since: now)
        stream.exchange?.status = response.status
        let block = HTTP2FieldBlock(response, date: date)
        let hasBody = !stream.isHead && !response.status.forbidsBody && !response.body.isEmpty
        if hasBody {
            stream.beginResponse(response.body)
            heldResponsesSize += response.body.count
        }
        if unsafe !HTTP2Library.submit(block, on: stream.id, hasBody: hasBody, to: handle) { hasFailed = true }
    }

    // MARK: Streamed bodies

    /// Sends the head of an answer whose body the handler sends in pieces.
    func respond(
        _ head: HTTPResponse, streaming body: HTTPBodyStream, to id: Int32, date: [UInt8], now: MonotonicTime
    ) {
        self.now = now
        inFlightCount -= 1
        if let stream = streams[id] { submit(head, streaming: body, to: stream, date) } else { body.end() }
        if head.closesConnection { beginDrain(now: now) }
        noteIdleness()
    }

    private func submit(_ head: HTTPResponse, streaming body: HTTPBodyStream, to stream: HTTP2Stream, _ date: [UInt8]) {
        stream.exchange?.status = head.status
        if stream.isHead {
            body.end()
            stream.phase = .responding(since: now)
        } else {
            stream.streamedBody = body
            stream.phase = .streaming(waitingSince: nil)
            // The time of the request ends with the head, because a body may take hours.
            if let exchange = stream.exchange.take() { events.append(.finished(exchange)) }
        }
        let block = HTTP2FieldBlock(head, date: date, isStreamed: true)
        if unsafe !HTTP2Library.submit(block, on: stream.id, hasBody: !stream.isHead, to: handle) { hasFailed = true }
    }

    /// Notes that a streamed body has more bytes, or is finished.
    func bodyChanged(of id: Int32, now: MonotonicTime) {
        self.now = now
        guard let stream = streams[id], case .streaming(let start) = stream.phase else { return }
        stream.phase = .streaming(waitingSince: start ?? now)
        // It fails if nghttp2 has not asked for the body yet. It will then find the bytes.
        _ = unsafe nghttp2_session_resume_data(handle, id)
    }

    /// Resets a stream whose client does not read the streamed body.
    func abandonBody(of id: Int32, now: MonotonicTime) {
        self.now = now
        guard let stream = streams[id], case .streaming = stream.phase else { return }
        reset(id, .cancel)
    }

    /// Ends every streamed body after the pieces that were sent.
    ///
    /// Each body then calls `bodyChanged`, so this must not be called within a report of nghttp2.
    func finishBodies() {
        for stream in streams.values { stream.streamedBody?.finish() }
    }

    /// Ends every streamed body, because the connection is closed.
    func endBodies() {
        for stream in streams.values { stream.endStreamedBody() }
    }

    // MARK: The end

    /// Lets the requests that have begun finish: sends the client a notice, and later accepts no new stream (RFC 9113
    /// section 6.8).
    func beginDrain(now: MonotonicTime) {
        self.now = now
        guard times.drain == .none, endReason == .none else { return }
        times.drain = .noticed(at: now)
        unsafe nghttp2_submit_shutdown_notice(handle)
    }

    /// Sends a PING after the notice. Its acknowledgement shows that the client has read the notice, and that all
    /// earlier requests have arrived.
    func submitPing() {
        unsafe nghttp2_submit_ping(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
    }

    func finishDrain() {
        guard times.drain != .final, endReason == .none else { return }
        times.drain = .final
        let last = unsafe nghttp2_session_get_last_proc_stream_id(handle)
        unsafe nghttp2_submit_goaway(
            handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), last, HTTP2ErrorCode.noError.rawValue, nil, 0)
    }

    func endBecauseOf(_ abuse: ConnectionAbuse) {
        guard endReason == .none else { return }
        events.append(.abused(abuse))
        terminate(.enhanceYourCalm)
    }

    private func endBecauseOfFault(_ code: HTTP2ErrorCode) {
        guard endReason == .none else { return }
        events.append(.dropped(.malformed(.connection)))
        terminate(code)
    }

    private func endBecauseOfDeadline(_ code: HTTP2ErrorCode) {
        events += [.dropped(.headTimeout), .abused(.slowHead)]
        terminate(code)
    }

    /// Notes a request that did not end in time, before its answer or after it.
    ///
    /// The second such request ends the connection after the other requests are answered. The connection of a trusted
    /// proxy continues, because it carries the requests of other clients.
    private func noteUnfinishedRequest() {
        unfinishedCount += 1
        guard unfinishedCount == Self.unfinishedRequestsMaximum, !isTrustedProxy else { return }
        events.append(.abused(.slowBody))
        beginDrain(now: now)
    }

    /// Sends a GOAWAY as the last frame. Requests that are being answered get no answer.
    private func terminate(_ code: HTTP2ErrorCode) {
        endReason = .decided
        unsafe nghttp2_session_terminate_session(handle, code.rawValue)
    }

    // MARK: Deadlines

    /// The instant at which the driver must call `deadlinePassed`.
    var nextDeadline: MonotonicTime {
        guard endReason == .none else { return .distantFuture }
        var deadline = min(
            times.settingsDeadline(limits), times.headDeadline(limits), times.endDeadline(limits))
        for stream in streams.values { deadline = min(deadline, stream.deadline(limits)) }
        return deadline
    }

    /// Ends everything whose deadline has passed.
    func deadlinePassed(now: MonotonicTime) {
        self.now = now
        guard endReason == .none else { return }
        if times.settingsDeadline(limits) <= now { return endBecauseOfDeadline(.settingsTimeout) }
        if times.headDeadline(limits) <= now { return endBecauseOfDeadline(.enhanceYourCalm) }
        if times.endDeadline(limits) <= now { finishDrain() }
        for stream in streams.values where stream.deadline(limits) <= now {
            switch stream.phase {
            case .body:
                refuse(stream, .bodyTimeout)
                noteUnfinishedRequest()
            case .responding, .streaming: reset(stream.id, .cancel)
            case .lingering:
                reset(stream.id, .noError)
                noteUnfinishedRequest()
            case .head, .answering: break
            }
        }
    }

    private func noteIdleness() {
        times.noteIdleness(streams.isEmpty && inFlightCount == 0, now: now)
    }

    /// Submits the settings and the windows.
    ///
    /// A stream's window is one byte larger than the largest body, so that a body which is too large is detected. The
    /// connection's window is the size of all bodies together, and one byte more for each stream.
    private func submitSettings() {
        let streamWindow = max(65_535, limits.largestBodySize + 1)
        let connectionWindow = bodiesSizeMaximum + limits.http2.streamsMaximum
        let isDone = unsafe HTTP2Library.submitSettings(
            [
                (NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, limits.http2.streamsMaximum),
                (NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, streamWindow),
                (NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, limits.headSizeMaximum),
                (NGHTTP2_SETTINGS_NO_RFC7540_PRIORITIES, 1),
            ], connectionWindow: max(65_535, connectionWindow), to: handle)
        if !isDone { hasFailed = true }
    }
}
