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

    /// The exact problem, for the log. Any client can cause many of them, so the text is made without slow reflection.
    package var cause: String {
        switch self {
        case .malformed(let malformation): malformation.cause
        case .headTimeout: "headTimeout"
        case .bodyTimeout: "bodyTimeout"
        case .bodyTooLarge: "bodyTooLarge"
        case .targetTooLong: "targetTooLong"
        case .headTooLarge: "headTooLarge"
        case .expectationFailed: "expectationFailed"
        case .overloaded: "overloaded"
        case .methodNotImplemented: "methodNotImplemented"
        case .transferCodingNotImplemented: "transferCodingNotImplemented"
        case .versionNotSupported: "versionNotSupported"
        }
    }
}

/// The exact reason for which input is malformed.
package enum HTTPMalformation: String, Equatable, Sendable {
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

    /// The reason for the log.
    fileprivate var cause: String { "malformed: " + rawValue }
}
