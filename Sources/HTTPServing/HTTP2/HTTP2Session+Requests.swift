import CNghttp2
import EventLoops
import HTTPMessages
import Telemetry

// Makes requests from the fields and bytes of streams.

extension HTTP2Session {
    func endedHead(of stream: HTTP2Stream, _ reader: HTTP2HeadReader) {
        requestCount += 1
        if requestCount == limits.requestsPerConnectionMaximum { beginDrain(now: now) }
        stream.isHead = reader.isHeadRequest
        do throws(HTTPProblem) {
            let head = try reader.finish(endsStream: stream.requestHasEnded)
            stream.phase = .body(head, since: now)
            if let problem = head.problem { throw problem }
            try beginBody(of: stream, head)
        } catch {
            refuse(stream, error)
        }
    }

    func beginBody(of stream: HTTP2Stream, _ head: HTTPRequestHead) throws(HTTPProblem) {
        if stream.requestHasEnded { return dispatch(head, stream) }
        stream.bodySizeMaximum = limits.bodySizeMaximum(at: head.target.path)
        let size = try reservation(for: head.transfer.framing, of: stream)
        guard reservedSize + size <= bodiesSizeMaximum else {
            return reset(stream.id, .refusedStream)
        }
        reservedSize += size
        stream.reservedSize = size
        holdHead(head, of: stream)
        undecided.append(stream.id)
    }

    /// Adds the events that ask about bodies. A body that arrived completely together with its head needs none.
    func askAboutBodies() {
        guard !undecided.isEmpty else { return }
        for id in undecided {
            if case .body(let head, _) = streams[id]?.phase { events.append(.decideBody(id, head)) }
        }
        undecided.removeAll(keepingCapacity: true)
    }

    /// Carries out the handler's decision about the body of a stream. The stream may have been closed meanwhile.
    func decided(_ decision: HTTPBodyDecision, about id: Int32, date: [UInt8], now: MonotonicTime) {
        self.now = now
        guard let stream = streams[id], case .body(let head, _) = stream.phase else { return }
        switch decision {
        case .keep: submitContinue(to: stream, head)
        case .drop:
            releaseBody(of: stream)
            holdHead(head, of: stream)
            stream.dropsBody = true
            submitContinue(to: stream, head)
        case .refuse(let response):
            stream.exchange = HTTPExchange(method: head.method, startedAt: now)
            stopBody(of: stream)
            inFlightCount += 1
            respond(response, to: id, date: date, now: now)
        }
    }

    /// Submits the interim response 100 if the client expects it, unless the body has begun to arrive (RFC 9110 section
    /// 10.1.1).
    private func submitContinue(to stream: HTTP2Stream, _ head: HTTPRequestHead) {
        guard head.transfer.expectsContinue, stream.bodySize == 0 else { return }
        unsafe HTTP2Library.submitContinue(on: stream.id, to: handle)
    }

    private func holdHead(_ head: HTTPRequestHead, of stream: HTTP2Stream) {
        stream.headSize = head.memorySize + HeldMemory.streamSize
        heldHeadsSize += stream.headSize
    }

    /// The most bytes that all arriving bodies may have together.
    var bodiesSizeMaximum: Int { max(limits.http2.bodiesSizeMaximum, limits.largestBodySize) }

    private func reservation(for framing: HTTPBodyFraming, of stream: HTTP2Stream) throws(HTTPProblem) -> Int {
        switch framing {
        case .none: return 0
        case .length(let length):
            guard length <= stream.bodySizeMaximum else { throw .bodyTooLarge }
            return length
        case .stream: return stream.bodySizeMaximum
        case .chunked: preconditionFailure("the head of another protocol version")
        }
    }

    func endedTrailer(of stream: HTTP2Stream) {
        guard case .body(let head, _) = stream.phase else { return }
        if let problem = stream.trailer?.problem { return refuse(stream, problem) }
        dispatch(head, stream)
    }

    func dispatch(_ head: HTTPRequestHead, _ stream: HTTP2Stream) {
        let message = HTTPRequestMessage(head: head, body: stream.body)
        releaseBody(of: stream)
        stream.phase = .answering
        stream.exchange = HTTPExchange(method: head.method, startedAt: now)
        inFlightCount += 1
        events.append(.dispatch(stream.id, message))
    }

    /// Refuses a request. A malformed request is reset without an answer (RFC 9113 section 8.1.1).
    func refuse(_ stream: HTTP2Stream, _ problem: HTTPProblem) {
        if case .body(let head, _) = stream.phase { stream.refusedHead = head }
        stopBody(of: stream)
        if case .malformed = problem {
            events.append(.dropped(problem))
            return reset(stream.id, .protocolError)
        }
        inFlightCount += 1
        events.append(.refuse(stream.id, problem))
    }

    /// Returns the head of the request that an event `refuse` is about, once. Nil if the head is not complete or not
    /// well formed.
    func takeRefusedHead(of id: Int32) -> HTTPRequestHead? { streams[id]?.refusedHead.take() }

    /// Discards the body of a stream that is answered now.
    private func stopBody(of stream: HTTP2Stream) {
        let size = stream.bodySize
        releaseBody(of: stream)
        // Without this, the received bytes would still count against the stream's window, and the client could not send
        // the rest.
        if size > 0 { unsafe nghttp2_session_consume_stream(handle, stream.id, size) }
        stream.phase = .answering
    }

    /// Releases memory: ends the streams that are answered already. If there are none and `mayRefuse` is true, refuses
    /// the newest request whose body is still arriving.
    func makeRoom(mayRefuse: Bool = true, now: MonotonicTime) -> MemoryRelief {
        self.now = now
        if endLingeringStreams() { return .answered }
        return mayRefuse && refuseNewest() ? .request : .none
    }

    private func endLingeringStreams() -> Bool {
        var hasEnded = false
        for stream in streams.values {
            guard case .lingering = stream.phase else { continue }
            releaseBody(of: stream)
            reset(stream.id, .noError)
            hasEnded = true
        }
        return hasEnded
    }

    private func refuseNewest() -> Bool {
        var newest: HTTP2Stream?
        for stream in streams.values {
            guard case .body = stream.phase, stream.id > newest?.id ?? 0 else { continue }
            newest = stream
        }
        guard let newest else { return false }
        refuse(newest, .overloaded)
        return true
    }

    /// Releases the body of a stream after it was taken or discarded, and gives back its part of the connection's
    /// window.
    func releaseBody(of stream: HTTP2Stream) {
        giveBack(stream.body.count)
        heldBodiesSize -= stream.body.count
        heldHeadsSize -= stream.headSize
        stream.headSize = 0
        stream.body = []
        reservedSize -= stream.reservedSize
        stream.reservedSize = 0
    }

    func giveBack(_ size: Int) {
        if size > 0 { unsafe nghttp2_session_consume_connection(handle, size) }
    }

    /// Drops bytes that no request needs, and lets the client send as many more, up to a limit.
    func drop(_ size: Int, of stream: HTTP2Stream) {
        stream.droppedSize += size
        giveBack(size)
        if stream.droppedSize <= limits.lingerSizeMaximum {
            unsafe nghttp2_session_consume_stream(handle, stream.id, size)
        }
        if case .lingering = stream.phase { stopIfEnoughWasDropped(stream) }
    }

    func stopIfEnoughWasDropped(_ stream: HTTP2Stream) {
        if stream.droppedSize > limits.lingerSizeMaximum { reset(stream.id, .noError) }
    }

    /// Ends a header block before its end, and resets its stream. The remaining fields are not read.
    func stopFields(of stream: HTTP2Stream, _ problem: HTTPProblem) {
        // nghttp2 decodes the rest without reporting its size, so the turn's budget is taken as spent.
        decodedSize = max(decodedSize, Self.decodedSizePerTurnMaximum)
        releaseBody(of: stream)
        events.append(.dropped(problem))
        if case .malformed = problem { return reset(stream.id, .protocolError) }
        reset(stream.id, .enhanceYourCalm)
        if let abuse = floodGuard.expandedHeaders() { endBecauseOf(abuse) }
    }

    /// Resets a stream. A reset that the client has caused is counted now, because its frame may never be written.
    func reset(_ id: Int32, _ code: HTTP2ErrorCode) {
        // The phase without a deadline: the stream is removed when the frame is written.
        streams[id]?.phase = .answering
        unsafe nghttp2_submit_rst_stream(handle, UInt8(NGHTTP2_FLAG_NONE.rawValue), id, code.rawValue)
        switch code {
        case .noError, .cancel: return
        case .refusedStream, .settingsTimeout, .enhanceYourCalm, .protocolError, .streamClosed: break
        }
        countReset(of: id)
    }

    /// Counts a reset that the client has caused, once for each stream.
    func countReset(of id: Int32) {
        guard countedResets.insert(id).inserted, let abuse = floodGuard.brokeStreamOff(now: now) else { return }
        endBecauseOf(abuse)
    }
}
