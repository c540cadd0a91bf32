import ByteCoding
import Entitlements
import HTTPMessages

/// Why a token is not made.
struct ExpressPlayRefusal: Error {
    let code: ExpressPlayCode
    let status: HTTPStatus
    let cause: RefusalCause
    var retryAfterSeconds: Int64?

    /// A refusal with the status that its code has where nothing else is the matter.
    init(_ code: ExpressPlayCode, _ cause: RefusalCause? = nil, retryAfterSeconds: Int64? = nil) {
        self.init(code, code.status, cause, retryAfterSeconds: retryAfterSeconds)
    }

    init(
        _ code: ExpressPlayCode, _ status: HTTPStatus, _ cause: RefusalCause? = nil, retryAfterSeconds: Int64? = nil
    ) {
        self.code = code
        self.status = status
        self.cause = cause ?? RefusalCause(code.message)
        self.retryAfterSeconds = retryAfterSeconds
    }
}

extension ExpressPlayCode {
    fileprivate var status: HTTPStatus {
        switch self {
        case .authenticatorMissing, .authenticatorInvalid: .unauthorized
        case .accountDisabled: .forbidden
        case .quotaExhausted: .tooManyRequests
        case .serviceUnavailable: .serviceUnavailable
        case .licenseNotMade: .internalServerError
        default: .badRequest  // Everything else is an argument.
        }
    }
}

/// An error as ExpressPlay's callers read it: a page, or an object with `errorCode`, `errorMessage` and `eventId`.
struct ExpressPlayErrorBody {
    /// Nil for what ExpressPlay has no code for.
    let code: Int?
    let message: String
    let requestID: String

    func contentType(_ format: ExpressPlayForm.ErrorFormat) -> String {
        switch format {
        case .html: "text/html; charset=utf-8"
        case .json: "application/json"
        }
    }

    func bytes(_ format: ExpressPlayForm.ErrorFormat) -> [UInt8] {
        switch format {
        case .html:
            // Nothing in it comes from the request.
            Array(
                """
                <!DOCTYPE html>
                <html><head><title>Error\(code.map { " \($0)" } ?? "")</title></head>
                <body><h1>Error\(code.map { " \($0)" } ?? "")</h1><p>\(message).</p><p>\(requestID)</p></body></html>

                """.utf8)
        case .json:
            JSONWriter.object { writer in
                if let code { writer.member("errorCode", code) }
                writer.member("errorMessage", message + ".")
                writer.member("eventId", requestID)
            }
        }
    }
}

extension HTTPResponse {
    /// A problem in ExpressPlay's manner; every other response as it is. What the problem's fields say stays.
    func restated(in format: ExpressPlayForm.ErrorFormat) -> HTTPResponse {
        guard status != .ok, let word = fields["X-Error-Code"], let code = ProblemCode(rawValue: word) else {
            return self
        }
        let error = ExpressPlayErrorBody(
            code: code.expressPlayCode?.rawValue, message: code.title, requestID: fields["X-Request-Id"] ?? "")
        var response = self
        response.fields.set("Content-Type", error.contentType(format))
        response.body = error.bytes(format)
        return response
    }
}

extension ProblemCode {
    /// What ExpressPlay calls it; nil for what only HTTP knows.
    var expressPlayCode: ExpressPlayCode? { Self.expressPlayCodes[rawValue] }

    /// The column EP of the one table of errors, by our own codes.
    private static let expressPlayCodes: [String: ExpressPlayCode] = {
        let rows: [(ExpressPlayCode, [String])] = [
            (
                .keyDataInvalid,
                [
                    "spc_is_certificate", "body_empty", "body_unrecognised", "spc_double_base64", "spc_malformed",
                    "spc_version_unsupported", "spc_certificate_unknown",
                ]
            ),
            (.authenticatorMissing, ["token_missing"]),
            (
                .authenticatorInvalid,
                [
                    "token_alg", "kid_unknown", "kid_revoked", "token_signature", "token_audience", "token_issuer",
                ]
            ),
            (.expirationInvalid, ["token_expired", "token_not_yet", "token_life"]),
            (
                .tokenInvalid,
                [
                    "spc_replayed", "token_malformed", "token_ambiguous", "token_schema", "token_used",
                    "token_revoked", "concurrency_limit", "session_expired", "session_killed",
                ]
            ),
            (.keyIDInvalid, ["content_mismatch"]),
            (.rightsMissing, ["right_not_started", "entitlement_denied"]),
            (.rentalEndMissing, ["right_ended"]),
            (.deviceRefused, ["device_mismatch", "device_limit", "device_revoked"]),
            (.outputFlagsInvalid, ["security_level"]),
            (.rentalDurationInvalid, ["offline_not_allowed", "terms_not_expressible"]),
            (.addressDenied, ["ip_denied", "geo_denied"]),
            (.keyNotFound, ["key_not_found", "key_store_timeout"]),
            (
                .serviceUnavailable,
                ["entitlement_unavailable", "overloaded", "storage_unavailable", "module_unavailable"]
            ),
            (.quotaExhausted, ["rate_limited"]),
            (.licenseNotMade, ["internal", "spc_rejected"]),
            (.accountDisabled, ["subject_disabled"]),
        ]
        return Dictionary(uniqueKeysWithValues: rows.flatMap { code, words in words.map { ($0, code) } })
    }()
}
