/// A final status code, 200 to 599 (RFC 9110 section 15).
package struct HTTPStatus: Hashable, Sendable {
    /// The three-digit number.
    package let code: UInt16

    /// Makes a status by its number, which must be from 200 to 599.
    package init(_ code: UInt16) {
        precondition((200...599).contains(code), "not the status of a final response")
        self.code = code
    }

    package static let ok = HTTPStatus(200)
    package static let noContent = HTTPStatus(204)
    package static let notModified = HTTPStatus(304)
    package static let badRequest = HTTPStatus(400)
    package static let unauthorized = HTTPStatus(401)
    package static let forbidden = HTTPStatus(403)
    package static let notFound = HTTPStatus(404)
    package static let methodNotAllowed = HTTPStatus(405)
    package static let requestTimeout = HTTPStatus(408)
    package static let conflict = HTTPStatus(409)
    package static let contentTooLarge = HTTPStatus(413)
    package static let uriTooLong = HTTPStatus(414)
    package static let unsupportedMediaType = HTTPStatus(415)
    package static let expectationFailed = HTTPStatus(417)
    package static let unprocessableContent = HTTPStatus(422)
    package static let tooManyRequests = HTTPStatus(429)
    package static let requestHeaderFieldsTooLarge = HTTPStatus(431)
    package static let internalServerError = HTTPStatus(500)
    package static let notImplemented = HTTPStatus(501)
    package static let serviceUnavailable = HTTPStatus(503)
    package static let versionNotSupported = HTTPStatus(505)

    /// Whether a response with this status never has a body or a Content-Length (RFC 9110 sections 8.6, 15.3.5,
    /// 15.4.5).
    package var forbidsBody: Bool { code == 204 || code == 304 }

    /// The reason phrase for people; empty for a status that RFC 9110 and RFC 6585 do not define.
    package var reasonPhrase: String {
        switch code {
        case 200: "OK"
        case 201: "Created"
        case 202: "Accepted"
        case 204: "No Content"
        case 206: "Partial Content"
        case 301: "Moved Permanently"
        case 302: "Found"
        case 303: "See Other"
        case 304: "Not Modified"
        case 307: "Temporary Redirect"
        case 308: "Permanent Redirect"
        case 400: "Bad Request"
        case 401: "Unauthorized"
        case 403: "Forbidden"
        case 404: "Not Found"
        case 405: "Method Not Allowed"
        case 406: "Not Acceptable"
        case 408: "Request Timeout"
        case 409: "Conflict"
        case 410: "Gone"
        case 411: "Length Required"
        case 412: "Precondition Failed"
        case 413: "Content Too Large"
        case 414: "URI Too Long"
        case 415: "Unsupported Media Type"
        case 417: "Expectation Failed"
        case 421: "Misdirected Request"
        case 422: "Unprocessable Content"
        case 429: "Too Many Requests"
        case 431: "Request Header Fields Too Large"
        case 500: "Internal Server Error"
        case 501: "Not Implemented"
        case 502: "Bad Gateway"
        case 503: "Service Unavailable"
        case 504: "Gateway Timeout"
        case 505: "HTTP Version Not Supported"
        default: ""
        }
    }
}
