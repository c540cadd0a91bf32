import ByteCoding
import HTTPMessages
import HTTPServing
package import Licensing
import Telemetry

/// A refusal as the client sees it: `application/problem+json` (RFC 9457) with a stable code.
///
/// All refusals with one code have the same bytes but for the request id and the time, which have a fixed width.
package struct Problem: Sendable {
    package let code: ProblemCode
    /// In seconds; also sent as the header `Retry-After`.
    var retryAfterSeconds: Int64?
    /// The methods that an address serves, for `method_not_allowed`.
    var allowedMethods: String?
    /// What is wrong in particular, for those who may know; the code's own sentence unless given.
    var detail: String?

    init(_ code: ProblemCode, retryAfterSeconds: Int64? = nil, allowedMethods: String? = nil) {
        self.code = code
        self.retryAfterSeconds = retryAfterSeconds
        self.allowedMethods = allowedMethods
    }

    /// What a client hears about a licence that was not issued.
    init(for error: LicenseError) {
        self.init(error.code, retryAfterSeconds: error.retryAfterSeconds)
    }

    func response(requestID: RequestID, time: WallTime) -> HTTPResponse {
        var fields: HTTPFields = [
            "Content-Type": "application/problem+json",
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "X-Error-Code": code.rawValue,
            "X-Request-Id": requestID.text,
        ]
        if code.status == .unauthorized { fields.append("WWW-Authenticate", "Bearer") }
        if let retryAfterSeconds { fields.append("Retry-After", String(retryAfterSeconds)) }
        if let allowedMethods { fields.append("Allow", allowedMethods) }
        return HTTPResponse(status: code.status, fields: fields, body: body(requestID: requestID, time: time))
    }

    private func body(requestID: RequestID, time: WallTime) -> [UInt8] {
        JSONWriter.object { writer in
            writer.member("type", code.type)
            writer.member("title", code.title)
            writer.member("status", Int(code.status.code))
            writer.member("detail", (detail ?? code.title) + ".")
            writer.member("code", code.rawValue)
            writer.member("request_id", requestID.text)
            writer.member("server_time", Self.format(time))
            if let retryAfterSeconds { writer.member("retry_after", retryAfterSeconds) }
            writer.member("hint", code.hint)
        }
    }

    static func format(_ time: WallTime) -> String {
        // A clock outside the years 0 to 9999 is shown as its beginning.
        UnixTime(seconds: time.seconds, nanoseconds: time.nanoseconds)
            .map { RFC3339.format($0, precision: .milliseconds) } ?? "0000-01-01T00:00:00.000Z"
    }
}
