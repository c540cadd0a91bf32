import HTTPMessages

/// An event of a session, which the driver carries out.
enum HTTP2Event: Equatable {
    /// The driver passes this request to the handler, then calls `respond` for its stream.
    case dispatch(Int32, HTTPRequestMessage)
    /// The driver asks the handler about the body that follows this head, then calls `decided` for its stream.
    case decideBody(Int32, HTTPRequestHead)
    /// The driver makes the answer to this problem, then calls `respond` for its stream.
    case refuse(Int32, HTTPProblem)
    /// The client sent input that did not become a request. The session has reset the stream, or ends, without an
    /// answer.
    case dropped(HTTPProblem)
    /// The session ends because the client abuses it.
    case abused(ConnectionAbuse)
    /// The last frame of a response has been written.
    case finished(HTTPExchange)
}

/// The error codes that this server sends (RFC 9113 section 7).
enum HTTP2ErrorCode: UInt32, Sendable {
    case noError = 0x0
    case protocolError = 0x1
    case settingsTimeout = 0x4
    case streamClosed = 0x5
    case refusedStream = 0x7
    case cancel = 0x8
    case enhanceYourCalm = 0xb
}
