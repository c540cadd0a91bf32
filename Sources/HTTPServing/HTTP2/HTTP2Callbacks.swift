import CNghttp2

/// The table of callbacks for nghttp2, which every session copies.
///
/// Safe to send: the table is never changed after `init`.
@safe
final class HTTP2Callbacks: @unchecked Sendable {
    static let shared = HTTP2Callbacks()

    let pointer: OpaquePointer

    private init() {
        var made: OpaquePointer?
        guard unsafe nghttp2_session_callbacks_new(&made) == 0, let made = unsafe made else {
            preconditionFailure("no memory for a table of callbacks")
        }
        unsafe pointer = made
        unsafe nghttp2_session_callbacks_set_on_begin_headers_callback(made, beganHeaders)
        unsafe nghttp2_session_callbacks_set_on_header_callback(made, receivedField)
        unsafe nghttp2_session_callbacks_set_on_invalid_header_callback(made, receivedInvalidField)
        unsafe nghttp2_session_callbacks_set_on_frame_recv_callback(made, receivedFrame)
        unsafe nghttp2_session_callbacks_set_on_invalid_frame_recv_callback(made, receivedInvalidFrame)
        unsafe nghttp2_session_callbacks_set_on_data_chunk_recv_callback(made, receivedData)
        unsafe nghttp2_session_callbacks_set_on_frame_send_callback(made, sentFrame)
        unsafe nghttp2_session_callbacks_set_on_stream_close_callback(made, closedStream)
    }

    deinit {
        unsafe nghttp2_session_callbacks_del(pointer)
    }
}

// The callbacks are free functions, because a closure could be isolated to an actor. nghttp2 calls them only while a
// method of the session runs, which keeps the object alive. The pointers that nghttp2 passes are valid during the call.

private func session(_ userData: UnsafeMutableRawPointer?) -> HTTP2Session {
    guard let userData = unsafe userData else { preconditionFailure("a session without its object") }
    return unsafe Unmanaged<HTTP2Session>.fromOpaque(userData).takeUnretainedValue()
}

private let success: Int32 = 0
/// Tells nghttp2 not to check and not to report the rest of the header block. nghttp2 still decodes it, to keep its
/// HPACK table right, but this is 60 times faster.
private let stop = NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE.rawValue

private func beganHeaders(
    _: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ userData: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame = unsafe frame else { return success }
    let goesOn = unsafe session(userData).beganHeaders(
        on: frame.pointee.hd.stream_id, isRequest: frame.pointee.headers.cat == NGHTTP2_HCAT_REQUEST)
    return goesOn ? success : stop
}

private func receivedField(
    _: OpaquePointer?, frame: UnsafePointer<nghttp2_frame>?, name: UnsafePointer<UInt8>?, nameLength: Int,
    value: UnsafePointer<UInt8>?, valueLength: Int, flags: UInt8, userData: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame = unsafe frame else { return success }
    let goesOn = unsafe session(userData).received(
        name: UnsafeBufferPointer(start: name, count: nameLength).span,
        value: UnsafeBufferPointer(start: value, count: valueLength).span, on: frame.pointee.hd.stream_id)
    return goesOn ? success : stop
}

/// Makes a request malformed if it has an invalid field. By default, nghttp2 would only drop the field.
private func receivedInvalidField(
    _: OpaquePointer?, frame: UnsafePointer<nghttp2_frame>?, name: UnsafePointer<UInt8>?, nameLength: Int,
    value: UnsafePointer<UInt8>?, valueLength: Int, flags: UInt8, userData: UnsafeMutableRawPointer?
) -> Int32 {
    stop
}

private func receivedFrame(
    _: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ userData: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame = unsafe frame else { return success }
    let (header, session) = unsafe (frame.pointee.hd, session(userData))
    let endsStream = UInt32(header.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
    let isAcknowledgement = UInt32(header.flags) & NGHTTP2_FLAG_ACK.rawValue != 0
    switch UInt32(header.type) {
    case NGHTTP2_HEADERS.rawValue: session.endedHeaders(on: header.stream_id, endsStream: endsStream)
    case NGHTTP2_DATA.rawValue where endsStream: session.endedData(on: header.stream_id)
    case NGHTTP2_SETTINGS.rawValue: session.receivedSettings(isAcknowledgement: isAcknowledgement)
    case NGHTTP2_PING.rawValue where isAcknowledgement: session.receivedPingAcknowledgement()
    default: break  // nghttp2 handles these frames by itself.
    }
    return success
}

/// Handles an invalid frame. It is also called for frames that end the whole session, but these are reported by
/// `sentFrame`.
private func receivedInvalidFrame(
    _: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ code: Int32, _ userData: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame = unsafe frame else { return success }
    let (id, session) = unsafe (frame.pointee.hd.stream_id, session(userData))
    switch code {
    case NGHTTP2_ERR_HTTP_HEADER.rawValue, NGHTTP2_ERR_HTTP_MESSAGING.rawValue:
        session.dropped()
        session.countReset(of: id)
    case NGHTTP2_ERR_REFUSED_STREAM.rawValue: session.countReset(of: id)
    default: break  // If nghttp2 resets the stream, the reset is counted when the RST_STREAM is written.
    }
    return success
}

private func receivedData(
    _: OpaquePointer?, flags: UInt8, id: Int32, data: UnsafePointer<UInt8>?, length: Int,
    userData: UnsafeMutableRawPointer?
) -> Int32 {
    unsafe session(userData).received(UnsafeBufferPointer(start: data, count: length).span, on: id)
    return success
}

private func sentFrame(
    _: OpaquePointer?, _ frame: UnsafePointer<nghttp2_frame>?, _ userData: UnsafeMutableRawPointer?
) -> Int32 {
    guard let frame = unsafe frame else { return success }
    let (header, session) = unsafe (frame.pointee.hd, session(userData))
    let endsStream = UInt32(header.flags) & NGHTTP2_FLAG_END_STREAM.rawValue != 0
    switch UInt32(header.type) {
    case NGHTTP2_DATA.rawValue, NGHTTP2_HEADERS.rawValue:
        if UInt32(header.type) == NGHTTP2_DATA.rawValue { session.sentData() }
        if endsStream { session.sentEnd(on: header.stream_id) }
    case NGHTTP2_RST_STREAM.rawValue:
        unsafe session.sentReset(of: header.stream_id, code: frame.pointee.rst_stream.error_code)
    case NGHTTP2_GOAWAY.rawValue: unsafe session.sentGoAway(code: frame.pointee.goaway.error_code)
    default: break
    }
    return success
}

private func closedStream(
    _: OpaquePointer?, _ id: Int32, _ code: UInt32, _ userData: UnsafeMutableRawPointer?
) -> Int32 {
    unsafe session(userData).closed(id)
    return success
}

/// Copies the next bytes of a response's body into nghttp2's buffer. If the body has no more bytes at the moment,
/// nghttp2 waits for `nghttp2_session_resume_data`.
func readResponseBody(
    _: OpaquePointer?, id: Int32, buffer: UnsafeMutablePointer<UInt8>?, length: Int,
    flags: UnsafeMutablePointer<UInt32>?, source _: UnsafeMutablePointer<nghttp2_data_source>?,
    userData: UnsafeMutableRawPointer?
) -> Int {
    let (copied, isEnd) = unsafe session(userData).copyResponse(
        of: id, into: UnsafeMutableBufferPointer(start: buffer, count: length))
    guard let count = copied else { return Int(NGHTTP2_ERR_DEFERRED.rawValue) }
    if isEnd { unsafe flags?.pointee |= NGHTTP2_DATA_FLAG_EOF.rawValue }
    return count
}
