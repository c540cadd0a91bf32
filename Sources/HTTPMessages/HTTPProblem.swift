import ByteCoding

/// Why a connection's input did not become a request.
///
/// The answer has `status` and `code` (see the table of error codes), and the connection closes after it. In HTTP/2,
/// only the stream closes, and a malformed request is reset without an answer.
package enum HTTPProblem: Error, Equatable, Sendable {
    /// The input breaks the rules of RFC 9112 or RFC 9113. The reason is for the log.
    case malformed(HTTPMalformation)
    /// The head was not complete before its deadline.
    case headTimeout
    /// The body was not complete before its deadline, or arrived too slowly.
    case bodyTimeout
    /// The body, or its declared length, is larger than the limit.
    case bodyTooLarge
    /// The request target is longer than the limit.
    case targetTooLong
    /// The query has more parameters than `QueryPairs.countMaximum`.
    case tooManyParameters
    /// The body has a content coding (RFC 9110 section 8.4).
    case contentCodingNotSupported
    /// The head (or a chunked body's trailer) is larger than the limit, or has too many fields.
    case headTooLarge
    /// The request has an expectation other than `100-continue`.
    case expectationFailed
    /// There is no memory for the request.
    case overloaded
    /// This server does not implement the method.
    case methodNotImplemented
    /// The transfer coding is not `chunked`.
    case transferCodingNotImplemented
    /// The version is not HTTP/1.0 or HTTP/1.1.
    case versionNotSupported

    /// The status of the answer.
    package var status: HTTPStatus {
        switch self {
        case .malformed, .tooManyParameters: .badRequest
        case .contentCodingNotSupported: .unsupportedMediaType
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
        case .tooManyParameters: "request_invalid"
        case .contentCodingNotSupported: "content_encoding_unsupported"
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

    /// The exact problem, for the log. Any client can cause many of them, so the text is made without slow reflection.
    package var cause: String {
        switch self {
        case .malformed(let malformation): malformation.cause
        case .headTimeout: "the head of the request was not complete in time"
        case .bodyTimeout: "the body was not complete in time, or came too slowly"
        case .bodyTooLarge: "the body is larger than the limit"
        case .targetTooLong: "the request target is longer than the limit"
        case .tooManyParameters: "the query has more than \(QueryPairs.countMaximum) parameters"
        case .contentCodingNotSupported: "the request has a Content-Encoding other than identity"
        case .headTooLarge: "the head is larger than the limit, or has too many fields"
        case .expectationFailed: "the request expects something other than 100-continue"
        case .overloaded: "there is no memory or no connection for the request"
        case .methodNotImplemented: "the request has a method that this server does not know"
        case .transferCodingNotImplemented: "the body has a transfer coding other than chunked"
        case .versionNotSupported: "the request is of an HTTP version that is not served"
        }
    }
}

/// The exact reason for which input is malformed.
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
