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

    /// What exactly was wrong, for the log. Strangers can cause it at any rate, so it is not formatted by reflection.
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

/// What exactly was malformed.
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
