import EventLoops
import HTTPMessages

// The reports of nghttp2, which arrive through `HTTP2Callbacks`. These methods must not call nghttp2's `recv` or
// `send`.

extension HTTP2Session {
    /// The header block of a request or of a trailer begins. Returns whether the session needs its fields.
    func beganHeaders(on id: Int32, isRequest: Bool) -> Bool {
        decodedSize += HeldMemory.streamSize
        guard isRequest else {
            streams[id]?.trailer = HTTP2TrailerReader(limits: limits)
            return true
        }
        guard endReason == .none else { return false }
        times.noteIdleness(false, now: now)
        // `inFlightCount` includes requests that the client has reset, because the handler still works on them.
        guard max(inFlightCount, streams.count) < limits.http2.streamsMaximum else {
            reset(id, .refusedStream)
            return false
        }
        streams[id] = HTTP2Stream(id: id, limits: limits)
        return true
    }

    /// Takes a decoded field. Returns whether the session wants the rest of the block.
    ///
    /// A block that is only somewhat too large is read to its end, so that it can be answered with 431. If the session
    /// stops the block here, it can only reset the stream.
    func received(name: Span<UInt8>, value: Span<UInt8>, on id: Int32) -> Bool {
        decodedSize += name.count + value.count
        guard let stream = streams[id] else { return true }
        let verdict: HTTP2FieldVerdict
        if case .head(var reader) = stream.phase {
            // The reader is removed from `phase` meanwhile. Otherwise `append` would copy it.
            stream.phase = .answering
            verdict = reader.append(name: name, value: value)
            stream.phase = .head(reader)
        } else {
            verdict = stream.trailer?.append(name: name, value: value) ?? .goOn
        }
        switch verdict {
        case .goOn: return true
        case .stop(let problem):
            stopFields(of: stream, problem)
            return false
        }
    }

    /// A header block is complete, and nghttp2 found nothing wrong with it.
    func endedHeaders(on id: Int32, endsStream: Bool) {
        guard let stream = streams[id] else { return }
        if endsStream { stream.requestHasEnded = true }
        if case .head(let reader) = stream.phase {
            endedHead(of: stream, reader)
        } else {
            endedTrailer(of: stream)
        }
    }

    func received(_ data: Span<UInt8>, on id: Int32) {
        guard let stream = streams[id] else { return giveBack(data.count) }
        guard case .body = stream.phase else { return drop(data.count, of: stream) }
        // A declared length was checked before, and nghttp2 compares it with the bytes that arrive.
        guard stream.bodySize + data.count <= stream.bodySizeMaximum else {
            refuse(stream, .bodyTooLarge)
            return drop(data.count, of: stream)
        }
        stream.bodySize += data.count
        if stream.dropsBody { return giveBack(data.count) }
        // Safe: the bytes are borrowed for the call.
        unsafe data.withUnsafeBufferPointer { unsafe stream.body.append(contentsOf: $0) }
        heldBodiesSize += data.count
    }

    func endedData(on id: Int32) {
        guard let stream = streams[id] else { return }
        stream.requestHasEnded = true
        if case .body(let head, _) = stream.phase { dispatch(head, stream) }
    }

    func receivedSettings(isAcknowledgement: Bool) {
        times.receivedSettings(isAcknowledgement: isAcknowledgement)
    }

    func receivedPingAcknowledgement() {
        if case .noticed = times.drain { finishDrain() }
    }

    /// The last frame of a response was written.
    ///
    /// If the client is still sending its request, a reset could stop it immediately (RFC 9113 section 8.1). But curl
    /// then discards the response, so the client may continue for a while.
    func sentEnd(on id: Int32) {
        floodGuard.answered()
        guard let stream = streams[id] else { return }
        if let exchange = stream.exchange { events.append(.finished(exchange)) }
        stream.exchange = nil
        stream.endStreamedBody()
        heldResponsesSize -= stream.responseSize
        stream.forgetResponse()
        if stream.requestHasEnded { return }
        stream.phase = .lingering(since: now)
        stream.headSize = HeldMemory.streamSize
        heldHeadsSize += stream.headSize
        stopIfEnoughWasDropped(stream)
    }

    func sentData() {
        floodGuard.sentData()
    }

    /// An RST_STREAM was written.
    ///
    /// If the session decided to reset the stream, the reset was counted then. Otherwise nghttp2 decided it because of
    /// a fault of the client, and the reset is counted now.
    func sentReset(of id: Int32, code: UInt32) {
        if countedResets.remove(id) != nil { return }
        switch HTTP2ErrorCode(rawValue: code) {
        case .noError, .cancel: return
        case .refusedStream, .settingsTimeout, .enhanceYourCalm, .protocolError, .streamClosed, nil: break
        }
        if let abuse = floodGuard.brokeStreamOff(now: now) { endBecauseOf(abuse) }
    }

    /// nghttp2 found a frame that breaks the rules, and handles it by itself.
    func dropped() {
        events.append(.dropped(.malformed(.stream)))
    }

    /// A GOAWAY was written: the notice before a drain, or one that the session or nghttp2 decided to send.
    func sentGoAway(code: UInt32) {
        if case .noticed = times.drain { submitPing() }
        guard code != HTTP2ErrorCode.noError.rawValue, endReason == .none else { return }
        endReason = .refused
        events.append(.dropped(.malformed(.connection)))
    }

    func closed(_ id: Int32) {
        guard let stream = streams.removeValue(forKey: id) else { return }
        releaseBody(of: stream)
        stream.endStreamedBody()
        heldResponsesSize -= stream.responseSize
    }

    /// Copies the next bytes of a response's body. Returns their number and whether they are the last ones. The number
    /// is nil while the handler has sent no more of a streamed body.
    func copyResponse(of id: Int32, into buffer: UnsafeMutableBufferPointer<UInt8>) -> (count: Int?, isEnd: Bool) {
        unsafe streams[id]?.copyResponse(into: buffer) ?? (0, true)
    }
}
