/// Why a connection's input did not become a request.
///
/// Each one is answered with `status` and `code` (the table of error codes), and the connection closes after that
/// answer. Over HTTP/2 only the stream closes, and what is malformed is reset without an answer.
package enum HTTPProblem: Error, Equatable, Sendable {
    /// Not HTTP as RFC 9112 or RFC 9113 has it; the reason is for the log.
    case malformed(HTTPMalformation)
    /// The head was not complete in time.
    case headTimeout
    /// The body was not complete in time, or came too slowly.
    case bodyTimeout
    /// The body is, or declares to be, larger than the limit.
    case bodyTooLarge
    /// The request target is longer than the limit.
    case targetTooLong
    /// The head (or a chunked body's trailer) is larger than the limit, or has too many fields.
    case headTooLarge
    /// An expectation other than `100-continue`.
    case expectationFailed
    /// There is no memory for the request.
    case overloaded
    /// A method that this server does not implement.
    case methodNotImplemented
    /// A transfer coding other than `chunked`.
    case transferCodingNotImplemented
    /// A version other than HTTP/1.0 and HTTP/1.1.
    case versionNotSupported

    /// The status of the answer.
    package var status: HTTPStatus {
        switch self {
        case .malformed: .badRequest
        case .headTimeout, .bodyTimeout: .requestTimeout
        case .bodyTooLarge: .contentTooLarge
        case .targetTooLong: .uriTooLong
        case .headTooLarge: .requestHeaderFieldsTooLarge
        case .expectationFailed: .expectationFailed
        case .overloaded: .tooManyRequests
        case .methodNotImplemented, .transferCodingNotImplemented: .notImplemented
        case .versionNotSupported: .versionNotSupported
        }
    }

    /// The stable code of the answer.
    package var code: String {
        switch self {
        case .malformed: "bad_request"
        case .headTimeout, .bodyTimeout: "request_timeout"
        case .bodyTooLarge: "body_too_large"
        case .targetTooLong: "uri_too_long"
        case .headTooLarge: "head_too_large"
        case .expectationFailed: "expectation_failed"
        case .overloaded: "overloaded"
        case .methodNotImplemented, .transferCodingNotImplemented: "not_implemented"
        case .versionNotSupported: "version_not_supported"
        }
    }

    /// What exactly was wrong, in words for the log. Strangers can cause it at any rate, so nothing is formatted.
    package var cause: String {
        switch self {
        case .malformed(let malformation): malformation.cause
        case .headTimeout: "the head of the request was not complete in time"
        case .bodyTimeout: "the body was not complete in time, or came too slowly"
        case .bodyTooLarge: "the body is larger than the limit"
        case .targetTooLong: "the request target is longer than the limit"
        case .headTooLarge: "the head is larger than the limit, or has too many fields"
        case .expectationFailed: "the request expects something other than 100-continue"
        case .overloaded: "there is no memory for the request"
        case .methodNotImplemented: "the request has a method that this server does not know"
        case .transferCodingNotImplemented: "the body has a transfer coding other than chunked"
        case .versionNotSupported: "the request is of an HTTP version that is not served"
        }
    }
}

/// What exactly was malformed.
package enum HTTPMalformation: String, Equatable, Sendable, CaseIterable {
    /// The first bytes are a TLS record (RFC 8446, section 5.1), on a listener without TLS.
    case tlsOnPlainPort
    case bareLineFeed
    case bareCarriageReturn
    case controlCharacter
    case emptyLineBeforeRequest
    case requestLine
    case target
    case fieldName
    case foldedField
    case hostMissing
    case hostRepeated
    case hostInvalid
    case hostDiffersFromTarget
    case contentLengthInvalid
    case contentLengthRepeated
    case contentLengthWithTransferEncoding
    case transferEncodingRepeated
    case transferEncodingInvalid
    case transferEncodingInVersion10
    case chunkSize
    case chunkExtension
    case chunkEnd
    case pseudoField
    case connectionField
    case stream
    case connection

    /// The reason in words for the log.
    fileprivate var cause: String {
        switch self {
        case .tlsOnPlainPort:
            "the client speaks TLS to a listener without TLS: use http:// for this port, or configure tls for the listener"
        case .bareLineFeed: "malformed: a line ends with a line feed alone"
        case .bareCarriageReturn: "malformed: a carriage return without a line feed"
        case .controlCharacter: "malformed: the head has a control character"
        case .emptyLineBeforeRequest: "malformed: more than one empty line before the request"
        case .requestLine: "malformed: the first line is no request line of HTTP"
        case .target: "malformed: the request target"
        case .fieldName: "malformed: the name of a header field"
        case .foldedField: "malformed: a header field goes on in a second line"
        case .hostMissing: "malformed: the field Host is missing"
        case .hostRepeated: "malformed: the field Host comes twice"
        case .hostInvalid: "malformed: the field Host names no host"
        case .hostDiffersFromTarget: "malformed: Host names another host than the request target"
        case .contentLengthInvalid: "malformed: Content-Length is no number"
        case .contentLengthRepeated: "malformed: Content-Length comes twice with different numbers"
        case .contentLengthWithTransferEncoding: "malformed: Content-Length stands beside Transfer-Encoding"
        case .transferEncodingRepeated: "malformed: the field Transfer-Encoding comes twice"
        case .transferEncodingInvalid: "malformed: the value of Transfer-Encoding"
        case .transferEncodingInVersion10: "malformed: Transfer-Encoding in a request of HTTP/1.0"
        case .chunkSize: "malformed: the size of a chunk"
        case .chunkExtension: "malformed: the extension of a chunk"
        case .chunkEnd: "malformed: a chunk does not end where it says"
        case .pseudoField: "malformed: a pseudo-header field of HTTP/2"
        case .connectionField: "malformed: a field of one connection in HTTP/2"
        case .stream: "malformed: the frames of an HTTP/2 stream"
        case .connection: "malformed: the frames of an HTTP/2 connection"
        }
    }
}
