import CNghttp2
import HTTPMessages
import Telemetry

/// The one owner of an nghttp2 server session: bytes and answers in, events and bytes out. It has no socket, no clock
/// and no task.
///
/// nghttp2 keeps the rules of frames, of HPACK, of flow control and of the states of streams (RFC 9113). This class
/// makes requests of what it reports, and adds what nghttp2 leaves out: limits, deadlines, floods, errors on closed
/// streams, and the orderly end.
///
/// Every method takes the time. After each one there may be events (`takeEvents`), output (`write`), a new
/// `nextDeadline`, and the end (`isFinished`).
@safe
final class HTTP2Session {
    /// How much one turn decodes of heads, in bytes, each head counting `HeldMemory.streamSize` besides: two heads of
    /// the default size. A few bytes of HPACK can stand for many decoded ones, so a bound on the bytes of the wire
    /// does not bound the work.
    static let decodedSizePerTurnMaximum = 32 * 1024

    /// So many times a request may stay unfinished; then the connection ends.
    private static let unfinishedRequestsMaximum = 2

    let limits: HTTPLimits
    private let isTrustedProxy: Bool
    // nghttp2 calls back with a pointer to this object, which outlives the session: `deinit` deletes it.
    let handle: OpaquePointer

    private var scanner = HTTP2FrameScanner()
    private var order = HTTP2StreamOrder()
    var floodGuard: HTTP2FloodGuard
    var streams: [Int32: HTTP2Stream] = [:]
    var events: [HTTP2Event] = []
    /// Streams whose heads have come, and about whose bodies nothing is decided.
    var undecided: [Int32] = []

    /// Streams whose RST_STREAM was counted when it was decided, and is not written yet.
    var countedResets: Set<Int32> = []

    /// Requests that the handler has, those of streams that are gone included.
    var inFlightCount = 0
    var reservedSize = 0
    var requestCount = 0
    /// What is held of heads whose bodies arrive, of bodies, and of responses that were not written, in bytes.
    var heldHeadsSize = 0
    var heldBodiesSize = 0
    var heldResponsesSize = 0
    private var unfinishedCount = 0
    /// What was decoded of heads in this turn.
    var decodedSize = 0

    /// The time of the event that is being handled.
    var now: MonotonicTime
    private let openedAt: MonotonicTime
    var hasSettings = false
    var settingsAreAcknowledged = false
    private var headStartedAt: MonotonicTime?
    var idleSince: MonotonicTime?
    var drain = Drain.none
    /// Whether nghttp2 cannot go on: the connection is to be cut.
    private(set) var hasFailed = false
    var endReason = EndReason.none

    enum Drain: Equatable {
        case none
        /// The client was warned; the real GOAWAY follows.
        case noticed(at: MonotonicTime)
        case final
    }

    enum EndReason {
        case none
        /// By our decision, which was reported.
        case decided
        /// By nghttp2's.
        case refused
    }

    /// A session before its first byte. The connection of a trusted proxy carries many clients, so resets do not end
    /// it.
    init(limits: HTTPLimits, isTrustedProxy: Bool = false, now: MonotonicTime) {
        self.limits = limits
        self.isTrustedProxy = isTrustedProxy
        self.now = now
        openedAt = now
        idleSince = now
        floodGuard = HTTP2FloodGuard(limits: limits, isTrustedProxy: isTrustedProxy, now: now)
        unsafe handle = HTTP2Library.makeServerSession(limits: limits.http2)
        // The pointer is used only by callbacks, and these only while a method of this object runs.
        unsafe nghttp2_session_set_user_data(handle, Unmanaged.passUnretained(self).toOpaque())
        submitSettings()
    }

    deinit {
        unsafe nghttp2_session_del(handle)
    }

    // MARK: Input

    /// Bytes of the client, from its preface on. Returns how many were taken. If that is not all, the turn's budget
    /// of decoded heads is spent, and the rest is to be given again in a later turn.
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
        if scanner.beginningCount != beginningCount { headStartedAt = now }
        if !scanner.isWithinHead { headStartedAt = nil }
        noteIdleness()
        return endReason == .none ? end : bytes.count
    }

    /// Ends the session at once if more frames wait than a client can need that reads: a GOAWAY would only wait
    /// behind them.
    private func checkOutboundFrames() {
        guard endReason == .none,
            unsafe HTTP2Library.outboundFrameCount(of: handle) > limits.http2.outboundFramesMaximum
        else { return }
        events.append(.abused(.outboundFrames))
        endReason = .decided
        hasFailed = true
    }

    /// The client sends no more. What is complete is still answered.
    func inputEnded(now: MonotonicTime) {
        self.now = now
        for stream in streams.values where !stream.requestHasEnded { reset(stream.id, .cancel) }
        finishDrain()
    }

    /// What is to be done; the list is empty afterwards.
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

    /// Looks at each frame before nghttp2 does, and has nghttp2 process them until the turn's budget is spent or a
    /// frame breaks a rule; how many bytes were taken, and why no more.
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

    /// What is wrong with a frame; nil if nothing is.
    private func judge(_ frame: HTTP2FrameHeader) -> Verdict? {
        let isRequest = order.opensStream(frame)
        if let fault = order.received(frame) { return .fault(fault) }
        return floodGuard.received(frame, isRequest: isRequest, now: now).map { .abuse($0) }
    }

    private func feed(_ bytes: Span<UInt8>) {
        guard !bytes.isEmpty else { return }
        // The bytes are borrowed for the call, and nghttp2 copies what it keeps.
        let count = unsafe bytes.withUnsafeBufferPointer {
            unsafe nghttp2_session_mem_recv(handle, $0.baseAddress, $0.count)
        }
        guard count < 0 else { return }
        switch Int32(count) {
        case NGHTTP2_ERR_BAD_CLIENT_MAGIC.rawValue: endBecauseOfFault(.protocolError)
        case NGHTTP2_ERR_FLOODED.rawValue: endBecauseOf(.controlFrames)
        case NGHTTP2_ERR_TOO_MANY_CONTINUATIONS.rawValue: endBecauseOf(.continuations)
        default:
            // Out of memory, or a state that it does not explain.
            endBecauseOfFault(.protocolError)
            hasFailed = true
        }
    }

    // MARK: Output

    /// Appends what is to be sent, until there is nothing more or `output` has at least `sizeMaximum` bytes.
    func write(to output: inout [UInt8], sizeMaximum: Int, now: MonotonicTime) {
        self.now = now
        guard !hasFailed else { return }
        while output.count < sizeMaximum {
            var pointer: UnsafePointer<UInt8>?
            // nghttp2 keeps the bytes until the next call, and they are copied before.
            let count = unsafe nghttp2_session_mem_send(handle, &pointer)
            guard count > 0, let start = unsafe pointer else {
                if count < 0 { hasFailed = true }
                break
            }
            unsafe output.append(contentsOf: UnsafeBufferPointer(start: start, count: count))
        }
        noteIdleness()
    }

    /// Whether everything is said and heard: once the output has gone, the connection is to be closed.
    var isFinished: Bool {
        hasFailed || (unsafe nghttp2_session_want_read(handle) == 0 && nghttp2_session_want_write(handle) == 0)
    }

    /// Whether no stream is open and no request is being answered.
    var isIdle: Bool { idleSince != nil }

    var heldMemory: HeldMemory {
        HeldMemory(
            connection: HeldMemory.http2Size, heads: heldHeadsSize, bodies: heldBodiesSize, outbound: heldResponsesSize)
    }

    /// Whether the handler has requests.
    var isAnswering: Bool { inFlightCount > 0 }

    // MARK: Answers

    /// The answer to a request or a problem. When its stream is gone it goes nowhere.
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

    // MARK: The end

    /// Lets the requests that have begun finish: warns the client, then takes no new stream (RFC 9113 section 6.8).
    func beginDrain(now: MonotonicTime) {
        self.now = now
        guard drain == .none, endReason == .none else { return }
        drain = .noticed(at: now)
        unsafe nghttp2_submit_shutdown_notice(handle)
    }

    /// A PING behind the warning: its acknowledgement tells that the warning was read, and that what was on its way
    /// before has come.
    func submitPing() {
        unsafe nghttp2_submit_ping(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), nil)
    }

    func finishDrain() {
        guard drain != .final, endReason == .none else { return }
        drain = .final
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

    /// A request did not end in time, before its answer or after it. The second time ends the connection, once the
    /// other requests are answered. The connection of a trusted proxy goes on: other clients are behind it.
    private func noteUnfinishedRequest() {
        unfinishedCount += 1
        guard unfinishedCount == Self.unfinishedRequestsMaximum, !isTrustedProxy else { return }
        events.append(.abused(.slowBody))
        beginDrain(now: now)
    }

    /// GOAWAY, and nothing after it; what is in flight is lost.
    private func terminate(_ code: HTTP2ErrorCode) {
        endReason = .decided
        unsafe nghttp2_session_terminate_session(handle, code.rawValue)
    }

    // MARK: Deadlines

    /// The instant at which `deadlinePassed` is to be called.
    var nextDeadline: MonotonicTime {
        guard endReason == .none else { return .distantFuture }
        var deadline = min(preludeDeadline, headDeadline, idleDeadline, drainDeadline)
        for stream in streams.values { deadline = min(deadline, stream.deadline(limits)) }
        return deadline
    }

    private var preludeDeadline: MonotonicTime {
        if !hasSettings { return openedAt + limits.headDeadline }
        return settingsAreAcknowledged ? .distantFuture : openedAt + limits.http2.settingsDeadline
    }

    private var headDeadline: MonotonicTime { headStartedAt.map { $0 + limits.headDeadline } ?? .distantFuture }

    private var idleDeadline: MonotonicTime { idleSince.map { $0 + limits.idleDeadline } ?? .distantFuture }

    private var drainDeadline: MonotonicTime {
        switch drain {
        case .none, .final: .distantFuture
        case .noticed(let instant): instant + limits.http2.drainNoticeDeadline
        }
    }

    /// The time has come.
    func deadlinePassed(now: MonotonicTime) {
        self.now = now
        guard endReason == .none else { return }
        if preludeDeadline <= now { return endBecauseOfDeadline(.settingsTimeout) }
        if headDeadline <= now { return endBecauseOfDeadline(.enhanceYourCalm) }
        if idleDeadline <= now || drainDeadline <= now { finishDrain() }
        for stream in streams.values where stream.deadline(limits) <= now {
            switch stream.phase {
            case .body:
                refuse(stream, .bodyTimeout)
                noteUnfinishedRequest()
            case .responding: reset(stream.id, .cancel)
            case .lingering:
                reset(stream.id, .noError)
                noteUnfinishedRequest()
            case .head, .answering: break
            }
        }
    }

    private func noteIdleness() {
        idleSince = streams.isEmpty && inFlightCount == 0 ? idleSince ?? now : nil
    }

    /// A stream's window takes a whole body and one byte, so that what is too large shows; the connection's takes
    /// what all bodies may have together, and the bytes by which some turn out too large.
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
