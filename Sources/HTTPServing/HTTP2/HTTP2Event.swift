import HTTPMessages

/// What a session wants from its connection.
enum HTTP2Event: Equatable {
    /// Have this request answered, then call `respond` for its stream.
    case dispatch(Int32, HTTPRequestMessage)
    /// Have the handler decide about the body that follows this head, then call `decided` for its stream.
    case decideBody(Int32, HTTPRequestHead)
    /// Have this problem answered, then call `respond` for its stream.
    case refuse(Int32, HTTPProblem)
    /// Input that never became a request; the session has reset the stream, or ends, without an answer.
    case dropped(HTTPProblem)
    /// The session ends, because the client abuses it.
    case abused(ConnectionAbuse)
    /// The last frame of a response has been written.
    case finished(HTTPExchange)
}

/// The error codes that are sent here (RFC 9113 section 7).
enum HTTP2ErrorCode: UInt32, Sendable {
    case noError = 0x0
    case protocolError = 0x1
    case settingsTimeout = 0x4
    case streamClosed = 0x5
    case refusedStream = 0x7
    case cancel = 0x8
    case enhanceYourCalm = 0xb
}
